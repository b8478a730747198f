"""Scorers ready for ``scoring=`` of a grid search or a cross-validation.

They call ``predict`` of a fitted tagger and hand its rows to the metrics, so they
work with sequences of equal and of different lengths. Those of confidences are in
``confidence_scorers``; names lead to both.
"""

from copy import deepcopy

from sklearn.metrics import make_scorer

from skcw.metrics.confidence_scorers import CONFIDENCE_SCORERS
from skcw.metrics.span_scores import (
    span_f1_score,
    span_precision_score,
    span_recall_score,
)
from skcw.metrics.token_scores import (
    sequence_accuracy_score,
    token_accuracy_score,
    token_f1_score,
)

span_f1_scorer = make_scorer(span_f1_score)
span_f1_strict_scorer = make_scorer(span_f1_score, strict=True)
span_precision_scorer = make_scorer(span_precision_score)
span_recall_scorer = make_scorer(span_recall_score)
token_f1_scorer = make_scorer(token_f1_score)
token_accuracy_scorer = make_scorer(token_accuracy_score)
sequence_accuracy_scorer = make_scorer(sequence_accuracy_score)

_SCORERS = CONFIDENCE_SCORERS | {
    "sequence_accuracy": sequence_accuracy_scorer,
    "span_f1": span_f1_scorer,
    "span_f1_strict": span_f1_strict_scorer,
    "span_precision": span_precision_scorer,
    "span_recall": span_recall_scorer,
    "token_accuracy": token_accuracy_scorer,
    "token_f1": token_f1_scorer,
}


def scorer_names():
    """Return the names that :func:`get_scorer` knows, sorted.

    Examples
    --------
    >>> from skcw.metrics import scorer_names
    >>> "span_f1" in scorer_names()
    True
    """
    return sorted(_SCORERS)


def get_scorer(name):
    """Return a scorer by its name.

    Parameters
    ----------
    name : str
        One of :func:`scorer_names`.

    Returns
    -------
    scorer : callable
        Called as ``scorer(tagger, X, y)``. It is a copy, so that routing set on it
        (``set_score_request``) stays with the caller.

    Notes
    -----
    Scorers whose names speak of labels, spans and sequences judge what a tagger
    predicts. The others judge how sure it is, or a classifier: by its own default
    method, of whether the predicted label is right. Errors are negated, as
    ``neg_confidence_rmse``. :func:`make_confidence_scorer` makes those of other methods
    and questions.

    ``span_f1_strict`` detects the scheme from the labels it sees. To name the
    scheme, make a scorer of your own:
    ``make_scorer(span_f1_score, scheme="IOB1", strict=True)``.

    Examples
    --------
    Several scores at once, for ``GridSearchCV(tagger, ..., refit="span_f1")``:

    >>> from skcw.metrics import get_scorer
    >>> scoring = {name: get_scorer(name) for name in ("span_f1", "token_accuracy")}
    >>> sorted(scoring)
    ['span_f1', 'token_accuracy']
    """
    if not isinstance(name, str) or name not in _SCORERS:
        raise ValueError(
            f"no scorer is named {name!r}; the names are {', '.join(scorer_names())}"
        )
    return deepcopy(_SCORERS[name])
