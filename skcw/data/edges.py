"""Features that look at the label before: which they are, and apart from the others."""

import numpy as np

# A feature whose name begins so belongs to the step from one label to the next.
EDGE_MARK = "label[-1]&"
# Features after each label are numbered by 32 bits.
MOST_ROWS = np.iinfo(np.int32).max


def edge_features(vocabulary):
    """Return the numbers of the features that look at the label before.

    Parameters
    ----------
    vocabulary : Vocabulary or None
        The names of the features.

    Returns
    -------
    edges : ndarray of int32
        The numbers, ascending, of the names that begin with ``label[-1]&``.

    Examples
    --------
    >>> from skcw.data.vocabulary import Vocabulary
    >>> from skcw.data.edges import edge_features
    >>> edge_features(Vocabulary.from_names(["word=to", "label[-1]&word=to"]))
    array([1], dtype=int32)
    """
    if vocabulary is None:
        return np.empty(0, dtype=np.int32)
    mark = EDGE_MARK.encode()
    found = np.flatnonzero(np.diff(vocabulary.ends) > len(mark))
    for place, letter in enumerate(mark):
        if not len(found):
            break
        found = found[vocabulary.blob[vocabulary.ends[found] + place] == letter]
    return found.astype(np.int32)


def split_edges(batch, edges, first, n_labels):
    """Return the features of tokens, and those of the steps into them, apart.

    Parameters
    ----------
    batch : SequenceBatch
        Both together.
    edges : ndarray of int32
        The features of steps, ascending.
    first : int
        The number that the first of them is to have after the first label.
    n_labels : int
        The number of labels.

    Returns
    -------
    tokens, steps : SequenceBatch
        Of the same sequences. In `steps` the features have new numbers: as many for
        each as there are labels, of which the first one stands there. The first token
        of a sequence, into which no step leads, has none.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.data import SequenceEncoder
    >>> from skcw.data.edges import edge_features, split_edges
    >>> token = ["word=to", "label[-1]&word=to"]
    >>> batch = SequenceEncoder().fit_transform([[token, token]])
    >>> edges = edge_features(batch.vocabulary)
    >>> tokens, steps = split_edges(batch, edges, 2, n_labels=3)
    >>> tokens.indices, steps.indptr, steps.indices
    (array([0, 0], dtype=int32), array([0, 0, 1]), array([2], dtype=int32))
    """
    total = first + len(edges) * n_labels
    if total > MOST_ROWS:
        raise ValueError(
            f"{len(edges)} features of transitions and {n_labels} labels are more than "
            f"{MOST_ROWS} in all; leave out rare ones by min_count"
        )
    batch = batch._compact()
    number = np.full(batch.n_features, -1, dtype=np.int64)
    # A model may know more of them than the batch does.
    known = edges[edges < batch.n_features]
    number[known] = np.arange(len(known))
    of_entry = number[batch.indices]
    leads = np.ones(batch.n_tokens, dtype=bool)
    leads[batch.offsets[:-1][batch.lengths > 0]] = False
    is_step = of_entry >= 0
    tokens = batch._filtered(~is_step)
    is_step &= np.repeat(leads, np.diff(batch.indptr))
    indices = (first + of_entry[is_step] * n_labels).astype(np.int32)
    return tokens, batch._filtered(is_step)._renumbered(indices, total)


def refuse_edges(vocabulary, learner):
    """Raise if there are features for which a learner has no weights.

    Parameters
    ----------
    vocabulary : Vocabulary or None
        The names of the features.
    learner : str
        The class of the learner.
    """
    edges = edge_features(vocabulary)
    if len(edges):
        raise ValueError(
            f"features such as {vocabulary[int(edges[0])]!r} ({len(edges)} in all) "
            f"look at the label before, and {learner} has no weights for these. Leave "
            "out lines of the template that begin with B or *, or use "
            "CWSequenceTagger, AROWSequenceTagger, PASequenceTagger or "
            "PerceptronSequenceTagger"
        )
