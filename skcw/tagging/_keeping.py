"""What a training is about, so that a checkpoint of another one is refused."""

from skcw._checkpoint import digest_of, told_of_learner


def told_of_training(tagger, data, start, labels, rules, apart=None):
    """Return what a training is about, in few words and short hashes.

    Parameters
    ----------
    tagger : OnlineTagger
        The tagger.
    data : Examples
        What it learns from.
    start : Belief
        Where it starts.
    labels : list of str
        The labels.
    rules : Rules
        Which of them may follow each other.
    apart : Examples, default=None
        What passes are judged by.

    Returns
    -------
    about : dict of str to str or number
        What differs in another training.
    """
    return {
        **told_of_learner(tagger),
        "the number of sequences": len(data.batch),
        "the number of words": data.batch.n_tokens,
        "the number of features": data.batch.n_features,
        "the hash of the features": data.batch.fingerprint,
        "the labels": " ".join(labels),
        "the hash of the sequences": digest_of_examples(data),
        "the hash of the sequences to judge by": digest_of_examples(apart),
        "the hash of the constraints": digest_of(rules.forbidden),
        "the hash of where it starts": digest_of(*start.arrays().values()),
    }


def digest_of_examples(data=None):
    """Return a short hash of sequences, labels and weights; None if there are none."""
    if data is None:
        return None
    batch = data.batch.compact()
    arrays = (batch.offsets, batch.indptr, batch.indices, batch.values)
    return digest_of(*arrays, data.codes, data.weight)
