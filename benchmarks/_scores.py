"""What a labeling is judged by."""

from skcw.metrics import root_calibration_mse, token_accuracy_score
from skcw.metrics.span_scores import span_precision_recall_fscore_support


def span_scores(y, y_pred):
    """Return precision, recall and F of the spans, as conlleval counts them."""
    *scores, _ = span_precision_recall_fscore_support(y, y_pred, average="micro")
    return dict(zip(("precision", "recall", "f1"), map(float, scores), strict=True))


def all_scores(y, y_pred):
    """Return precision, recall, F and the share of mislabeled words."""
    error = 1.0 - float(token_accuracy_score(y, y_pred))
    return {**span_scores(y, y_pred), "token_error": error}


def centerd_rmse(correct, confidence):
    """Return the RMSE over 20 bins that claim their centers, as in EMNLP 2010."""
    return root_calibration_mse(correct, confidence, strategy="uniform", claim="center")
