"""``GlobalFeatures``: from n-best lists to encoded candidates."""

from array import array
from itertools import pairwise, zip_longest
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skcw._compat import Interval, _fit_context
from skcw._one_step import changes_at_once, reads_at_once
from skcw.data._checks import check_same_length
from skcw.data._ragged import object_rows, offsets_of
from skcw.data._vocabulary import Vocabulary
from skcw.reranking._candidates import CandidateLists, is_scored_labeling
from skcw.reranking._templates import (
    TEMPLATES,
    SentenceReader,
    SentenceView,
)
from skcw.reranking._words import first_columns, lower_case_lexicon


class GlobalFeatures(BaseEstimator):
    """Features of whole labelings, which no chain of labels can see.

    The templates are those of Collins [1]_. On every entity: its words, the shapes of
    its words, without and with a flag that tells whether the word is mostly written
    with a small letter; its last word, and whether that begins with a small letter; two
    and three words at each border, each as itself or as its flagged shape; beginnings
    and ends of its shapes. On every quotation: flagged shapes with labels, and whether
    all of it is one entity. Each feature of an entity is made with its type.

    We add templates that tell types apart, ``"types"``: the first word of an entity and
    each of its words, beginnings and ends of the first and the last one, words around
    it, how many words it has, and the types of entities that follow each other.

    Parameters
    ----------
    templates : sequence of str, default=("entities", "quotations", "types")
        Which templates are used, the first two of which are those of the paper; an
        empty sequence leaves `functions` alone.
    functions : sequence of callables, default=()
        Features of your own: ``function(tokens, labels)`` returns strings, or None for
        nothing. Tokens are those given as X.
    lexicon : sequence or set of str, default=None
        Words that are mostly written with a small letter; None learns them from the
        sentences given to ``fit``.
    min_count : int, default=5
        Features on candidates of fewer sentences are left out.

    Attributes
    ----------
    vocabulary_ : Vocabulary
        The features.
    lexicon_ : frozenset of str
        The lexicon.

    See Also
    --------
    RerankedTagger : Does all of it, from words to labels.

    Notes
    -----
    ``transform`` reads sentences one after the other, from iterators too, and keeps
    their labelings and the encoded lists alone: 4 bytes for each feature of a candidate
    and 16 for each candidate. The features of an entity are made once per sentence,
    however many candidates have it.

    References
    ----------
    .. [1] M. Collins, "Ranking algorithms for named-entity extraction: boosting and the
       voted perceptron", ACL 2002.

    Examples
    --------
    >>> from skcw.reranking import GlobalFeatures
    >>> X = [["She", "met", "Ann", "Lee"]]
    >>> nbest = [[(["O", "O", "B-PER", "I-PER"], -0.2), (["O"] * 4, -2.0)]]
    >>> features = GlobalFeatures(min_count=1)
    >>> lists = features.fit_transform(X, nbest)
    >>> [name for name in features.feature_names(lists, 0, 0) if "WE=" in name]
    ['PER WE=Ann Lee']

    A feature of one's own:

    >>> def number_of_names(tokens, labels):
    ...     return [f"names={sum(label[:1] == 'B' for label in labels)}"]
    >>> own = GlobalFeatures(templates=(), functions=[number_of_names], min_count=1)
    >>> own.fit_transform(X, nbest).n_features
    2
    """

    _parameter_constraints: dict = {
        "templates": ["array-like"],
        "functions": ["array-like"],
        "min_count": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, templates=TEMPLATES, *, functions=(), lexicon=None, min_count=5):
        self.templates = templates
        self.functions = functions
        self.lexicon = lexicon
        self.min_count = min_count

    @changes_at_once
    def fit(self, X, nbest, words=None):
        """Learn the lexicon and the features.

        Parameters
        ----------
        X : iterable of sequences
            The tokens of each sentence: words, or tuples that begin with them.
        nbest : iterable of lists of (labels, score)
            What ``predict_nbest`` returns for each sentence.
        words : iterable of sequences of str, default=None
            The words, where the tokens do not tell them.

        Returns
        -------
        self : object
            The fitted features.
        """
        self.fit_transform(X, nbest, words)
        return self

    @changes_at_once
    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X, nbest, words=None):
        """Learn the lexicon and the features; return the encoded candidates.

        Parameters
        ----------
        X : iterable of sequences
            The tokens of each sentence: words, or tuples that begin with them.
        nbest : iterable of lists of (labels, score)
            What ``predict_nbest`` returns for each sentence.
        words : iterable of sequences of str, default=None
            The words, where the tokens do not tell them.

        Returns
        -------
        lists : CandidateLists
            The candidates of each sentence, none twice.
        """
        self.check_parameters()
        X = list(X)
        words = first_columns(X) if words is None else list(words)
        lexicon = self.lexicon
        lexicon = lower_case_lexicon(words) if lexicon is None else frozenset(lexicon)
        number_of = {}

        def number(name):
            return number_of.setdefault(name, len(number_of))

        lists = self._encoded(X, nbest, words, lexicon, number)
        lists.n_features = len(number_of)
        lists, kept = frequent_features(lists, self.min_count)
        names = np.array(list(number_of), dtype=object)[kept]
        self.vocabulary_, self.lexicon_ = Vocabulary.from_names(names), lexicon
        return lists

    def check_parameters(self):
        """Raise unless templates, functions and the lexicon can be used."""
        check_templates(self.templates, self.functions)
        check_lexicon(self.lexicon)

    @reads_at_once
    def transform(self, X, nbest, words=None):
        """Return the encoded candidates; features not known are left out.

        Parameters
        ----------
        X : iterable of sequences
            The tokens of each sentence: words, or tuples that begin with them.
        nbest : iterable of lists of (labels, score)
            What ``predict_nbest`` returns for each sentence.
        words : iterable of sequences of str, default=None
            The words, where the tokens do not tell them.

        Returns
        -------
        lists : CandidateLists
            The candidates of each sentence, none twice.
        """
        check_is_fitted(self, "vocabulary_")
        find = self.vocabulary_.table().find_name

        def number(name):
            return find(name.encode("utf-8", "surrogatepass"))

        lists = self._encoded(X, nbest, words, self.lexicon_, number)
        lists.n_features = len(self.vocabulary_)
        return lists

    def _encoded(self, X, nbest, words, lexicon, number):
        """Return the candidate lists under a function that numbers features."""
        scores, sizes, counts, indices = array("d"), [], array("q"), array("i")
        labelings = []
        for s, (tokens, candidates, row) in enumerate(sentences(X, nbest, words)):
            view = SentenceView(row, lexicon)
            reader = SentenceReader(
                s, tokens, view, self.templates, self.functions, number
            )
            kept = distinct_candidates(candidates, s, len(row))
            for labels, score in kept:
                found = reader.features_of(labels)
                indices.extend(found)
                counts.append(len(found))
                scores.append(score)
            sizes.append(len(kept))
            labelings.append([labels for labels, _ in kept])
        indices = np.array(indices, dtype=np.int32)
        return CandidateLists(
            offsets_of(sizes),
            np.array(scores, dtype=np.float64),
            offsets_of(counts),
            indices,
            int(indices.max(initial=-1)) + 1,
            object_rows(labelings),
        )

    def feature_names(self, lists, i, j):
        """Return the names of the features of one candidate.

        Parameters
        ----------
        lists : CandidateLists
            What ``transform`` has returned.
        i : int
            The number of the list.
        j : int
            The position of the candidate in it.

        Returns
        -------
        names : list of str
            The features, in the order of their numbers.
        """
        check_is_fitted(self, "vocabulary_")
        c = lists.offsets[i] + j
        found = lists.indices[lists.indptr[c] : lists.indptr[c + 1]]
        return [self.vocabulary_[k] for k in found.tolist()]


def sentences(X, nbest, words):
    """Yield tokens, candidates and words of one sentence after the other."""
    parts = [X, nbest] if words is None else [X, nbest, words]
    if hasattr(X, "__len__") and hasattr(nbest, "__len__"):
        check_same_length(len(X), len(nbest), ("X", "nbest"), "sentences")
    end = object()
    for s, found in enumerate(zip_longest(*parts, fillvalue=end)):
        if any(part is end for part in found):
            raise ValueError(
                f"X, nbest and words are not equally long: one ends before sentence {s}"
            )
        yield (*found, first_columns(found[:1], s)[0]) if words is None else found


def check_templates(templates, functions):
    """Raise unless templates are known and functions can be called."""
    for name in templates:
        if name not in TEMPLATES:
            every = ", ".join(TEMPLATES)
            raise ValueError(f"there are no templates {name!r}; there are {every}")
    for function in functions:
        if not callable(function):
            raise TypeError(f"functions holds {function!r}, which cannot be called")


def check_lexicon(lexicon):
    """Raise unless a lexicon is None or some words."""
    if lexicon is None:
        return
    if isinstance(lexicon, str) or not hasattr(lexicon, "__len__"):
        raise TypeError(f"lexicon is {lexicon!r}; give a list or set of words")
    strange = [word for word in lexicon if not isinstance(word, str)]
    if strange:
        raise TypeError(f"lexicon holds {strange[0]!r}, which is not a word")


def distinct_candidates(candidates, s, n_tokens):
    """Return the candidates of a sentence, each labeling once, where it comes first."""
    found = {}
    for candidate in candidates:
        if not is_scored_labeling(candidate):
            raise TypeError(
                f"nbest of sentence {s} holds {candidate!r}, not pairs (labels, score)"
            )
        labels, score = candidate
        if len(labels) != n_tokens:
            raise ValueError(
                f"sentence {s} has {n_tokens} tokens, but a candidate has "
                f"{len(labels)} labels"
            )
        found.setdefault(tuple(labels), (list(labels), float(score)))
    if not found:
        raise ValueError(f"sentence {s} has no candidate")
    return list(found.values())


def frequent_features(lists, min_count):
    """Return lists without the features that few of them have, and which are left.

    Parameters
    ----------
    lists : CandidateLists
        The lists.
    min_count : int
        In how many lists a feature must be, on any candidate.

    Returns
    -------
    lists : CandidateLists
        The lists with the other features, numbered anew in their old order.
    kept : ndarray of int64
        The old numbers.
    """
    counts = np.zeros(lists.n_features, dtype=np.int64)
    for first, end in pairwise(lists.indptr[lists.offsets].tolist()):
        counts[np.unique(lists.indices[first:end])] += 1
    kept = np.flatnonzero(counts >= min_count)
    number = np.full(lists.n_features, -1, dtype=np.int32)
    number[kept] = np.arange(len(kept))
    indices = number[lists.indices]
    owner = np.repeat(np.arange(lists.n_candidates), np.diff(lists.indptr))
    left = np.bincount(owner[indices >= 0], minlength=lists.n_candidates)
    return CandidateLists(
        lists.offsets,
        lists.scores,
        offsets_of(left),
        indices[indices >= 0],
        len(kept),
        lists.labelings,
    ), kept
