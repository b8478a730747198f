"""Writes one review after another, sentence by sentence."""

from skcw.datasets._names import NameSource, chance, invent, pick
from skcw.datasets._review_words import (
    ADVERBS,
    ASIDES,
    CLEAR,
    COMMON,
    DOMAINS,
    INVENTED_ENDINGS,
    MONTHS,
    PLAIN,
    TURNED,
    VERDICTS,
)

OPPOSITE = {"good": "bad", "bad": "good"}
# Probability that a sentence of a review with so many stars is in favour.
PRAISE_RATE = {1: 0.05, 2: 0.2, 3: 0.5, 4: 0.8, 5: 0.95}
STRONG_RATE = {1: 0.85, 2: 0.15, 3: 0.15, 4: 0.15, 5: 0.85}
ADVERB_RATE = 0.5
SENTENCES = (2, 3, 3, 4, 4, 5, 6, 8)
ASIDE_RATE = 0.25
VERDICT_RATE = 0.15
TELLING_RATE = 0.6
COMMON_RATE = 0.6
STRAY_RATE = 0.4


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
