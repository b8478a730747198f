"""Scorers for ``scoring=`` of a grid search or a cross-validation.

Scorers of labels pass what a fitted tagger predicts to the metrics, and work with
sequences of equal and of different lengths. Scorers of confidences use
``predict_confidence``.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from sklearn.metrics import make_scorer
from sklearn.utils.metadata_routing import MetadataRequest

from skcw._util.checks import check_sample_weight
from skcw.evaluation.pairs import (
    check_confidence_options,
    confidence_pairs,
    parse_query,
)
from skcw.metrics import (
    area_under_risk_coverage,
    brier_loss,
    error_average_precision,
    expected_calibration_error,
    log_loss,
    root_calibration_mse,
    sequence_accuracy_score,
    span_f1_score,
    token_accuracy_score,
    token_f1_score,
)
from skcw.metrics.calibration_errors import calibration_mse
from skcw.metrics.label_scores import span_precision_recall_fscore_support


class ConfidenceScorer:
    """A scorer of the confidence of a fitted estimator; see its factory.

    Parameters
    ----------
    score : callable
        ``score(correct, confidence, **options)`` gives a float.
    sign : {1, -1}
        The sign of the score, so that greater is better.
    query : object
        As in :func:`confidence_pairs`.
    method : str or None
        As in :func:`confidence_pairs`.
    confidence_options : dict
        Options of :func:`confidence_pairs`.
    score_options : dict
        Options of the score.

    See Also
    --------
    make_confidence_scorer : How to make one.

    Examples
    --------
    >>> from skcw.evaluation import get_scorer
    >>> get_scorer("neg_brier_loss")
    make_confidence_scorer(brier_loss, greater_is_better=False)
    """

    def __init__(self, score, sign, query, method, confidence_options, score_options):
        self.score = score
        self.sign = sign
        self.query = query
        self.method = method
        self.confidence_options = confidence_options
        self.score_options = score_options
        self._weight_request = None

    def __call__(self, estimator, X, y, sample_weight=None):
        """Return the score of a fitted estimator; greater is better.

        Parameters
        ----------
        estimator : tagger or classifier
            A fitted one.
        X : sequences, or rows of a classifier
            Data that it has not learned from.
        y : sequences of labels, or labels of rows
            The truth.
        sample_weight : array of shape (n_sequences,), default=None
            One weight for every sequence or row.

        Returns
        -------
        score : float
            The score times its sign.
        """
        answers = confidence_pairs(
            estimator,
            X,
            y,
            self.query,
            method=self.method,
            confidence_options=self.confidence_options,
        )
        options = dict(self.score_options)
        if sample_weight is not None:
            weight = check_sample_weight(sample_weight, len(y))
            options["sample_weight"] = weight[answers.groups]
        return self.sign * self.score(answers.correct, answers.confidence, **options)

    def set_score_request(self, *, sample_weight):
        """Request that ``sample_weight`` is passed to this scorer, as in scikit-learn.

        Parameters
        ----------
        sample_weight : bool, None or str
            True or False, None for an error if weights are passed, or the name under
            which they are.

        Returns
        -------
        self : ConfidenceScorer
            The scorer.
        """
        self._weight_request = sample_weight
        return self

    def get_metadata_routing(self):
        """Return the request for scikit-learn's metadata routing.

        Returns
        -------
        request : sklearn.utils.metadata_routing.MetadataRequest
            The request for weights.
        """
        request = MetadataRequest(owner=repr(self))
        request.score.add_request(param="sample_weight", alias=self._weight_request)
        return request

    def __repr__(self):
        chosen = {"greater_is_better": self.sign > 0}
        chosen |= {"query": self.query} if self.query is not None else {}
        chosen |= {"method": self.method} if self.method is not None else {}
        if self.confidence_options:
            chosen["confidence_options"] = self.confidence_options
        chosen |= self.score_options
        options = "".join(f", {name}={value!r}" for name, value in chosen.items())
        # A partial function has no name of its own.
        name = getattr(self.score, "__name__", repr(self.score))
        return f"make_confidence_scorer({name}{options})"


def make_confidence_scorer(
    score: Callable[..., Any],
    *,
    greater_is_better: bool,
    query: Any = None,
    method: str | None = None,
    confidence_options: dict[Any, Any] | None = None,
    **score_options: Any,
) -> Any:
    """Make a scorer of a score that compares confidences with outcomes.

    It works for taggers and classifiers, wherever scikit-learn takes ``scoring=``.

    Parameters
    ----------
    score : callable
        ``score(correct, confidence, **score_options)`` gives a float, such as
        :func:`skcw.metrics.root_calibration_mse` or
        :func:`skcw.metrics.error_average_precision`.
    greater_is_better : bool
        Whether a greater score is better. If not, as for errors, the scorer returns the
        negative score.
    query : label, collection of labels, str, dict or None, default=None
        The yes/no question that is asked, as in :func:`confidence_pairs`.
    method : str, default=None
        The method of ``predict_confidence``; None is the estimator's default.
    confidence_options : dict, default=None
        Further options of ``predict_confidence``, such as ``{"n_draws": 50}``.
    **score_options : object
        Options of the score, such as ``n_bins=10``.

    Returns
    -------
    scorer : ConfidenceScorer
        Called as ``scorer(estimator, X, y)``.

    See Also
    --------
    get_scorer : Ready scorers by name.

    Notes
    -----
    Methods can be compared without fitting twice: give ``cross_validate`` a dict with a
    scorer for each of them. A fold without a single answer, such as no span of
    a rare type, has no score: scikit-learn's ``error_score`` applies.

    Examples
    --------
    >>> from sklearn.model_selection import cross_validate
    >>> from skcw import CWSequenceTagger
    >>> from skcw.datasets import make_tagged_corpus
    >>> from skcw.features.basic import basic_features
    >>> from skcw.evaluation import make_confidence_scorer
    >>> from skcw.metrics import brier_loss
    >>> sentences, y = make_tagged_corpus(60, random_state=0, return_X_y=True)
    >>> X = [basic_features(sentence) for sentence in sentences]
    >>> scoring = {
    ...     method: make_confidence_scorer(
    ...         brier_loss, greater_is_better=False, method=method)
    ...     for method in ("marginal", "kd-pc")
    ... }
    >>> found = cross_validate(CWSequenceTagger(random_state=0), X, y, cv=2,
    ...                        scoring=scoring)
    >>> sorted(name for name in found if name.startswith("test"))
    ['test_kd-pc', 'test_marginal']
    """
    if not callable(score):
        raise TypeError(
            f"score is {score!r}; it must be a function such as brier_loss. Ready "
            "scorers have names: get_scorer('neg_brier_loss')"
        )
    parse_query(query)
    return ConfidenceScorer(
        score,
        1 if greater_is_better else -1,
        query,
        method,
        check_confidence_options(confidence_options),
        score_options,
    )


def _span_precision(y_true, y_pred, **options):
    options = {"average": "micro", **options}
    return span_precision_recall_fscore_support(y_true, y_pred, **options)[0]


def _span_recall(y_true, y_pred, **options):
    options = {"average": "micro", **options}
    return span_precision_recall_fscore_support(y_true, y_pred, **options)[1]


def _of_loss(loss):
    return make_confidence_scorer(loss, greater_is_better=False)


_SCORERS = {
    "sequence_accuracy": make_scorer(sequence_accuracy_score),
    "span_f1": make_scorer(span_f1_score),
    "span_f1_strict": make_scorer(span_f1_score, strict=True),
    "span_precision": make_scorer(_span_precision),
    "span_recall": make_scorer(_span_recall),
    "token_accuracy": make_scorer(token_accuracy_score),
    "token_f1": make_scorer(token_f1_score),
    "error_average_precision": make_confidence_scorer(
        error_average_precision, greater_is_better=True
    ),
    "neg_area_under_risk_coverage": _of_loss(area_under_risk_coverage),
    "neg_brier_loss": _of_loss(brier_loss),
    "neg_calibration_mse": _of_loss(calibration_mse),
    "neg_expected_calibration_error": _of_loss(expected_calibration_error),
    "neg_log_loss": _of_loss(log_loss),
    "neg_root_calibration_mse": _of_loss(root_calibration_mse),
}


def get_scorer_names() -> list[str]:
    """Return the names that :func:`get_scorer` knows, sorted.

    Examples
    --------
    >>> from skcw.evaluation import get_scorer_names
    >>> "span_f1" in get_scorer_names()
    True
    """
    return sorted(_SCORERS)


def get_scorer(name: str) -> Any:
    """Return a scorer by its name.

    Parameters
    ----------
    name : str
        One of :func:`get_scorer_names`.

    Returns
    -------
    scorer : callable
        Called as ``scorer(tagger, X, y)``. It is a copy, so that routing set on it
        (``set_score_request``) stays with the caller.

    Notes
    -----
    Scorers named after tokens, spans and sequences judge the labels of a tagger. The
    others judge the confidence of a tagger or classifier in its predicted labels, by
    its default method. Errors are negated, as ``neg_brier_loss``.
    :func:`make_confidence_scorer` makes those of other methods and questions.

    ``span_f1_strict`` detects the scheme from the labels it sees. To name the
    scheme, make a scorer of your own:
    ``make_scorer(span_f1_score, scheme="IOB1", strict=True)``.

    Examples
    --------
    Several scores at once, for ``GridSearchCV(tagger, ..., refit="span_f1")``:

    >>> from skcw.evaluation import get_scorer
    >>> scoring = {name: get_scorer(name) for name in ("span_f1", "token_accuracy")}
    >>> sorted(scoring)
    ['span_f1', 'token_accuracy']
    """
    if not isinstance(name, str) or name not in _SCORERS:
        raise ValueError(
            f"name is {name!r}; it must be one of {', '.join(get_scorer_names())}"
        )
    return deepcopy(_SCORERS[name])
