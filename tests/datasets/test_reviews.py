import hashlib
import json

import numpy as np
import pytest

from skcw.datasets import make_reviews
from skcw.datasets.reviews import CLEAR, COMMON, DOMAINS

TARGETS = ("sentiment", "rating", "domain")


def digest(reviews):
    text = json.dumps([reviews.data, reviews.target.tolist()])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def words(reviews):
    return [word for text in reviews.data for word in text.lower().split()]


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(1000, random_state=0)


def test_same_seed_gives_same_reviews_on_every_platform():
    assert (
        digest(make_reviews(200, random_state=0, label_noise=0.1)) == "240da721be1ddb3d"
    )


def test_other_seed_gives_other_reviews(reviews):
    assert make_reviews(20, random_state=1).data != reviews.data[:20]


@pytest.mark.parametrize("target", TARGETS)
def test_every_class_occurs_and_has_a_name(target):
    reviews = make_reviews(300, random_state=0, target=target)
    assert set(reviews.target) == set(range(len(reviews.target_names)))
    assert len(reviews.data) == len(reviews.target) == len(reviews.noisy) == 300


def test_sentiment_follows_from_the_stars(reviews):
    assert set(reviews.rating) == {1, 2, 4, 5}
    assert np.array_equal(reviews.target, reviews.rating > 3)
    assert 0.4 < reviews.target.mean() < 0.6


def test_stars_are_the_rating_less_one():
    reviews = make_reviews(100, random_state=0, target="rating")
    assert np.array_equal(reviews.target + 1, reviews.rating)


def test_domains_can_be_chosen_and_keep_their_order():
    reviews = make_reviews(
        50, random_state=0, target="domain", domains=["phones", "books"]
    )
    assert reviews.target_names == ["phones", "books"]
    names = np.array(reviews.target_names)[reviews.target]
    assert np.array_equal(names, reviews.domain)


@pytest.mark.parametrize("target", TARGETS)
def test_noise_changes_labels_only_and_marks_every_change(target):
    clean = make_reviews(300, random_state=5, target=target)
    noisy = make_reviews(300, random_state=5, target=target, label_noise=0.2)
    assert noisy.data == clean.data
    assert np.array_equal(noisy.clean_target, clean.target)
    assert np.array_equal(noisy.noisy, noisy.target != noisy.clean_target)
    assert 0.1 < noisy.noisy.mean() < 0.3
    assert not clean.noisy.any()


def test_noise_at_one_makes_every_label_wrong():
    assert make_reviews(50, random_state=0, label_noise=1.0).noisy.all()


def test_a_wrong_rating_is_off_by_one_star():
    reviews = make_reviews(200, random_state=0, target="rating", label_noise=0.5)
    off = np.abs(reviews.target - reviews.clean_target)[reviews.noisy]
    assert set(off) == {1}


def test_a_single_domain_leaves_nothing_to_mistake():
    options = {"target": "domain", "domains": ["books"], "label_noise": 1.0}
    assert not make_reviews(20, random_state=0, **options).noisy.any()


def test_unseen_rate_rules_the_share_of_new_words():
    shares = []
    for rate in (0.0, 0.5, 1.0):
        train, test = (
            make_reviews(300, random_state=seed, unseen_rate=rate) for seed in (0, 1)
        )
        seen = set(words(train))
        shares.append(np.mean([word not in seen for word in words(test)]))
    assert shares == sorted(shares)
    assert shares[0] < 0.05 and shares[2] > 0.1


def test_negation_rules_the_share_of_sentences_that_are_turned_round():
    shares = []
    for rate in (0.0, 0.5, 1.0):
        reviews = make_reviews(300, random_state=0, negation=rate)
        turned = [" not " in text or "hardly" in text for text in reviews.data]
        shares.append(np.mean(turned))
    assert shares == sorted(shares)


def test_without_ambiguity_opinions_use_clear_words_only():
    ambiguous = {
        word
        for aspects in (COMMON, *DOMAINS.values())
        for sides in aspects.values()
        for word in sides["good"] + sides["bad"]
    }
    found = words(make_reviews(100, random_state=0, ambiguity=0))
    assert not ambiguous & {word.strip(".,!;:") for word in found}


def test_every_ambiguous_word_praises_one_thing_and_blames_another():
    sides = [s for part in (COMMON, *DOMAINS.values()) for s in part.values()]
    good, bad = ({word for s in sides for word in s[side]} for side in ("good", "bad"))
    assert good == bad
    assert not any(set(s["good"]) & set(s["bad"]) for s in sides)


def test_clear_words_are_on_one_side_each():
    everything = CLEAR["good"] + CLEAR["bad"]
    assert len(set(everything)) == len(everything)


def test_return_X_y_gives_texts_and_labels(reviews):
    data, target = make_reviews(1000, random_state=0, return_X_y=True)
    assert data == reviews.data and np.array_equal(target, reviews.target)


@pytest.mark.parametrize("target", TARGETS)
def test_no_reviews_are_a_legal_data_set(target):
    reviews = make_reviews(0, target=target)
    assert reviews.data == [] and reviews.target.shape == (0,)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ambiguity", -0.1),
        ("negation", 1.1),
        ("unseen_rate", float("nan")),
        ("label_noise", "0.5"),
        ("n_reviews", 1.5),
        ("target", "stars"),
        ("domains", "books"),
        ("domains", ["cars"]),
        ("domains", []),
        ("domains", ["books", "books"]),
    ],
)
def test_bad_parameters_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=name):
        make_reviews(**{name: value})
