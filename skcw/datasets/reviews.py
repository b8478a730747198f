"""``make_reviews``: generated product reviews with an opinion."""

from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_random_state

from skcw.datasets.fetching import read_table
from skcw.datasets.names import (
    NameSource,
    chance,
    check_count,
    check_rates,
    invent,
    pick,
)

_TABLE = read_table("reviews.toml")


def _split(table):
    """Return the words of each line of a table."""
    return {name: tuple(line.split()) for name, line in table.items()}


CLEAR = _split(_TABLE["clear"])
ADVERBS = _split(_TABLE["adverbs"])
INVENTED_ENDINGS = _split(_TABLE["invented_endings"])
PLAIN, TURNED, ASIDES = (
    tuple(_TABLE["sentences"][kind]) for kind in ("plain", "turned", "asides")
)
VERDICTS = {side: tuple(sentences) for side, sentences in _TABLE["verdicts"].items()}
DOMAINS = {
    domain: {aspect: _split(words) for aspect, words in aspects.items()}
    for domain, aspects in _TABLE["domains"].items()
}
# Aspects that reviews of every domain speak of.
COMMON = DOMAINS.pop("everything")
MONTHS = tuple(_TABLE["sentences"]["months"].split())

RATINGS = (1, 2, 3, 4, 5)
TARGETS = {
    "sentiment": ("negative", "positive"),
    "rating": tuple(f"{stars} stars" if stars > 1 else "1 star" for stars in RATINGS),
    "domain": tuple(DOMAINS),
}

OPPOSITE = {"good": "bad", "bad": "good"}
# Probability that a sentence of a review with so many stars is in favor.
PRAISE_RATE = {1: 0.05, 2: 0.2, 3: 0.5, 4: 0.8, 5: 0.95}
STRONG_RATE = {1: 0.85, 2: 0.15, 3: 0.15, 4: 0.15, 5: 0.85}
ADVERB_RATE = 0.5
SENTENCES = (2, 3, 3, 4, 4, 5, 6, 8)
ASIDE_RATE = 0.25
VERDICT_RATE = 0.15
TELLING_RATE = 0.6
COMMON_RATE = 0.6
STRAY_RATE = 0.4


def make_reviews(
    n_reviews: int = 1000,
    *,
    random_state: int | np.random.RandomState | None = None,
    target: str = "sentiment",
    domains: list[str] | None = None,
    ambiguity: float = 0.25,
    negation: float = 0.2,
    unseen_rate: float = 0.15,
    label_noise: float = 0.0,
    return_X_y: bool = False,
) -> Any:
    """Make reviews to classify by opinion, stars or subject; no network is needed.

    A seed gives the same reviews on every platform, so use one seed for training
    and another one for testing.

    Parameters
    ----------
    n_reviews : int, default=1000
        The number of reviews.

    random_state : int, RandomState instance or None, default=None
        Controls every random choice.

    target : {"sentiment", "rating", "domain"}, default="sentiment"
        The classes: negative (1 or 2 stars) and positive (4 or 5 stars; with
        this target no review has 3), the number of stars, or the domain.

    domains : list of str or None, default=None
        The domains of the reviews, among "books", "films", "kitchen", "phones" and
        "hotels"; None means all of them.

    ambiguity : float in [0, 1], default=0.25
        Probability that an opinion word is one that praises some things and blames
        others, so that only the context can decide.

    negation : float in [0, 1], default=0.2
        Probability that a sentence is turned round ("not lovely"). Words alone help
        least near 0.5; at 1 they are right again, with their signs changed.

    unseen_rate : float in [0, 1], default=0.15
        Probability that another opinion word is made up. Such words hardly ever
        return, so they are new in held-out reviews; in six of ten the ending hints
        at what they mean.

    label_noise : float in [0, 1], default=0.0
        Probability that a review is given a wrong label: the other sentiment, one star
        more or less, or another domain.

    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    reviews : :class:`~sklearn.utils.Bunch`
        With the attributes

        data : list of str
            The texts.
        target : ndarray of int, shape (n_reviews,)
            The annotated label, as an index into `target_names`.
        target_names : list of str
            The names of the classes.
        clean_target : ndarray of int, shape (n_reviews,)
            The true labels; the same as `target` without noise.
        noisy : ndarray of bool, shape (n_reviews,)
            Where these two differ.
        domain : ndarray of str, shape (n_reviews,)
            The domain of every review.
        rating : ndarray of int, shape (n_reviews,)
            The stars of every review, 1 to 5.
        DESCR : str
            A description of the data.

    data, target : tuple, if ``return_X_y``
        The first two of them.

    See Also
    --------
    make_tagged_corpus : Sentences with named entities.

    Examples
    --------
    >>> from skcw.datasets import make_reviews
    >>> reviews = make_reviews(1000, random_state=0)
    >>> reviews.data[0][:55]
    'As for the size, it is quite great. The delivery is qui'
    >>> reviews.target_names[reviews.target[0]]
    'positive'
    """
    check_count("n_reviews", n_reviews)
    check_rates(
        ambiguity=ambiguity,
        negation=negation,
        unseen_rate=unseen_rate,
        label_noise=label_noise,
    )
    target_names = _check_target(target, domains)
    domains = list(DOMAINS) if domains is None else list(domains)
    rng = check_random_state(random_state)
    writer = ReviewWriter(rng, ambiguity, negation, unseen_rate)
    stars = [s for s in RATINGS if s != 3] if target == "sentiment" else RATINGS
    about = [(pick(rng, domains), pick(rng, stars)) for _ in range(n_reviews)]
    data = [writer.review(domain, rating) for domain, rating in about]
    rating = np.array([rating for _, rating in about], dtype=np.int64)
    domain = np.array([domain for domain, _ in about], dtype=str)
    clean = _true_labels(target, target_names, domain, rating)
    # Noise comes last: the same seed gives the same texts at every noise level.
    noisy = _mislabel(rng, target, clean, len(target_names), label_noise)
    if return_X_y:
        return data, noisy
    return Bunch(
        data=data,
        target=noisy,
        target_names=list(target_names),
        clean_target=clean,
        noisy=noisy != clean,
        domain=domain,
        rating=rating,
        DESCR=_TABLE["description"].format(
            n_reviews=n_reviews, domains=", ".join(domains), target=target
        ),
    )


def _check_target(target, domains):
    """Return the names of the classes; raise if target or domains are unknown."""
    if target not in TARGETS:
        raise ValueError(f"target must be one of {sorted(TARGETS)}, got {target!r}")
    if domains is None:
        return TARGETS[target]
    unknown = isinstance(domains, str) or not set(domains) <= set(DOMAINS)
    if unknown or not len(domains) or len(set(domains)) < len(domains):
        raise ValueError(
            f"domains must be a list of some of {list(DOMAINS)}, got {domains!r}"
        )
    return tuple(domains) if target == "domain" else TARGETS[target]


def _true_labels(target, target_names, domain, rating):
    if target == "domain":
        numbers = {name: number for number, name in enumerate(target_names)}
        return np.array([numbers[name] for name in domain], dtype=np.int64)
    return rating - 1 if target == "rating" else (rating > 3).astype(np.int64)


def _mislabel(rng, target, labels, n_classes, rate):
    """Return labels as a careless annotator would give them."""
    labels = labels.copy()
    for i, label in enumerate(labels.tolist()):
        if not chance(rng, rate):
            continue
        wrong = [
            other
            for other in range(n_classes)
            if other != label and (target != "rating" or abs(other - label) == 1)
        ]
        if wrong:
            labels[i] = pick(rng, wrong)
    return labels


class ReviewWriter:
    """A stream of reviews for one data set.

    Parameters
    ----------
    rng : RandomState
    ambiguity, negation, unseen_rate : float
        As in :func:`~skcw.datasets.make_reviews`.
    """

    def __init__(self, rng, ambiguity, negation, unseen_rate):
        self.rng = rng
        self.ambiguity = ambiguity
        self.negation = negation
        self.unseen_rate = unseen_rate
        self.names = NameSource(rng, 0.0, unseen_rate)

    def review(self, domain, rating):
        """Return the text of a review with so many stars."""
        sentences = [
            self._aside(domain)
            if chance(self.rng, ASIDE_RATE)
            else self._opinion(domain, rating)
            for _ in range(pick(self.rng, SENTENCES))
        ]
        # At least one sentence has to say something.
        place = int((len(sentences) + 1) * self.rng.random_sample())
        sentences.insert(place, self._opinion(domain, rating))
        if chance(self.rng, VERDICT_RATE):
            sentences.append(pick(self.rng, VERDICTS[self._side(rating)]))
        return " ".join(sentence[0].upper() + sentence[1:] for sentence in sentences)

    def _aside(self, domain):
        """Return a sentence without an opinion, sometimes on another domain."""
        if chance(self.rng, STRAY_RATE):
            domain = pick(self.rng, list(DOMAINS))
        return pick(self.rng, ASIDES).format(
            aspect=pick(self.rng, list(DOMAINS[domain])),
            month=pick(self.rng, MONTHS),
            name=self.names.draw("firm"),
            number=2 + int(60 * self.rng.random_sample()),
        )

    def _side(self, rating):
        return "good" if chance(self.rng, PRAISE_RATE[rating]) else "bad"

    def _opinion(self, domain, rating):
        aspects = COMMON if chance(self.rng, COMMON_RATE) else DOMAINS[domain]
        aspect, words = pick(self.rng, list(aspects.items()))
        side = self._side(rating)
        frames = TURNED if chance(self.rng, self.negation) else PLAIN
        return pick(self.rng, frames).format(
            aspect=aspect,
            word=self._adverb(rating) + self._word(words, side),
            other=self._word(words, OPPOSITE[side]),
        )

    def _adverb(self, rating):
        if not chance(self.rng, ADVERB_RATE):
            return ""
        strong = chance(self.rng, STRONG_RATE[rating])
        return pick(self.rng, ADVERBS["strong" if strong else "mild"]) + " "

    def _word(self, words, side):
        """Return a word that praises or blames an aspect."""
        if chance(self.rng, self.ambiguity):
            return pick(self.rng, words[side])
        if chance(self.rng, self.unseen_rate):
            return self._invented(side)
        return pick(self.rng, CLEAR[side], skewed=True)

    def _invented(self, side):
        telling = chance(self.rng, TELLING_RATE)
        stem = invent(self.rng, "firm", 0.0).lower()
        return stem + pick(self.rng, INVENTED_ENDINGS[side if telling else "none"])
