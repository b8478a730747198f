"""The scores of sklearn-crfsuite under their own names."""

import pickle

import pytest
import sklearn_crfsuite.metrics as theirs

from skcw.metrics import flat

Y_TRUE = [["PER", "O", "LOC"], [], ["O", "PER"]]
Y_PRED = [["PER", "LOC", "LOC"], [], ["O", "O"]]
NAMES = sorted(name for name in vars(theirs) if name.startswith("flat_"))


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_those_of_sklearn_crfsuite(name):
    mine, original = getattr(flat, name), getattr(theirs, name)
    averaged = name.split("_")[1] in ("precision", "recall", "f1", "fbeta")
    options = {"average": "macro"} if averaged else {}
    # They take these by their place, too.
    third = {"flat_fbeta_score": [0.5], "flat_classification_report": [["PER"]]}
    args = Y_TRUE, Y_PRED, *third.get(name, [])
    assert mine(*args, **options) == original(*args, **options)
    # A scorer travels to other processes.
    assert pickle.loads(pickle.dumps(mine)) is mine
    with pytest.raises(ValueError, match="3 labels in y_true but 2 in y_pred"):
        mine(Y_TRUE, [Y_PRED[0][:2], *Y_PRED[1:]], *args[2:], **options)


def test_sequences_are_right_as_a_whole_whatever_their_lengths():
    assert flat.sequence_accuracy_score(Y_TRUE, Y_PRED) == 1 / 3
    assert flat.sequence_accuracy_score([], []) == 0
    assert flat.sequence_accuracy_score([[1, 2], [3]], [[3], [1, 2]]) == 0
    with pytest.raises(ValueError, match="2 sequences"):
        flat.sequence_accuracy_score([["O"], ["O"]], [["O"]])
