"""The scores of sklearn-crfsuite under their own names, for those who come from there.

``from skcw.metrics import flat as metrics`` stands for ``from sklearn_crfsuite import
metrics``: each score is scikit-learn's, of the labels of all sequences in one list,
``"O"`` included. New programs are better served by `skcw.metrics`.

Examples
--------
>>> from skcw.metrics import flat
>>> y_true, y_pred = [["PER", "O"], ["O"]], [["PER", "O"], ["PER"]]
>>> flat.flat_f1_score(y_true, y_pred, average="weighted")
0.6666666666666666
>>> flat.sequence_accuracy_score(y_true, y_pred)
0.5
"""

from itertools import chain
from operator import eq

from sklearn import metrics

from skcw._util.checks import check_same_length
from skcw.data.labels import check_label_rows
from skcw.metrics.label_scores import check_label_pair


def _flat(score, third=None):
    """Return a score of scikit-learn that takes sequences of labels.

    The option `third` may also be the third argument.
    """

    def flat(y_true, y_pred, *args, **options):
        if args:
            options.update(zip([third], args, strict=True))
        pair = check_label_pair(y_true, y_pred, integers=True)
        true, pred = (list(chain.from_iterable(rows)) for rows in pair)
        return score(true, pred, **options)

    name = f"flat_{score.__name__}"
    flat.__name__ = flat.__qualname__ = name
    flat.__doc__ = f"Return scikit-learn's ``{score.__name__}`` of all labels."
    return flat


flat_accuracy_score = _flat(metrics.accuracy_score)
flat_precision_score = _flat(metrics.precision_score)
flat_recall_score = _flat(metrics.recall_score)
flat_f1_score = _flat(metrics.f1_score)
flat_fbeta_score = _flat(metrics.fbeta_score, "beta")
flat_classification_report = _flat(metrics.classification_report, "labels")


def sequence_accuracy_score(y_true, y_pred):
    """Return the share of sequences whose labels are all right; 0 of none."""
    true = check_label_rows(y_true, "y_true", integers=True)
    pred = check_label_rows(y_pred, "y_pred", integers=True)
    check_same_length(len(true), len(pred), ("y_true", "y_pred"))
    return sum(map(eq, true, pred)) / len(true) if true else 0
