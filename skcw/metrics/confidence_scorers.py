"""Scorers of confidences for ``scoring=`` of a grid search or a cross-validation."""

from sklearn.utils.metadata_routing import MetadataRequest

from skcw.metrics._checks import check_confidence_options, check_sequence_weight
from skcw.metrics._questions import parse_query
from skcw.metrics.binned_confidence import confidence_rmse
from skcw.metrics.calibration_scores import (
    calibration_mse,
    expected_calibration_error,
)
from skcw.metrics.error_ranking import error_average_precision
from skcw.metrics.proper_scores import brier_score, log_score
from skcw.metrics.queries import query_pairs
from skcw.metrics.risk_coverage import area_under_risk_coverage


class ConfidenceScorer:
    """A scorer that asks a fitted estimator how sure it is; see its factory.

    Parameters
    ----------
    score : callable
        ``score(confidence, correct, **options)`` gives a float.
    sign : {1, -1}
        What the score is multiplied by, so that greater is better.
    query : object
        As in :func:`query_pairs`.
    method : str or None
        As in :func:`query_pairs`.
    confidence_options : dict
        Options of :func:`query_pairs`.
    score_options : dict
        Options of the score.

    See Also
    --------
    make_confidence_scorer : How to make one.

    Examples
    --------
    >>> from skcw.metrics import get_scorer
    >>> get_scorer("neg_confidence_rmse")
    make_confidence_scorer(confidence_rmse, greater_is_better=False)
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
            What it has not learnt from.
        y : sequences of labels, or labels of rows
            The truth.
        sample_weight : array of shape (n_sequences,), default=None
            One weight for every sequence or row.

        Returns
        -------
        score : float
            The score times its sign.
        """
        answers = query_pairs(
            estimator, X, y, self.query, self.method, **self.confidence_options
        )
        options = dict(self.score_options)
        if sample_weight is not None:
            weight = check_sequence_weight(sample_weight, len(y))
            options["sample_weight"] = weight[answers.groups]
        return self.sign * self.score(answers.confidence, answers.correct, **options)

    def set_score_request(self, *, sample_weight):
        """Say whether ``sample_weight`` shall reach this scorer, as in scikit-learn.

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
        """Return what scikit-learn's metadata routing asks for.

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
    score,
    *,
    greater_is_better,
    query=None,
    method=None,
    confidence_options=None,
    **score_options,
):
    """Make a scorer of a score that compares confidences with outcomes.

    It serves taggers and classifiers alike, wherever scikit-learn takes ``scoring=``.

    Parameters
    ----------
    score : callable
        ``score(confidence, correct, **score_options)`` gives a float, such as
        :func:`confidence_rmse` or :func:`error_average_precision`.
    greater_is_better : bool
        Whether the score is good when it is great. Errors are not: their scorers give
        the negative.
    query : label, collection of labels, str, dict or None, default=None
        The yes/no question that is asked, as in :func:`query_pairs`.
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
    scorer for each of them. A fold in which there is nothing to ask, such as no span of
    a rare type, has no score: scikit-learn's ``error_score`` says what becomes of it.

    Examples
    --------
    >>> from sklearn.model_selection import cross_validate
    >>> from skcw import CWSequenceTagger
    >>> from skcw.datasets import make_tagged_corpus
    >>> from skcw.features import basic_features
    >>> from skcw.metrics import confidence_rmse, make_confidence_scorer
    >>> sentences, y = make_tagged_corpus(60, random_state=0, return_X_y=True)
    >>> X = [basic_features(sentence) for sentence in sentences]
    >>> scoring = {
    ...     method: make_confidence_scorer(
    ...         confidence_rmse, greater_is_better=False, method=method)
    ...     for method in ("marginal", "kd-pc")
    ... }
    >>> found = cross_validate(CWSequenceTagger(random_state=0), X, y, cv=2,
    ...                        scoring=scoring)
    >>> sorted(name for name in found if name.startswith("test"))
    ['test_kd-pc', 'test_marginal']
    """
    if not callable(score):
        raise TypeError(
            f"score is {score!r}; it must be a function such as confidence_rmse. Ready "
            "scorers have names: get_scorer('neg_confidence_rmse')"
        )
    if score_options.get("interval") is not None:
        raise ValueError("interval must be None: a scorer gives one number")
    parse_query(query)
    return ConfidenceScorer(
        score,
        1 if greater_is_better else -1,
        query,
        method,
        check_confidence_options(confidence_options),
        score_options,
    )


def _ready(score, greater_is_better=False):
    return make_confidence_scorer(score, greater_is_better=greater_is_better)


CONFIDENCE_SCORERS = {
    "error_average_precision": _ready(error_average_precision, greater_is_better=True),
    "neg_area_under_risk_coverage": _ready(area_under_risk_coverage),
    "neg_brier_score": _ready(brier_score),
    "neg_calibration_mse": _ready(calibration_mse),
    "neg_confidence_rmse": _ready(confidence_rmse),
    "neg_expected_calibration_error": _ready(expected_calibration_error),
    "neg_log_score": _ready(log_score),
}
