"""Which reranker to use, if any, by sentences that nothing has learned from."""

from functools import partial
from math import sqrt
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from skcw._model.training_hashes import batch_hashes
from skcw._util.ragged import object_rows
from skcw.data.saved import saved_kind, saved_number
from skcw.reranking.candidates import coded_errors
from skcw.reranking.global_features import GlobalFeatures
from skcw.reranking.scored import RerankedWords
from skcw.reranking.spans import CodedNbest


def sentence_folds(tagger, X, y, weight, n_folds):
    """Return the number of the fold of each sentence, -1 where it does not count.

    Folds are made of neighboring sentences, as a text has them. Sentences with the
    same features share a fold: a tagger that has learned from one knows the others.
    Those without a word or of weight zero change nothing and are in no fold.

    Parameters
    ----------
    tagger : estimator
        A tagger fitted on all sentences.
    X : array of sequences
        The sentences.
    y : ndarray of shape (n_sequences,), dtype object
        Their labels.
    weight : ndarray of shape (n_sequences,) or None
        How much each sentence counts.
    n_folds : int
        The number of folds.

    Returns
    -------
    folds : ndarray of int64, shape (n_sequences,)
        The folds.
    """
    counts = np.array([len(labels) > 0 for labels in y], dtype=bool)
    if weight is not None:
        counts &= weight > 0
    folds = np.full(len(counts), -1, dtype=np.int64)
    alike = np.arange(len(counts))
    if hasattr(tagger, "encode"):
        alike = batch_hashes(tagger.encode(X)._compact())
    _, first, number = np.unique(alike[counts], return_index=True, return_inverse=True)
    if n_folds > len(first):
        raise ValueError(
            f"{len(first)} different sequences cannot make {n_folds} folds; set cv to "
            "a smaller number, or give more sequences"
        )
    # Numbered in the order in which they first appear.
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    folds[counts] = rank[number] * n_folds // len(first)
    return folds


class Jackknife:
    """N-best lists of sentences by copies of a tagger that have not seen them.

    Parameters
    ----------
    tagger : estimator
        The tagger.
    sentences : Sentences
        All sentences.
    folds : ndarray of int64, shape (n_sequences,)
        The fold of each; those of fold -1 are left out.
    n_best : int
        How many labelings.
    labels : list of str
        All labels.
    finer : ndarray of int64, default=None
        Each fold in two, for the case that there are two folds only.
    """

    def __init__(self, tagger, sentences, folds, n_best, labels, finer=None):
        # Labelings do not depend on what is learned of confidence.
        off = {
            name: False
            for name in tagger.get_params()
            if name.split("__")[-1] == "calibrate_confidence"
        }
        self.tagger = clone(tagger).set_params(**off)
        self.sentences, self.folds = sentences, folds
        self.n_best, self.labels = n_best, labels
        self.finer, self.names = finer, np.unique(folds[folds >= 0]).tolist()
        self.of_fold, self._of_pairs = {}, {}

    def copy_without(self, *left_out):
        """Return a copy of the tagger that has not seen some folds."""
        train = self.sentences[(self.folds >= 0) & ~np.isin(self.folds, left_out)]
        weights = {} if train.weight is None else {"sample_weight": train.weight}
        return clone(self.tagger).fit(train.X, train.y, **weights)

    def _nbest(self, copy, fold):
        of_fold = self.sentences[self.folds == fold]
        rows = CodedNbest.rows(copy, of_fold.X, self.n_best, self.labels)
        return object_rows(rows)

    def lists(self, bar=None):
        """Return the lists of each sentence by a copy that has not seen its fold.

        Sentences left out have an empty list. The copies stay in ``of_fold``.
        """
        found = object_rows([] for _ in self.folds)
        for fold in self.names:
            self.of_fold[fold] = self.copy_without(fold)
            found[self.folds == fold] = self._nbest(self.of_fold[fold], fold)
            if bar is not None:
                bar.update()
        return found

    def answers(self, fold, base):
        """Return the predictions for a fold, with the confidence of another tagger."""
        copy = self.of_fold[fold]
        inner, outer = (getattr(one, "tagger", one) for one in (copy, base))
        if hasattr(outer, "confidence_"):
            inner.confidence_ = outer.confidence_
        return copy.predict_all(self.sentences[self.folds == fold].X)

    def lists_without(self, fold):
        """Return the lists of all but one fold by copies that have not seen it either.

        A copy without two folds serves either of them. None if there is too little.
        """
        rest = (self.folds >= 0) & (self.folds != fold)
        if len(self.names) == 2:
            if self.finer is None:
                return None
            rest = self.sentences[rest], self.finer[rest]
            return Jackknife(self.tagger, *rest, self.n_best, self.labels).lists()
        found = object_rows([] for _ in self.folds)
        for other in self.names:
            if other == fold:
                continue
            if (fold, other) not in self._of_pairs:
                copy = self.copy_without(fold, other)
                self._of_pairs[fold, other] = self._nbest(copy, other)
                self._of_pairs[other, fold] = self._nbest(copy, fold)
            found[self.folds == other] = self._of_pairs.pop((fold, other))
        return found[rest]


# A reranker must gain as much as chance alone in one try out of fifteen.
LEAST_EVIDENCE = 1.5
# With so much evidence, or none at all, another fold would hardly change the choice.
# More than two folds cost more than they were found to be worth.
CLEAR_EVIDENCE, MOST_FOLDS = 2.0, 2


class Trial(NamedTuple):
    """How a reranker did on sentences held out.

    Parameters
    ----------
    reranker : str
        The reranker and its parameters.
    score : float
        The F1 of the entities, or the accuracy, of the labelings that it chose.
    base_score : float
        That of the base tagger in the same sentences.
    evidence : float
        How far the first is above the second, in standard deviations by chance.

    Examples
    --------
    >>> from skcw.reranking.selection import Trial
    >>> trial = Trial("CWReranker(score_scale=2.0)", 0.875, 0.75, 3.1)
    >>> trial.gain
    0.125
    """

    reranker: str
    score: float
    base_score: float
    evidence: float

    @classmethod
    def of_saved(cls, reranker, *scores):
        """Return a trial of a model file; raise unless it is a name and numbers."""
        saved_kind(reranker, "the name of a trial", str)
        return cls(reranker, *(saved_number(score, "a trial") for score in scores))

    @property
    def gain(self):
        """By how much the score is higher."""
        return self.score - self.base_score


def best_of(trials):
    """Return the number of the reranker to use, or None to leave labels as they are.

    Parameters
    ----------
    trials : list of Trial
        One for each reranker.

    Returns
    -------
    best : int or None
        The one with the highest score, if the evidence for it is strong enough.
    """
    if not trials:
        return None
    best = max(range(len(trials)), key=lambda k: trials[k].score)
    return best if trials[best].evidence >= LEAST_EVIDENCE else None


def halved_folds(*arguments):
    """Return each of two folds in two, by the arguments of `sentence_folds`.

    None if there are too few different sentences.
    """
    try:
        return sentence_folds(*arguments, 4)
    except ValueError:
        return None


def folds_to_hold_out(folds, wanted):
    """Return the folds that are held out in turn.

    Parameters
    ----------
    folds : ndarray of int64
        The fold of each sentence; -1 for none.
    wanted : int or "auto"
        How many; "auto" is two at most.

    Returns
    -------
    held_out : list of int
        The folds, the last one first.
    """
    every = np.unique(folds[folds >= 0]).tolist()[::-1]
    return every[: MOST_FOLDS if wanted == "auto" else wanted]


class ListEncoder:
    """Encodes lists of candidates whose labels have numbers.

    Parameters
    ----------
    make : callable
        Returns ``GlobalFeatures`` to learn.
    read : callable
        Returns the tokens and words of sentences.
    labels : list of str
        The labels.
    loss : {"labels", "entities"}
        The kind of errors.
    """

    def __init__(self, make, read, labels, loss):
        self.make, self.read, self.labels, self.loss = make, read, labels, loss

    def __call__(self, sentences, nbest, features=None, named=False):
        """Return lists, errors and sizes of candidates, and features, learned if None.

        Features are without names unless so wanted.
        """
        errors = coded_errors(nbest, sentences.y, self.labels, self.loss)
        read = *self.read(sentences.X), nbest, self.labels
        if features is None:
            features = self.make()
            return features._learned_lists(*read, named), *errors, features
        return features._known_lists(*read), *errors, features

    def without_features(self, sentences, nbest):
        """Return the same for lists that have scores only."""
        make = partial(GlobalFeatures, (), lexicon=())
        encoder = ListEncoder(make, self.read, self.labels, self.loss)
        return encoder(sentences, nbest, named=True)


def most_evidence(errors, sizes):
    """Return the evidence for a reranker that always chooses best.

    Parameters
    ----------
    errors, sizes : ndarray of object
        Those of the candidates of each list.
    """
    rows = list(zip(errors, sizes, strict=True))
    first = [(error[0], size[0]) for error, size in rows]
    best = [(error.min(), size[error.argmin()]) for error, size in rows]
    return compared(first, best, [1.0] * len(rows))[2]


class HeldOut:
    """Tries rerankers on folds of sentences, with taggers that have not seen them.

    Lists of a fold come from the tagger that was fitted without it. Those to learn from
    come from taggers that have not seen the fold either: others have learned its
    labels, and a reranker that corrects them unlearns what is true of the fold.

    Parameters
    ----------
    encode : ListEncoder
        The encoder of lists.
    rerankers : list of BaseReranker
        The candidates.
    """

    def __init__(self, encode, rerankers):
        self.encode, self.rerankers = encode, rerankers
        # Errors and sizes of labelings: of the base tagger, and of each reranker.
        self.first, self.chosen = [], [[] for _ in rerankers]
        self.weight = []
        # Folds, and the chosen candidates with all probabilities, of each reranker.
        self.folds, self.answers = [], [[] for _ in rerankers]

    def add(self, rest, lists, new, new_lists, fold):
        """Try all rerankers on one fold.

        Parameters
        ----------
        rest, new : Sentences
            The sentences to learn from, and those of the fold.
        lists, new_lists : ndarray of object
            Their lists.
        fold : int
            The number of the fold.
        """
        train, errors, _, features = self.encode(rest, lists)
        held, held_errors, sizes, _ = self.encode(new, new_lists, features)
        self.folds.append(fold)
        self.weight += new.weights().tolist()

        def judged(best):
            rows = zip(held_errors, sizes, best, strict=True)
            return [(errors[j], sizes[j]) for errors, sizes, j in rows]

        self.first += judged([0] * len(held))
        pairs = zip(self.rerankers, self.chosen, self.answers, strict=True)
        for reranker, chosen, answers in pairs:
            copy = clone(reranker).fit(train, errors, sample_weight=rest.weight)
            best = copy.predict(held).tolist()
            chosen += judged(best)
            answers.append((best, copy.candidate_probabilities(held)))

    def words(self, number, base, sentences, jackknife, nbest):
        """Return the words of the folds as a reranker and the base tagger see them.

        Parameters
        ----------
        number : int
            The number of the reranker.
        base : estimator
            The base tagger, whose confidence that of its copies is like.
        sentences : Sentences
            All sentences.
        jackknife : Jackknife
            Has the copies of the base tagger.
        nbest : ndarray of object
            The lists of all sentences.

        Returns
        -------
        words : list of RerankedWords
            Those of each fold.
        """
        found = []
        for fold, (best, shares) in zip(self.folds, self.answers[number], strict=True):
            new, labels = jackknife.folds == fold, jackknife.labels
            rows, y = nbest[new], sentences[new]
            answers = jackknife.answers(fold, base)
            found.append(RerankedWords(rows, best, shares, y, answers, labels))
        return found

    def decided(self):
        """Tell whether another fold would hardly change the choice."""
        best = max(self.trials(), key=attrgetter("score"))
        return not 0.0 < best.evidence < CLEAR_EVIDENCE

    def trials(self):
        """Return a ``Trial`` for each reranker."""
        return [
            Trial(
                " ".join(repr(reranker).split()),
                *compared(self.first, chosen, self.weight),
            )
            for reranker, chosen in zip(self.rerankers, self.chosen, strict=True)
        ]


def compared(first, chosen, weight):
    """Return two scores and the evidence that the latter labelings are better.

    A score is one less the share of errors in the size of all labelings. It is higher
    than the score s of others if and only if the sum over all sentences of
    (1 - s) * (size - their size) - (errors - their errors) is above zero.

    Parameters
    ----------
    first, chosen : list of (errors, size)
        The labelings of the base tagger, and those chosen.
    weight : list of float
        How much each sentence counts.

    Returns
    -------
    score, base_score, evidence : float
        As in ``Trial``.
    """
    weight = np.array(weight)
    old, new = (np.array(rows).reshape(-1, 2) for rows in (first, chosen))
    base_score, score = (_score(weight @ rows) for rows in (old, new))
    gain = (1.0 - base_score) * (new - old)[:, 1] - (new - old)[:, 0]
    deviation = sqrt(float(weight @ gain**2))
    evidence = float(weight @ gain) / deviation if deviation else 0.0
    return score, base_score, evidence


def _score(total):
    errors, size = total.tolist()
    return 1.0 - errors / size if size else 1.0


class Sentences:
    """Sequences, their labels, and how much they count; an index gives some of them.

    Parameters
    ----------
    X : array of sequences
        The sequences.
    y : ndarray of object
        Their labels.
    weight : ndarray of float64, default=None
        How much each counts.
    """

    def __init__(self, X, y, weight=None):
        self.X, self.y, self.weight = X, y, weight

    def __iter__(self):
        return iter((self.X, self.y, self.weight))

    def __getitem__(self, key):
        key = np.flatnonzero(key) if key.dtype == bool else key
        weight = None if self.weight is None else self.weight[key]
        return Sentences(self.X[key], self.y[key], weight)

    def weights(self):
        """Return how much each sequence counts, as an array in any case."""
        return np.ones(len(self.y)) if self.weight is None else self.weight
