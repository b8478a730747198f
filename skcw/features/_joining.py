"""Features of several parts in one batch, with one vocabulary, without scikit-learn."""

import numpy as np

from skcw.data._batch import SequenceBatch
from skcw.data._encoder import drop_rare
from skcw.data._ragged import joined_ranges
from skcw.data._saved import saved_kind, shortened
from skcw.data._token_columns import TokenColumns
from skcw.data._vocabulary import Vocabulary
from skcw.features._extractor import FeatureExtractor, not_encoded, opened_window
from skcw.features._parts import VectorPart
from skcw.features._word_vectors import WordVectors


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
    batches = [batch.compact() for batch in batches]
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
    >>> from skcw.data import Vocabulary
    >>> from skcw.features._joining import JoinedExtractor
    >>> from skcw.features._parts import FunctionPart
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
        """Return the features of sentences; those not known are left out.

        Parameters
        ----------
        X : TokenColumns, or iterable of sequences
            The sentences.

        Returns
        -------
        batch : SequenceBatch
            The features of every token.
        """
        X = kept(X)
        known = self.vocabulary
        return joined_batch([p.extract(X, known) for p in self.parts.values()], known)

    def learn(self, X):
        """Return the features of sentences; new ones follow those that are known.

        Parameters
        ----------
        X : TokenColumns, or iterable of sequences
            The sentences.

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
    """Return sentences that can be read several times."""
    not_encoded(X)
    return X if isinstance(X, TokenColumns) or hasattr(X, "__len__") else list(X)


def opened_extractor(state, arrays, n_features=None):
    """Return the fitted features of a saved model, without scikit-learn.

    Parameters
    ----------
    state : dict
        What ``_saved`` of the features gave.
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
    """Return what the names of a part's arrays begin with."""
    return f"features.{name}."


def opened_part(state, arrays, vocabulary):
    """Return one part of joined features that were saved.

    Parameters
    ----------
    state : dict
        What was saved of it besides arrays.
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
