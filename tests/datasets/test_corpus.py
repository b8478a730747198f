import hashlib
import json

import numpy as np
import pytest

from skcw.datasets import make_tagged_corpus
from skcw.datasets.tagged_corpus import EXPANSIONS, MAX_LENGTH, WORDS


def digest(corpus):
    text = json.dumps([corpus.tokens, corpus.labels])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def mentions(labels):
    return sum(label.startswith("B-") for row in labels for label in row)


def names(corpus):
    """Return the words of people, places and organizations."""
    return [
        word
        for tokens, labels in zip(corpus.tokens, corpus.clean_labels, strict=True)
        for (word, _), label in zip(tokens, labels, strict=True)
        if label[2:] in {"PER", "LOC", "ORG"}
    ]


@pytest.fixture(scope="module")
def corpus():
    return make_tagged_corpus(2000, random_state=0)


def test_same_seed_gives_same_corpus_on_every_platform():
    corpus = make_tagged_corpus(200, random_state=0, label_noise=0.1)
    assert digest(corpus) == "b6ac36f6c82e1887"


def test_other_seed_gives_other_corpus():
    a, b = (make_tagged_corpus(20, random_state=seed) for seed in (0, 1))
    assert a.tokens != b.tokens


def test_corpora_of_different_seeds_share_their_well_known_names(corpus):
    known = set(names(corpus))
    other = names(make_tagged_corpus(500, random_state=1))
    assert 0.5 < np.mean([name in known for name in other]) < 0.85


def test_every_token_is_a_pair_and_has_one_label(corpus):
    assert len(corpus.tokens) == len(corpus.labels) == len(corpus.noisy) == 2000
    for tokens, labels, noisy in zip(
        corpus.tokens, corpus.labels, corpus.noisy, strict=True
    ):
        assert len(tokens) == len(labels) == len(noisy)
        assert noisy.dtype == bool
        assert all(word and tag for word, tag in tokens)


def test_sentence_lengths_reach_from_one_word_to_the_limit(corpus):
    lengths = [len(tokens) for tokens in corpus.tokens]
    assert min(lengths) == 1
    assert 25 < max(lengths) <= MAX_LENGTH


@pytest.mark.parametrize("label_noise", [0.0, 0.3, 1.0])
def test_labels_are_legal_iob2_at_every_noise_level(label_noise):
    corpus = make_tagged_corpus(500, random_state=3, label_noise=label_noise)
    for row in corpus.labels:
        for previous, label in zip(["O", *row], row, strict=False):
            if label.startswith("I-"):
                assert previous[2:] == label[2:]


def test_all_types_occur_with_inner_words(corpus):
    found = {label for row in corpus.labels for label in row}
    types = ("PER", "LOC", "ORG", "MISC", "DATE")
    assert found == {"O"} | {f"{side}-{kind}" for side in "BI" for kind in types}


def test_without_noise_labels_are_the_clean_ones(corpus):
    assert corpus.labels == corpus.clean_labels
    assert not np.concatenate(corpus.noisy).any()


def test_noise_changes_labels_only_and_marks_every_change():
    clean = make_tagged_corpus(300, random_state=5)
    noisy = make_tagged_corpus(300, random_state=5, label_noise=0.2)
    assert noisy.tokens == clean.tokens
    assert noisy.clean_labels == clean.labels
    changed = [
        [a != b for a, b in zip(*rows, strict=True)]
        for rows in zip(noisy.labels, noisy.clean_labels, strict=True)
    ]
    assert [row.tolist() for row in noisy.noisy] == changed


def test_share_of_noisy_words_grows_with_the_knob():
    shares = [
        np.concatenate(
            make_tagged_corpus(500, random_state=0, label_noise=rate).noisy
        ).mean()
        for rate in (0.0, 0.05, 0.2, 0.8)
    ]
    assert shares == sorted(set(shares))


def test_unseen_rate_rules_the_share_of_new_names():
    shares = []
    for rate in (0.0, 0.5, 1.0):
        train, test = (
            make_tagged_corpus(800, random_state=seed, ambiguity=0, unseen_rate=rate)
            for seed in (0, 1)
        )
        seen = set(names(train))
        shares.append(np.mean([name not in seen for name in names(test)]))
    assert shares == sorted(shares)
    assert shares[0] < 0.25 and shares[2] > 0.5


def test_ambiguity_rules_the_share_of_words_with_several_labels():
    shares = []
    for rate in (0.0, 0.5, 1.0):
        corpus = make_tagged_corpus(800, random_state=0, ambiguity=rate)
        types = {}
        for tokens, labels in zip(corpus.tokens, corpus.labels, strict=True):
            for (word, _), label in zip(tokens, labels, strict=True):
                types.setdefault(word, set()).add(label[2:])
        shares.append(np.mean([len(types[name]) > 1 for name in names(corpus)]))
    assert shares == sorted(shares)


def test_return_X_y_gives_tokens_and_labels():
    tokens, labels = make_tagged_corpus(10, random_state=0, return_X_y=True)
    corpus = make_tagged_corpus(10, random_state=0)
    assert tokens == corpus.tokens and labels == corpus.labels


def test_no_sentences_are_a_legal_corpus():
    assert make_tagged_corpus(0).tokens == []


@pytest.mark.parametrize("name", ["ambiguity", "unseen_rate", "label_noise"])
@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), "0.5"])
def test_rates_outside_of_zero_and_one_are_refused(name, value):
    with pytest.raises(ValueError, match=name):
        make_tagged_corpus(1, **{name: value})


@pytest.mark.parametrize("value", [-1, 1.5, "3"])
def test_bad_number_of_sequences_is_refused(value):
    with pytest.raises(ValueError, match="n_sequences"):
        make_tagged_corpus(value)


def test_every_symbol_of_the_grammar_is_defined_and_reachable():
    reached, waiting = set(), ["SENTENCE"]
    while waiting:
        symbol = waiting.pop()
        if symbol in reached:
            continue
        reached.add(symbol)
        parts = [part for rule in EXPANSIONS.get(symbol, []) for part in rule]
        waiting += [
            part.rpartition(":")[2]
            for part in parts
            if "/" not in part and part[0] not in "@#"
        ]
    assert reached == set(EXPANSIONS) | set(WORDS)


def test_mentions_are_frequent_enough_to_learn_from(corpus):
    assert 1.5 < mentions(corpus.labels) / len(corpus.labels) < 4
