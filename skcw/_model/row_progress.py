"""Where the training of a classifier is, and what training it is."""

from skcw._model.checkpoint import KeptProgress, digest_of, told_of_learner
from skcw._model.row_gaussian import TableBelief
from skcw.data.saved import FLOATS, SAVED_AS, saved_array, saved_number

# How the tables in training are called in a checkpoint; the best ones so far have the
# names of those in a model.
PREFIX = "training."


class RowProgress(KeptProgress):
    """The belief in training, the passes made, and what they found.

    Parameters
    ----------
    belief : TableBelief
        Where the training starts; it is trained in place.
    monitor : Monitor
        Keeps the history.
    keeper : Keeper, default=None
        Saves it now and then.
    """

    def __init__(self, belief, monitor, keeper=None):
        super().__init__(monitor, keeper)
        self.belief = belief
        self.resume()

    def left(self, passes, n_passes):
        """Return the numbers of the passes that are left of so many.

        Those that were made before are skipped.
        """
        if self.is_over:
            return range(0)
        passes.skip(self.n_passes)
        return range(self.n_passes + 1, n_passes + 1)

    def _state(self):
        return {"rounds": self.belief.rounds}, self.belief.arrays(PREFIX)

    def _restore(self, header, arrays):
        for name, table in self.belief.arrays(PREFIX).items():
            table[:] = saved_array(arrays, name, FLOATS, table.shape)
        self.belief.rounds = saved_number(header["rounds"], "rounds", 0.0)

    def _best(self, arrays, rounds):
        shape = self.belief.mean.shape
        tables = {
            name: None
            if table is None
            else saved_array(arrays, SAVED_AS + name, FLOATS, shape).copy()
            for name, table in self.belief.tables().items()
        }
        return TableBelief(**tables, rounds=saved_number(rounds, "rounds", 0.0))


def told_of_rows(classifier, plan, rows, classes, start):
    """Return what a training is about, in few words and short hashes.

    Parameters
    ----------
    classifier : RowClassifier
        The classifier.
    plan : Plan
        What all passes have in common.
    rows : Rows
        What it learns from.
    classes : ndarray
        The labels.
    start : TableBelief
        Where it starts.

    Returns
    -------
    about : dict of str to str or number
        What differs in another training.
    """
    arrays = (rows.indptr, rows.indices, rows.values, rows.gold)
    return {
        **told_of_learner(classifier),
        "n_shards": plan.n_shards,
        "the number of rows": len(rows),
        "the number of features": len(start.mean) - 1,
        "the labels": repr(classes.tolist()),
        "the hash of the rows": digest_of(*arrays, rows.weight, rows.class_factor),
        "the hash of where it starts": digest_of(*start.tables().values()),
    }
