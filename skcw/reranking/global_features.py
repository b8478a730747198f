"""Features of whole labelings."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache, partial
from itertools import product, zip_longest
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skcw._util.checks import check_same_length
from skcw._util.compat import Interval, _fit_context
from skcw._util.one_step import changes_at_once, reads_at_once
from skcw._util.ragged import object_rows, offsets_of, split_rows
from skcw.data.labels import encode_labels
from skcw.data.vocabulary import Vocabulary
from skcw.reranking.candidates import CandidateLists, is_scored_labeling
from skcw.reranking.hashed_names import (
    AROUND,
    LETTERS,
    MOST_WORDS,
    HashedTexts,
    HashedWords,
    NameNumbers,
    word_parts,
)
from skcw.reranking.parts import Rows, entity_rows, neighbor_rows, union_rows
from skcw.reranking.spans import LabelingSpans, joined_codes
from skcw.reranking.words import NULL, first_columns, lower_case_lexicon

# The templates of the paper, and those that we add to them.
PAPER_TEMPLATES = ("entities", "quotations")
TEMPLATES = (*PAPER_TEMPLATES, "types")

QUOTES = frozenset(['"', "``", "''", "“", "”", "„", "«", "»"])
# Longer quotations make no Q features: their strings would hardly come twice.
LONGEST_QUOTATION = 10
# So many sentences are encoded at a time.
AT_ONCE = 2000


class SentenceView:
    """One sentence as the templates see it; NULL stands outside of it.

    Parameters
    ----------
    words : sequence of str
        The words.
    lexicon : set of str
        Words that are mostly written with a small letter.

    Attributes
    ----------
    word, shape, flagged : list of str
        w, f and g of the paper for positions from -2 to n + 1, shifted by 2.
    """

    def __init__(self, words, lexicon):
        pad = [NULL, NULL]
        parts = [word_parts(word) for word in words]
        shapes = [shape for _, shape, *_ in parts]
        flags = [f"{shape}{int(lower in lexicon)}" for _, shape, lower, *_ in parts]
        self.words = words
        self.word = [*pad, *words, *pad]
        self.shape = [*pad, *shapes, *pad]
        self.flagged = [*pad, *flags, *pad]

    def ngrams(self, name, n, first):
        """Return n words from a position on, each as itself or by its shape."""
        here = slice(first + 2, first + 2 + n)
        ways = product(*zip(self.word[here], self.flagged[here], strict=True))
        bits = product("01", repeat=n)
        return [
            f"{name}{''.join(which)}={' '.join(words)}"
            for which, words in zip(bits, ways, strict=True)
        ]


def entity_strings(view, start, stop):
    """Return the features anchored on an entity; Collins (2002), figure 1.

    Parameters
    ----------
    view : SentenceView
        The sentence.
    start, stop : int
        Where the entity begins, and one past its last word.

    Returns
    -------
    features : list of str
        The features.
    """
    last = stop - 1
    words = view.words[start:stop]
    shapes, flagged = (
        view.shape[start + 2 : stop + 2],
        view.flagged[start + 2 : stop + 2],
    )
    found = [f"WE={' '.join(words)}"]
    for names, parts in (("PF", "FF", "SF"), shapes), (("PF2", "GF", "SF2"), flagged):
        sizes, back = range(1, len(parts) + 1), parts[::-1]
        found += [f"{names[0]}={' '.join(parts[:n])}" for n in sizes]
        found.append(f"{names[1]}={' '.join(parts)}")
        found += [f"{names[2]}={' '.join(back[:n])}" for n in sizes]
    return [
        *found,
        f"LW={words[-1]}",
        f"LWLC={int(words[-1][:1].islower())}",
        *view.ngrams("BO", 2, start - 1),
        *view.ngrams("BE", 2, last),
        *view.ngrams("TO", 3, start - 2),
        *view.ngrams("TO2", 3, start - 1),
        *view.ngrams("TE", 3, last - 1),
        *view.ngrams("TE2", 3, last - 2),
    ]


def type_strings(words, start, stop):
    """Return features that show the type of an entity.

    Those of the paper see its borders. These see its first word and each of its words,
    beginnings and ends of the first and the last one, words around it at their distance
    and at any, and how many words it has.

    Parameters
    ----------
    words : sequence of str
        The sentence.
    start, stop : int
        Where the entity begins, and one past its last word.

    Returns
    -------
    features : list of str
        The features.
    """
    found = [f"FW={words[start]}", f"N={min(stop - start, MOST_WORDS)}"]
    found += [f"IW={word}" for word in words[start:stop]]
    for name, word in (("F", words[start].lower()), ("L", words[stop - 1].lower())):
        for n in LETTERS:
            found += [f"{name}P{n}={word[:n]}", f"{name}S{n}={word[-n:]}"]
    for distance in AROUND:
        if start >= distance:
            before = words[start - distance].lower()
            found += [f"B{distance}={before}", f"B={before}"]
        if stop - 1 + distance < len(words):
            after = words[stop - 1 + distance].lower()
            found += [f"A{distance}={after}", f"A={after}"]
    return found


def _neighbors(one, other):
    return f"TT={one} {other}"


def quotations(words):
    """Return (opening, closing) positions of the quotation marks that match."""
    marks = [t for t, word in enumerate(words) if word in QUOTES]
    return list(zip(marks[::2], marks[1::2], strict=False))


def strings_of_quotation(view, labels, whole, start, end):
    """Yield the features anchored on one quotation; Collins (2002), section 3.2.

    Parameters
    ----------
    view : SentenceView
        The sentence.
    labels : sequence of str
        The labels of a candidate.
    whole : dict of (int, int) to str
        The labels of its entities by where they begin and end.
    start, end : int
        The positions of the marks.

    Yields
    ------
    feature : str
        A feature.
    """
    if end - start <= LONGEST_QUOTATION:
        yield f"Q={_tagged(view, labels, start, end)}"
        yield f"Q2={_tagged(view, labels, start - 1, end + 1)}"
    inside = view.words[start + 1 : end]
    telling = [t for t, word in enumerate(inside) if word[:1].isalnum()]
    # The last word that begins with a letter or a digit ends the name.
    last = start + 1 + telling[-1] if telling else None
    one = whole.get((start + 1, -1 if last is None else last + 1), 0)
    upper = sum(word[:1].isupper() for word in inside)
    lower = sum(word[:1].islower() for word in inside)
    ends = [
        view.flagged[start + 3],
        NULL if last is None else view.flagged[last + 2],
    ]
    yield f"QF={one} {upper} {lower} {' '.join(ends)}"
    yield f"QF2={one} {int(upper >= lower)} {' '.join(ends)}"


def quotation_rows(spans, of, rows, view):
    """Return the rows of the features of quotations."""
    known, sentence, names, pairs = {}, [], [], []
    marks = [quotations(row) if QUOTES.intersection(row) else () for row in rows]
    names_of = np.array(spans.labels, dtype=object)
    for c in np.flatnonzero(np.array([len(m) > 0 for m in marks], dtype=bool)[of]):
        s, begin = int(of[c]), spans.offsets[c]
        codes = spans.codes[begin : spans.offsets[c + 1]]
        for start, end in marks[s]:
            # No other label changes the features.
            key = s, start, codes[max(start - 1, 0) : end + 2].tobytes()
            if key not in known:
                known[key] = len(names)
                labels = names_of[codes].tolist()
                whole = spans.of_labeling(c)
                names.append(
                    list(strings_of_quotation(view(s), labels, whole, start, end))
                )
                sentence.append(s)
            pairs.append((c, known[key]))
    labeling, row = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return Rows.of_names(sentence, names, labeling, row)


def _tagged(view, labels, first, last):
    """Return flagged shapes and labels of the positions from first to last."""
    padded = [NULL, *labels, NULL]
    return " ".join(
        f"{view.flagged[t + 2]} {padded[t + 1]}" for t in range(first, last + 1)
    )


def _as_labels(codes, lengths, labels):
    """Return labelings whose labels have numbers."""
    flat = np.array(labels, dtype=object)[codes].tolist()
    return split_rows(flat, offsets_of(lengths))


def asked(function, place, tokens, labels):
    """Return the strings of a function of the user."""
    called = getattr(function, "__name__", repr(function))
    try:
        names = function(tokens, list(labels))
        names = [] if names is None else names
        names = [names] if isinstance(names, str) else list(names)
    except Exception as error:
        raise ValueError(
            f"the feature function {called} failed on sentence {place} with "
            f"the labels {list(labels)}: {error!r}"
        ) from error
    strange = [name for name in names if not isinstance(name, str)]
    if strange:
        raise TypeError(
            f"the feature function {called} returned {strange[0]!r} for sentence "
            f"{place}; features are strings"
        )
    return names


class EncodedCandidates:
    """Candidates of sentences whose features have numbers, some of which may go.

    Parameters
    ----------
    templates, functions, lexicon : object
        As in ``GlobalFeatures``.
    number : callable
        Given rows of hashes and how many came before, returns their numbers.
    labels : list of str, default=None
        The labels, if candidates are numbers of these.
    """

    def __init__(self, templates, functions, lexicon, number, labels=None):
        self.templates, self.functions = list(templates), functions
        self.lexicon, self.number, self.labels = lexicon, number, labels
        self.parts, self.firsts = [], [0]
        self.sizes, self.scores, self.labelings = [], array("d"), []

    def add(self, part):
        """Add some sentences: tokens, candidates and words of each."""
        first, kept = len(self.sizes), [candidates for _, candidates, _ in part]
        if self.labels is None:
            self.sizes += map(len, kept)
            self.scores.extend(score for row in kept for _, score in row)
            self.labelings += [[labels for labels, _ in row] for row in kept]
            codes = encode_labels([y for row in self.labelings[first:] for y in row])
        else:
            self.sizes += [len(row.scores) for row in kept]
            scores = np.concatenate([np.empty(0), *(row.scores for row in kept)])
            self.scores.frombytes(scores.tobytes())
            codes = *joined_codes(kept), self.labels
        rows = self._rows(part, codes, first)
        rows.sentence += first
        numbers = self.number(rows, self.firsts[-1])
        self.firsts.append(self.firsts[-1] + len(rows.hashes))
        self.parts.append((rows, numbers))

    def _rows(self, part, codes, first):
        """Return the rows of features of the parts of some labelings."""
        of = np.repeat(np.arange(len(part)), self.sizes[first:])
        words, found = [row for _, _, row in part], []
        if self.templates:
            spans = LabelingSpans(*codes)
            seen = HashedWords(words, self.lexicon)
            view = self._views(words)
            strings = partial(self._strings, view)
            found.append(entity_rows(spans, of, seen, self.templates, strings))
            if "types" in self.templates:
                found.append(neighbor_rows(spans, of, _neighbors))
            if "quotations" in self.templates:
                found.append(quotation_rows(spans, of, words, view))
        for function in self.functions:
            labelings = _as_labels(*codes)
            names = [
                asked(function, first + s, part[s][0], labels)
                for s, labels in zip(of.tolist(), labelings, strict=True)
            ]
            every = np.arange(len(labelings))
            found.append(Rows.of_names(of, names, every, every))
        found = found or [Rows.of_names([], [], [], [])]
        return Rows.joined(found, of)

    def _views(self, words):
        """Return a function that gives the view of a sentence, the last one kept."""
        return lru_cache(1)(lambda s: SentenceView(words[s], self.lexicon))

    def _strings(self, view, s, start, stop):
        found = []
        if "entities" in self.templates:
            found += entity_strings(view(s), start, stop)
        if "types" in self.templates:
            found += type_strings(view(s).words, start, stop)
        return found

    def lists(self, number, n_features):
        """Return candidate lists whose features have new numbers, -1 for none."""
        done = [
            union_rows(rows, number[numbers], n_features, self.labels is not None)
            for rows, numbers in self.parts
        ]
        counts = np.concatenate([np.diff(indptr) for indptr, _ in done])
        return CandidateLists(
            offsets_of(self.sizes),
            np.array(self.scores, dtype=np.float64),
            offsets_of(counts),
            np.concatenate([indices for _, indices in done]),
            n_features,
            object_rows(self.labelings) if self.labels is None else None,
        )

    def names(self, places):
        """Return the names that are at growing places of all hashes."""
        part = np.searchsorted(self.firsts, places, side="right") - 1
        found, known = [], (None, None)
        for p, place in zip(part.tolist(), places.tolist(), strict=True):
            rows, first = self.parts[p][0], place - self.firsts[p]
            row = int(np.searchsorted(rows.indptr, first, side="right")) - 1
            if known[0] != (p, row):
                known = (p, row), rows.names(row)
            found.append(known[1][first - int(rows.indptr[row])])
        return found


@dataclass(eq=False, repr=False, match_args=False)
class GlobalFeatures(BaseEstimator):
    """Features of whole labelings, which no chain of labels can see.

    The templates are those of Collins [1]_. On every entity: its words, the shapes of
    its words, without and with a flag for whether the word is mostly written
    with a small letter; its last word, and whether that begins with a small letter; two
    and three words at each border, each as itself or as its flagged shape; beginnings
    and ends of its shapes. On every quotation: flagged shapes with labels, and whether
    all of it is one entity. Each feature of an entity is made with its type.

    We add templates for types, ``"types"``: the first word of an entity and
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

    templates: Iterable[Any] = TEMPLATES
    _: KW_ONLY
    functions: Sequence[Any] = ()
    lexicon: Any = None
    min_count: int = 5

    _parameter_constraints = {
        "templates": ["array-like"],
        "functions": ["array-like"],
        "min_count": [Interval(Integral, 1, None, closed="left")],
    }

    @changes_at_once
    def fit(
        self, X: Iterable[Any], nbest: Iterable[Any], words: Iterable[Any] | None = None
    ) -> Self:
        """Learn the lexicon and the features.

        Parameters
        ----------
        X : iterable of sequences
            The tokens of each sentence: words, or tuples that begin with them.
        nbest : iterable of lists of (labels, score)
            The result of ``predict_nbest`` for each sentence.
        words : iterable of sequences of str, default=None
            The words, where tokens do not contain them.

        Returns
        -------
        self : object
            The fitted features.
        """
        self.fit_transform(X, nbest, words)
        return self

    @changes_at_once
    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(
        self, X: Iterable[Any], nbest: Iterable[Any], words: Iterable[Any] | None = None
    ) -> Any:
        """Learn the lexicon and the features; return the encoded candidates.

        Parameters
        ----------
        X : iterable of sequences
            The tokens of each sentence: words, or tuples that begin with them.
        nbest : iterable of lists of (labels, score)
            The result of ``predict_nbest`` for each sentence.
        words : iterable of sequences of str, default=None
            The words, where tokens do not contain them.

        Returns
        -------
        lists : CandidateLists
            The candidates of each sentence, none twice.
        """
        self.check_parameters()
        X = list(X)
        words = first_columns(X) if words is None else list(words)
        return self._learned_lists(X, words, nbest)

    def _learned_lists(self, X, words, nbest, labels=None, named=True):
        """Do what ``fit_transform`` does, which needs no names of features for it.

        With labels, `nbest` holds a ``CodedNbest`` for each sentence.
        """
        lexicon = self.lexicon
        lexicon = lower_case_lexicon(words) if lexicon is None else frozenset(lexicon)
        names = NameNumbers()
        encoded = self._encoded(X, words, nbest, labels, lexicon, names)
        kept = np.flatnonzero(names.count >= self.min_count)
        number = np.full(names.n, -1, dtype=np.int32)
        number[kept] = np.arange(len(kept))
        lists, self.lexicon_ = encoded.lists(number, len(kept)), lexicon
        self._known_names = NameNumbers(names.known[kept])
        if named:
            found = encoded.names(names.first[kept])
            self.vocabulary_ = Vocabulary.from_names(found)
        return lists

    def _known_lists(self, X, words, nbest, labels=None):
        """Do what ``transform`` does, also with labels and a ``CodedNbest`` each."""
        find = partial(self._known_names, grow=False)
        encoded = self._encoded(X, words, nbest, labels, self.lexicon_, find)
        n_features = self._known_names.n
        number = np.append(np.arange(n_features, dtype=np.int32), np.int32(-1))
        return encoded.lists(number, n_features)

    def _hash_names(self):
        """Make what finds the numbers of names from the names."""
        names = self.vocabulary_.names()
        self._known_names = NameNumbers(HashedTexts.of(names).value)

    def check_parameters(self) -> None:
        """Raise unless templates, functions and the lexicon can be used."""
        for name in self.templates:
            if name not in TEMPLATES:
                every = ", ".join(TEMPLATES)
                raise ValueError(f"there are no templates {name!r}; there are {every}")
        for function in self.functions:
            if not callable(function):
                raise TypeError(f"functions holds {function!r}, which cannot be called")
        lexicon = () if self.lexicon is None else self.lexicon
        if isinstance(lexicon, str) or not hasattr(lexicon, "__len__"):
            raise TypeError(f"lexicon is {lexicon!r}; give a list or set of words")
        strange = [word for word in lexicon if not isinstance(word, str)]
        if strange:
            raise TypeError(f"lexicon holds {strange[0]!r}, which is not a word")

    @reads_at_once
    def transform(
        self, X: Iterable[Any], nbest: Iterable[Any], words: Iterable[Any] | None = None
    ) -> Any:
        """Return the encoded candidates; features not known are left out.

        Parameters
        ----------
        X : iterable of sequences
            The tokens of each sentence: words, or tuples that begin with them.
        nbest : iterable of lists of (labels, score)
            The result of ``predict_nbest`` for each sentence.
        words : iterable of sequences of str, default=None
            The words, where tokens do not contain them.

        Returns
        -------
        lists : CandidateLists
            The candidates of each sentence, none twice.
        """
        check_is_fitted(self, "vocabulary_")
        return self._known_lists(X, words, nbest)

    def _encoded(self, X, words, nbest, labels, lexicon, number):
        """Return the candidates with numbered features."""
        about = self.templates, self.functions, lexicon, number, labels
        encoded, part = EncodedCandidates(*about), []
        for s, (tokens, candidates, row) in enumerate(sentences(X, nbest, words)):
            if labels is None:
                candidates = distinct_candidates(candidates, s, len(row))
            part.append((tokens, candidates, row))
            if len(part) == AT_ONCE:
                encoded.add(part)
                part = []
        encoded.add(part)
        return encoded

    def feature_names(self, lists: Any, i: int, j: int) -> list[str]:
        """Return the names of the features of one candidate.

        Parameters
        ----------
        lists : CandidateLists
            The result of ``transform``.
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
