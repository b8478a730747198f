"""Rows that a classifier has not learnt from, judged by its shadow.

The shadow is the same learner, taught with four fifths of the rows. Which rows are left
out depends on what they are: copies go together, and the order does not matter.
"""

import numpy as np

from skcw.linear_model._rows import taken
from skcw.linear_model._training import orders

SHADOW = "shadow"
PARTS = 5
# Of fewer rows one fifth tells too little: each fifth is left out in turn.
FEW = 500
# From fewer judged rows nothing is learnt.
LEAST = 20


def shadow_judgement(start, rows, plan, n_passes):
    """Return scores, spreads, codes and weights of rows that a shadow has not seen.

    ``start()`` gives a belief that knows nothing. The answer is None where there are
    too few rows.
    """
    keys, first, copy_of = np.unique(rows.keys, return_index=True, return_inverse=True)
    copies = np.bincount(copy_of, weights=rows.weight, minlength=len(keys))
    gold = rows.gold[first]
    part = _parts(gold, copies > 0)
    n_distinct = np.count_nonzero(copies > 0)
    asked = range(PARTS) if n_distinct < FEW else (PARTS - 1,)
    if np.isin(part, asked).sum() < LEAST:
        return None
    judged = []
    for number in asked:
        belief = start()
        taught = (part != number)[copy_of]
        for _, order in zip(range(n_passes), orders(rows, plan), strict=False):
            belief.rounds, _ = plan.run_pass(belief, rows, order[taught[order]])
        held_out = np.flatnonzero(part == number)
        own = taken(rows, first[held_out])
        judged.append(
            (
                own.scores(belief.weights()),
                own.spreads(belief.variance),
                gold[held_out],
                copies[held_out],
            )
        )
    return tuple(np.concatenate(column) for column in zip(*judged, strict=True))


def _parts(gold, present):
    """Return in which part each distinct row is, -1 for none.

    Rows come in the order of their keys, which is random. The last part has every
    fifth row of each class, so that no class is left out as a whole; a class of one row
    is in no part.
    """
    part = np.full(len(gold), -1)
    for label in np.unique(gold[present]):
        own = np.flatnonzero(present & (gold == label))
        if len(own) > 1:
            part[own] = np.arange(len(own)) % PARTS
    return part
