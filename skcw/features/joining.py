"""Features from several sources, joined token by token."""

from collections.abc import Mapping
from itertools import chain
from numbers import Number

import numpy as np

from skcw._util.limits import LARGEST_IN_A_LINE, LARGEST_ROW_VALUE
from skcw._util.ragged import joined_ranges, offsets_of
from skcw.data.batch import SequenceBatch
from skcw.data.columns import TokenColumns
from skcw.data.encoder import drop_rare, encode_names
from skcw.data.saved import largest_size, saved_kind, saved_number, shortened
from skcw.data.vocabulary import Vocabulary
from skcw.features.extractor import FeatureExtractor, not_encoded, opened_window
from skcw.features.resources import WordVectors


def sequences_of(X):
    """Return sequences as lists of tokens, which functions can read.

    Parameters
    ----------
    X : TokenColumns, or iterable of sequences
        The sequences.

    Returns
    -------
    sequences : list of list
        A token of one column is a word, one of several a tuple.
    """
    if not isinstance(X, TokenColumns):
        return [s if isinstance(s, (list, tuple)) else list(s) for s in X]
    return X.column(0).tolist() if X.n_columns == 1 else list(X)


def first_words(X):
    """Return the words of sequences: their first column, or the one called ``word``.

    Parameters
    ----------
    X : TokenColumns, or iterable of sequences
        The sequences.

    Returns
    -------
    words : list of list of str
        One list for each sequence.
    """
    if isinstance(X, TokenColumns):
        names = X.names or ()
        return X.column("word" if "word" in names else 0).tolist()
    return [[_word(token) for token in tokens] for tokens in sequences_of(X)]


def _word(token):
    """Return the word of a token; raise if it has none."""
    if isinstance(token, Mapping):
        word = token.get("word")
    else:
        word = token if isinstance(token, str) else next(iter(token), None)
    if not isinstance(word, str):
        raise TypeError(
            f"the token {token!r} has no word: it must be a string, a tuple that "
            "begins with one, or a dict with the key 'word'"
        )
    return word


def name_of(function):
    """Return the name of a function for messages."""
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None) or repr(function)
    return f"{module}.{name}" if module else name


class FunctionPart:
    """The features that a Python function gives each token.

    Parameters
    ----------
    name : str
        The prefix of the names of the features.
    function : callable
        Takes the tokens of a sequence, and the position of one unless it returns all
        at once.
    whole_sequence : bool, default=False
        Whether it is called once per sequence.

    Examples
    --------
    >>> from skcw.data.vocabulary import Vocabulary
    >>> from skcw.features.joining import FunctionPart
    >>> part = FunctionPart("mine", lambda tokens, i: ["x"] if i else [])
    >>> part.learn([["a", "b"]], Vocabulary.empty()).to_lists()
    [[[], ['mine:x']]]
    """

    def __init__(self, name, function, whole_sequence=False):
        self.name = name
        self.function = function
        self.whole_sequence = whole_sequence

    def learn(self, X, vocabulary):
        """Return the features of sequences; new ones follow those known."""
        return self._encoded(X, vocabulary, grow=True)

    def extract(self, X, vocabulary):
        """Return the features of sequences that are known."""
        return self._encoded(X, vocabulary, grow=False)

    def _encoded(self, X, vocabulary, grow):
        rows = [self._asked(s, tokens) for s, tokens in enumerate(sequences_of(X))]
        try:
            return encode_names(rows, vocabulary, grow)
        except (TypeError, ValueError) as error:
            error.add_note(f"This came from the function {name_of(self.function)}.")
            raise

    def _asked(self, s, tokens):
        """Return the function's features of the tokens, under the name of the part."""
        found = []
        try:
            if self.whole_sequence:
                found = list(self.function(tokens))
            else:
                for i in range(len(tokens)):
                    found.append(self.function(tokens, i))
        except Exception as error:
            place = "" if self.whole_sequence else f", token {len(found)}"
            error.add_note(
                f"The function {name_of(self.function)} was called for sequence "
                f"{s}{place}."
            )
            raise
        if len(found) != len(tokens):
            raise ValueError(
                f"the function {name_of(self.function)} gave {len(found)} rows for the "
                f"{len(tokens)} tokens of sequence {s}"
            )
        return [{self.name: self._named(row, s, i)} for i, row in enumerate(found)]

    def _named(self, row, s, i):
        """Return the features of a token in the form of a value of a dict."""
        if isinstance(row, (Number, np.bool_, bytes)):
            # In a dict it would be the value of a feature without a name.
            raise TypeError(
                f"the function {name_of(self.function)} gave {row!r} for sequence {s}, "
                f"token {i}; the features of a token are a string, a list of strings, "
                "a dict or None"
            )
        if row is None:
            return []
        return [row] if isinstance(row, str) else row


class VectorPart:
    """The vectors of tokens as features, brought to a common length.

    Parameters
    ----------
    name : str
        The prefix of the names of the features.
    source : WordVectors, str, int or callable
        Where the vectors come from: a table of words, the key or the column of a token
        that holds one, or a function of the tokens of a sequence.
    offsets : sequence of int
        Whose vectors a token has: its own is at 0.
    norm : float
        The root mean square length of the vectors of training tokens.
    scale : float or None
        The factor of the vectors; None before it is learned.
    n_dimensions : int or None
        The length of a vector; None before it is learned.

    Examples
    --------
    >>> from skcw.data.vocabulary import Vocabulary
    >>> from skcw.features import WordVectors
    >>> from skcw.features.joining import VectorPart
    >>> part = VectorPart("v", WordVectors(["a"], [[3.0, 4.0]]), (0,), 1.0)
    >>> batch = part.learn([["a", "b"]], Vocabulary.empty())
    >>> batch.values.round(3), batch.vocabulary.names()
    (array([0.6, 0.8]), ['v:0', 'v:1'])
    """

    def __init__(self, name, source, offsets, norm, scale=None, n_dimensions=None):
        self.name = name
        self.source = source
        self.offsets = offsets
        self.norm = norm
        self.scale = scale
        self.n_dimensions = n_dimensions

    def learn(self, X, vocabulary):
        """Return the features of sequences; the first ones give the scale."""
        matrix, lengths = self._matrix(X)
        if self.scale is None:
            self.n_dimensions = matrix.shape[1]
            self.scale = self.norm / _typical_length(matrix)
        known = len(vocabulary)
        table = vocabulary.table(grow=True)
        for name in self._names():
            table.find_or_add(name.encode("utf-8", "surrogatepass"))
        if len(table) > known:
            vocabulary = Vocabulary(*table.freeze())
        return self._batch(matrix, lengths, vocabulary)

    def extract(self, X, vocabulary):
        """Return the features of sequences."""
        return self._batch(*self._matrix(X), vocabulary)

    def check(self, vocabulary):
        """Raise unless its saved state is usable, and its features known."""
        saved_kind(self.name, "the name of vectors", str)
        for offset in self.offsets:
            saved_number(
                offset, "an offset", -LARGEST_IN_A_LINE, LARGEST_IN_A_LINE, True
            )
        saved_number(self.norm, "norm", 0)
        saved_number(self.scale, "scale", 0)
        saved_number(self.n_dimensions, "n_dimensions", 0, len(vocabulary), True)
        if isinstance(self.source, WordVectors):
            vectors = self.source.vectors
            largest = self.scale * largest_size(vectors)
            if vectors.shape[1] != self.n_dimensions or largest > LARGEST_ROW_VALUE:
                raise ValueError(f"the vectors {self.name!r} do not fit their scale")
        numbers = vocabulary.find_all(self._names())
        if not self.offsets or numbers.min(initial=0) < 0:
            raise ValueError(f"the vectors {self.name!r} have features without names")

    def _names(self):
        places = ["" if offset == 0 else f"[{offset}]" for offset in self.offsets]
        numbers = range(self.n_dimensions)
        return [f"{self.name}{place}:{i}" for place in places for i in numbers]

    def _batch(self, matrix, lengths, vocabulary):
        offsets = offsets_of(lengths)
        placed = [_shifted(matrix, offsets, o) for o in self.offsets]
        wide = self.scale * np.concatenate(placed, axis=1, dtype=np.float64)
        rows, columns = np.nonzero(wide)
        numbers = vocabulary.find_all(self._names()).astype(np.int32)
        return SequenceBatch(
            offsets,
            offsets_of(np.bincount(rows, minlength=len(wide))),
            numbers[columns],
            wide[rows, columns],
            len(vocabulary),
            vocabulary,
        )

    def _matrix(self, X):
        """Return the vectors of all tokens, and the lengths of the sequences."""
        if isinstance(self.source, WordVectors):
            rows = first_words(X)
            words = list(chain.from_iterable(rows))
            return self.source.of(words), [len(row) for row in rows]
        sequences = sequences_of(X)
        lengths = [len(tokens) for tokens in sequences]
        vectors = self._of_function if callable(self.source) else self._of_tokens
        blocks = [vectors(s, t) for s, t in enumerate(sequences) if len(t)]
        width = self.n_dimensions or (blocks[0].shape[1] if blocks else 0)
        for block, s in zip(blocks, np.flatnonzero(lengths), strict=True):
            self._check(block, int(s), width)
        return np.concatenate([np.empty((0, width)), *blocks]), lengths

    def _check(self, block, s, width):
        if block.shape[1] != width:
            raise ValueError(
                f"features {self.name!r}: the vectors of sequence {s} have "
                f"{block.shape[1]} dimensions where {width} are expected"
            )
        bad = np.flatnonzero(~np.isfinite(block).all(axis=1))
        if bad.size:
            raise ValueError(
                f"features {self.name!r}: the vector of sequence {s}, token {bad[0]} "
                "is not finite"
            )

    def _of_function(self, s, tokens):
        block = np.asarray(self.source(tokens))
        if (
            block.ndim != 2
            or len(block) != len(tokens)
            or block.dtype.kind not in "buif"
        ):
            raise ValueError(
                f"features {self.name!r}: the function {name_of(self.source)} gave an "
                f"array of shape {block.shape} and type {block.dtype} for the "
                f"{len(tokens)} tokens of sequence {s}; it must be one row of numbers "
                "per token"
            )
        return block

    def _of_tokens(self, s, tokens):
        rows = []
        for i, token in enumerate(tokens):
            try:
                rows.append(np.asarray(token[self.source], dtype=np.float64))
            except (KeyError, IndexError, TypeError, ValueError):
                raise ValueError(
                    f"features {self.name!r}: sequence {s}, token {i} has no vector at "
                    f"{self.source!r}"
                ) from None
        shapes = {row.shape for row in rows}
        if len(shapes) > 1 or len(shapes.copy().pop()) != 1:
            raise ValueError(
                f"features {self.name!r}: the vectors at {self.source!r} of sequence "
                f"{s} have the shapes {sorted(shapes)}; all must be 1-D and as long"
            )
        return np.stack(rows)


def _typical_length(matrix):
    """Return the root mean square length of vectors that are not zero."""
    squares = np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64)
    squares = squares[squares > 0]
    return float(np.sqrt(squares.mean())) if squares.size else 1.0


def _shifted(matrix, offsets, offset):
    """Return the rows of the neighbors at an offset; zeros beyond the ends."""
    if offset == 0:
        return matrix
    n_tokens = len(matrix)
    lengths = np.diff(offsets)
    first, last = (np.repeat(edge, lengths) for edge in (offsets[:-1], offsets[1:]))
    at = np.arange(n_tokens) + offset
    inside = (at >= first) & (at < last)
    shifted = np.zeros_like(matrix)
    shifted[inside] = matrix[at[inside]]
    return shifted


def joined_batch(batches, vocabulary):
    """Return a batch whose tokens have the features of all batches, in their order.

    Parameters
    ----------
    batches : list of SequenceBatch
        Features of the same tokens, numbered by beginnings of one vocabulary.
    vocabulary : Vocabulary
        The names of all features.

    Returns
    -------
    batch : SequenceBatch
        The features of all batches.
    """
    batches = [batch._compact() for batch in batches]
    indptr = np.sum([batch.indptr for batch in batches], axis=0)
    indices = np.empty(indptr[-1], dtype=np.int32)
    plain = all(batch.values is None for batch in batches)
    values = None if plain else np.ones(indptr[-1])
    begins = indptr[:-1].copy()
    for batch in batches:
        counts = np.diff(batch.indptr)
        places = joined_ranges(begins, counts)
        indices[places] = batch.indices
        if batch.values is not None:
            values[places] = batch.values
        begins += counts
    n_features = len(vocabulary)
    return SequenceBatch(
        batches[0].offsets, indptr, indices, values, n_features, vocabulary
    )


class JoinedExtractor:
    """The fitted features of several parts.

    Parameters
    ----------
    parts : dict of str to part
        ``FeatureExtractor``, ``VectorPart`` or ``FunctionPart`` by name. Each writes
        into the vocabulary of all.
    vocabulary : Vocabulary
        The names of the features that are known.
    min_counts : dict of str to int, default=None
        How often new features of a part must occur to count; once by default.

    Attributes
    ----------
    columns : list of str
        The names of the columns that the first part with templates looks at.
    templates : list of Template
        Those of all parts.

    Examples
    --------
    >>> from skcw.data.vocabulary import Vocabulary
    >>> from skcw.features.joining import JoinedExtractor
    >>> from skcw.features.joining import FunctionPart
    >>> odd = FunctionPart("odd", lambda tokens, i: str(i % 2))
    >>> size = FunctionPart("size", lambda tokens, i: {"n": len(tokens[i])})
    >>> joined = JoinedExtractor({"odd": odd, "size": size}, Vocabulary.empty())
    >>> joined.learn([["the", "cats"]]).to_lists()
    [[{'odd:0': 1.0, 'size:n': 3.0}, {'odd:1': 1.0, 'size:n': 4.0}]]
    """

    # Hashed features have no vocabulary to share.
    n_features = None

    def __init__(self, parts, vocabulary, min_counts=None):
        self.parts = parts
        self.vocabulary = vocabulary
        self.min_counts = min_counts or {}
        windows = [p for p in parts.values() if isinstance(p, FeatureExtractor)]
        self.columns = windows[0].columns if windows else ["word"]
        self.templates = [t for window in windows for t in window.templates]

    def extract(self, X):
        """Return the features of sequences; those not known are left out.

        Parameters
        ----------
        X : TokenColumns, or iterable of sequences
            The sequences.

        Returns
        -------
        batch : SequenceBatch
            The features of every token.
        """
        X = kept(X)
        known = self.vocabulary
        return joined_batch([p.extract(X, known) for p in self.parts.values()], known)

    def learn(self, X):
        """Return the features of sequences; new ones follow those that are known.

        Parameters
        ----------
        X : TokenColumns, or iterable of sequences
            The sequences.

        Returns
        -------
        batch : SequenceBatch
            The features of every token, with a vocabulary that holds the new ones.
        """
        X = kept(X)
        vocabulary, batches = self.vocabulary, []
        for name, part in self.parts.items():
            known, least = len(vocabulary), self.min_counts.get(name, 1)
            batches.append(drop_rare(part.learn(X, vocabulary), least, known))
            vocabulary = batches[-1].vocabulary
        return joined_batch(batches, vocabulary)


def kept(X):
    """Return sequences that can be read several times."""
    not_encoded(X)
    return X if isinstance(X, TokenColumns) or hasattr(X, "__len__") else list(X)


def opened_extractor(state, arrays, n_features=None):
    """Return the fitted features of a saved model, without scikit-learn.

    Parameters
    ----------
    state : dict
        What ``to_saved`` of the features gave.
    arrays : dict of str to ndarray
        The arrays of the model.
    n_features : int, default=None
        How many features the model has that will read them.

    Returns
    -------
    extractor : FeatureExtractor or JoinedExtractor
        The features.
    """
    extractor = _opened(state, arrays, Vocabulary.from_arrays(arrays))
    hashed = extractor.n_features
    found = len(extractor.vocabulary) if hashed is None else hashed
    if n_features not in (None, found):
        raise ValueError(f"there are {found} features, the model has {n_features}")
    return extractor


def _opened(state, arrays, vocabulary):
    if "parts" in state:
        _check_names(vocabulary)
        states = saved_kind(state["parts"], "parts", list)
        parts = {p["name"]: opened_part(p, arrays, vocabulary) for p in states}
        if not parts or len(parts) < len(states):
            raise ValueError("there are no parts, or two of one name")
        return JoinedExtractor(parts, vocabulary)
    if saved_kind(state["params"], "params", dict)["n_features"] is not None:
        return opened_window(state, arrays, None)
    _check_names(vocabulary)
    return opened_window(state, arrays, vocabulary)


def _check_names(vocabulary):
    if vocabulary is None:
        raise ValueError("the names of the features are missing")
    vocabulary.check(len(vocabulary))


def part_prefix(name):
    """Return the prefix of the names of a part's arrays."""
    return f"features.{name}."


def opened_part(state, arrays, vocabulary):
    """Return one part of joined features that were saved.

    Parameters
    ----------
    state : dict
        Its saved state, without arrays.
    arrays : dict of str to ndarray
        The arrays of the model.
    vocabulary : Vocabulary
        The names of all features.

    Returns
    -------
    part : FeatureExtractor or VectorPart
        The part.
    """
    name, kind = state["name"], state["kind"]
    if kind == "window":
        return opened_window(state, arrays, vocabulary, part_prefix(name))
    if kind != "vectors":
        raise ValueError(f"the features {name!r} are of the unknown kind {kind!r}")
    source, prefix = state["source"], part_prefix(name) + "words"
    if source is None:
        source = WordVectors.from_arrays(arrays, prefix)
    elif type(source) not in (str, int) or f"{prefix}.vectors" in arrays:
        raise ValueError(f"the vectors {name!r} come from {shortened(source)}")
    fitted = state["norm"], state["scale"], state["n_dimensions"]
    offsets = saved_kind(state["offsets"], "offsets", list)
    part = VectorPart(name, source, tuple(offsets), *fitted)
    part.check(vocabulary)
    return part
