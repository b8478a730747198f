"""The weights inside a CRFsuite model, read from its bytes.

CRFsuite can only print a model, with six decimals and in lines that feature names can
break. The file itself is simple: a header with offsets, the features as packed records,
and two string tables.
"""

import hashlib
import struct
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from skcw._kernels.lattice import k_best
from skcw._kernels.marginals import marginals
from skcw.data.encoder import encode_names
from skcw.data.vocabulary import Vocabulary
from skcw.exceptions import ModelFileError

# magic, size, type, version, numbers of features, labels and attributes, and offsets of
# features, labels, attributes and two tables of references.
_HEADER = struct.Struct("<4sI4s9I")
# magic, size, number of features
_FEATURES = struct.Struct("<4s2I")
_FEATURE = np.dtype(
    [("kind", "<u4"), ("source", "<u4"), ("label", "<u4"), ("weight", "<f8")]
)
_STATE, _TRANSITION = 0, 1
# magic, size, flag, byte order, number of strings, offset of their offsets
_STRINGS = struct.Struct("<4s5I")
# id and size, before the bytes of a string and its NUL
_STRING = struct.Struct("<2I")
# Rows of the lattice kernels are padded to a multiple of this.
_LANE = 8


class Weights(NamedTuple):
    """The weights of a model: features are (source, label, weight) records.

    The source of a state feature is an attribute, that of a transition a label.
    """

    labels: list
    attributes: list
    states: np.ndarray
    transitions: np.ndarray


def check_model(data):
    """Raise an error unless the bytes are a whole CRFsuite model."""
    if data[:4] != b"lCRF" or len(data) < _HEADER.size:
        raise ModelFileError("these bytes are not a CRFsuite model")
    size = _HEADER.unpack_from(data)[1]
    if size != len(data):
        raise ModelFileError(
            f"the CRFsuite model is truncated or damaged: it should have {size} bytes "
            f"and has {len(data)}"
        )


def model_labels(data):
    """Return the labels of a model given as bytes."""
    check_model(data)
    return _read_strings(data, _HEADER.unpack_from(data)[8])


def read_weights(data):
    """Return the weights of a model given as bytes."""
    check_model(data)
    at_features, at_labels, at_attributes = _HEADER.unpack_from(data)[7:10]
    count = _FEATURES.unpack_from(data, at_features)[2]
    features = np.frombuffer(data, _FEATURE, count, at_features + _FEATURES.size)
    return Weights(
        labels=_read_strings(data, at_labels),
        attributes=_read_strings(data, at_attributes),
        states=features[features["kind"] == _STATE],
        transitions=features[features["kind"] == _TRANSITION],
    )


def _read_strings(data, start):
    """Return the strings of a table in the order of their ids."""
    count, at_offsets = _STRINGS.unpack_from(data, start)[4:6]
    offsets = np.frombuffer(data, "<u4", count, start + at_offsets)
    strings = []
    for offset in (offsets + start).tolist():
        size = _STRING.unpack_from(data, offset)[1]
        first = offset + _STRING.size
        strings.append(data[first : first + size - 1].decode())
    return strings


def named_weights(features, sources, labels):
    """Return a dict from (source, label) to weight."""
    return {
        (sources[source], labels[label]): weight
        for _, source, label, weight in features.tolist()
    }


def n_best(weights, sequences, n):
    """Return the n best labelings of every sequence with their log-probabilities.

    Parameters
    ----------
    weights : Weights
    sequences : list of list of tokens, as CRFsuite reads them
    n : int

    Returns
    -------
    rows : list of list of (list of str, float)
        Best first; fewer than n where there are fewer labelings.
    """
    n_labels = len(weights.labels)
    scores, transitions, offsets = _lattice(weights, sequences)
    labels = np.zeros((n, offsets[-1]), dtype=np.int32)
    total = np.zeros((len(sequences), n))
    found = np.zeros(len(sequences), dtype=np.int32)
    k_best(scores, transitions, n_labels, offsets, labels, total, found)
    log_z = np.zeros(len(sequences))
    marginals(scores, transitions, n_labels, offsets, np.empty_like(scores), log_z)
    names = np.array(weights.labels, dtype=object)
    return [
        [
            (names[labels[rank, start:end]].tolist(), float(total[s, rank] - log_z[s]))
            for rank in range(found[s])
        ]
        for s, (start, end) in enumerate(pairwise(offsets))
    ]


def _lattice(weights, sequences):
    """Return padded scores and transitions, and where each sequence begins."""
    n_labels = len(weights.labels)
    width = -(-n_labels // _LANE) * _LANE
    states = sparse.csr_array(
        (weights.states["weight"], (weights.states["source"], weights.states["label"])),
        shape=(len(weights.attributes), n_labels),
    )
    # Features that the model does not know are left out.
    known = Vocabulary.from_names(weights.attributes)
    batch = encode_names(sequences, known, grow=False)
    values = np.ones(len(batch.indices)) if batch.values is None else batch.values
    tokens = sparse.csr_array(
        (values, batch.indices, batch.indptr), shape=(batch.n_tokens, len(known))
    )
    scores = np.zeros((batch.n_tokens, width))
    scores[:, :n_labels] = (tokens @ states).toarray()
    transitions = np.zeros((n_labels, width))
    links = weights.transitions
    transitions[links["source"], links["label"]] = links["weight"]
    return scores, transitions, batch.offsets


def digest(model):
    """Return a hash by which changed model bytes are noticed."""
    return hashlib.blake2b(model, digest_size=16).hexdigest()
