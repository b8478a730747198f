"""What a training is about, so that a checkpoint of another one is refused."""

from contextlib import contextmanager
from numbers import Integral

from skcw._checkpoint import Checkpoint, digest_of, parameters_told

# Parameters that change no bit of the result, or show in where the training starts.
NEUTRAL = ("n_jobs", "verbose", "warm_start")


def no_keeper(model):
    """Return what saves a model if nobody wants it to be saved: nothing."""
    return None


@contextmanager
def keeping(checkpoint, tagger, about):
    """Give what saves the models of one training.

    Parameters
    ----------
    checkpoint : Checkpoint or None
        Where and how often.
    tagger : OnlineTagger
        The tagger that learns.
    about : callable
        Tells what the training is about, if it is saved.

    Yields
    ------
    keeper_of : callable
        ``keeper_of(name)`` gives the keeper of a model, or None.
    """
    if checkpoint is None:
        yield no_keeper
        return
    if not isinstance(checkpoint, Checkpoint):
        raise TypeError(
            f"checkpoint is {checkpoint!r}; it must be a skcw.Checkpoint, such as "
            "skcw.Checkpoint('folder', resume=True)"
        )
    if not isinstance(tagger.random_state, Integral):
        raise ValueError(
            f"random_state is {tagger.random_state!r}; a training with checkpoints "
            "needs an integer, or it could not continue with the same shuffles"
        )
    with checkpoint.opened(about()) as keeper_of:
        yield keeper_of


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
    told = parameters_told(tagger.get_params(), NEUTRAL)
    return {
        "the learner": type(tagger).__name__,
        **told,
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
