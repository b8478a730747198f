"""Features of tokens that are not columns of text: by functions, and vectors."""

from collections.abc import Mapping
from itertools import chain

import numpy as np

from skcw._limits import LARGEST_IN_A_LINE, LARGEST_ROW_VALUE
from skcw.data._batch import SequenceBatch
from skcw.data._encoder import encode_names
from skcw.data._ragged import offsets_of
from skcw.data._saved import largest_size, saved_kind, saved_number
from skcw.data._token_columns import TokenColumns
from skcw.data._vocabulary import Vocabulary
from skcw.features._word_vectors import WordVectors


def sentences_of(X):
    """Return sentences as lists of tokens, which functions can read.

    Parameters
    ----------
    X : TokenColumns, or iterable of sequences
        The sentences.

    Returns
    -------
    sentences : list of list
        A token of one column is a word, one of several a tuple.
    """
    if not isinstance(X, TokenColumns):
        return [s if isinstance(s, (list, tuple)) else list(s) for s in X]
    return X.column(0).tolist() if X.n_columns == 1 else list(X)


def first_words(X):
    """Return the words of sentences: their first column, or what ``word`` holds.

    Parameters
    ----------
    X : TokenColumns, or iterable of sequences
        The sentences.

    Returns
    -------
    words : list of list of str
        One list for each sentence.
    """
    if isinstance(X, TokenColumns):
        names = X.names or ()
        return X.column("word" if "word" in names else 0).tolist()
    return [[_word(token) for token in tokens] for tokens in sentences_of(X)]


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
    """Return what messages call a function."""
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None) or repr(function)
    return f"{module}.{name}" if module else name


class FunctionPart:
    """The features that a Python function gives each token.

    Parameters
    ----------
    name : str
        What the names of the features begin with.
    function : callable
        Takes the tokens of a sentence, and the position of one unless it is asked for
        all at once.
    whole_sentence : bool, default=False
        Whether it is asked once per sentence.

    Examples
    --------
    >>> from skcw.data import Vocabulary
    >>> from skcw.features._parts import FunctionPart
    >>> part = FunctionPart("mine", lambda tokens, i: ["x"] if i else [])
    >>> part.learn([["a", "b"]], Vocabulary.empty()).to_lists()
    [[[], ['mine:x']]]
    """

    def __init__(self, name, function, whole_sentence=False):
        self.name = name
        self.function = function
        self.whole_sentence = whole_sentence

    def learn(self, X, vocabulary):
        """Return the features of sentences; new ones follow those known."""
        return self._encoded(X, vocabulary, grow=True)

    def extract(self, X, vocabulary):
        """Return the features of sentences that are known."""
        return self._encoded(X, vocabulary, grow=False)

    def _encoded(self, X, vocabulary, grow):
        rows = [self._asked(s, tokens) for s, tokens in enumerate(sentences_of(X))]
        try:
            return encode_names(rows, vocabulary, grow)
        except (TypeError, ValueError) as error:
            error.add_note(f"This came from the function {name_of(self.function)}.")
            raise

    def _asked(self, s, tokens):
        """Return what the function says of the tokens, under the name of the part."""
        found = []
        try:
            if self.whole_sentence:
                found = list(self.function(tokens))
            else:
                for i in range(len(tokens)):
                    found.append(self.function(tokens, i))
        except Exception as error:
            place = "" if self.whole_sentence else f", token {len(found)}"
            error.add_note(
                f"The function {name_of(self.function)} was asked about sequence "
                f"{s}{place}."
            )
            raise
        if len(found) != len(tokens):
            raise ValueError(
                f"the function {name_of(self.function)} gave {len(found)} rows for the "
                f"{len(tokens)} tokens of sequence {s}"
            )
        return [{self.name: _named(row)} for row in found]


def _named(row):
    """Return the features of a token in the form of a value of a dict."""
    if row is None:
        return []
    return [row] if isinstance(row, str) else row


class VectorPart:
    """The vectors of tokens as features, brought to a common length.

    Parameters
    ----------
    name : str
        What the names of the features begin with.
    source : WordVectors, str, int or callable
        Where the vectors come from: a table of words, the key or the column of a token
        that holds one, or a function of the tokens of a sentence.
    offsets : sequence of int
        Whose vectors a token has: its own is at 0.
    norm : float
        The root mean square length of the vectors of training tokens.
    scale : float or None
        What vectors are multiplied by; None before it is learnt.
    n_dimensions : int or None
        The length of a vector; None before it is learnt.

    Examples
    --------
    >>> from skcw.data import Vocabulary
    >>> from skcw.features import WordVectors
    >>> from skcw.features._parts import VectorPart
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
        """Return the features of sentences; the first ones give the scale."""
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
        """Return the features of sentences."""
        return self._batch(*self._matrix(X), vocabulary)

    def check(self, vocabulary):
        """Raise unless what a file says of it is usable, and its features known."""
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
        """Return the vectors of all tokens, and the lengths of the sentences."""
        if isinstance(self.source, WordVectors):
            rows = first_words(X)
            words = list(chain.from_iterable(rows))
            return self.source.of(words), [len(row) for row in rows]
        sentences = sentences_of(X)
        lengths = [len(tokens) for tokens in sentences]
        vectors = self._of_function if callable(self.source) else self._of_tokens
        blocks = [vectors(s, t) for s, t in enumerate(sentences) if len(t)]
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
    """Return the rows of the neighbours at an offset; zeros beyond the ends."""
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
