"""Base class of the displays: get confidences and outcomes from an estimator."""

import numpy as np

from skcw.inspection import parse_query, query_pairs
from skcw.inspection._answering import inner_estimator


class AnswersDisplay:
    """Base of the displays: confidences and outcomes, drawn by ``from_predictions``."""

    @classmethod
    def from_estimator(
        cls,
        estimator,
        X,
        y,
        *,
        query=None,
        method=None,
        confidence_options=None,
        groups=None,
        sample_weight=None,
        name=None,
        **options,
    ):
        """Ask a fitted estimator how sure it is, and draw the result.

        Parameters
        ----------
        estimator : tagger or classifier
            A fitted one of skcw, scikit-learn or your own.
        X : sequences, or rows of a classifier
            What it has not learnt from.
        y : sequences of labels, or labels of rows
            The truth.
        query : label, collection of labels, str, dict or None, default=None
            The yes/no question that is asked: None for "is the predicted label right?",
            or a label, several labels, ``"not O"``, ``"span:PER"``, as in
            :func:`skcw.inspection.query_pairs`.
        method : str, default=None
            A method of ``predict_confidence``; None is the estimator's default.
        confidence_options : dict, default=None
            Further options of ``predict_confidence``, such as ``{"n_draws": 50}``.
        groups : array of shape (n_sequences,), default=None
            What belongs together beyond a sequence, such as the document of each one.
            By default each sequence, or each row of a classifier, is a group.
        sample_weight : array of shape (n_sequences,) or (n_words,), default=None
            How often each sequence counts, as scorers take it, or each word.
        name : str, default=None
            The name of the model; None is that of its class, and the method.
        **options : object
            Those of ``from_predictions`` and of ``plot``.

        Returns
        -------
        display : object
            What was drawn, with ``line_``, ``ax_`` and ``figure_``.
        """
        wording = cls._wording(parse_query(query))
        y = y if hasattr(y, "__len__") else list(y)
        answers = query_pairs(
            estimator,
            X,
            y,
            query,
            method=method,
            confidence_options=confidence_options,
        )
        if len(y) and np.ndim(next(iter(y))) == 0:
            wording["unit"] = "rows"
        if groups is None:
            groups = answers.groups
        else:
            groups = _per_answer(groups, "groups", len(y), answers)
        if sample_weight is not None:
            sample_weight = _per_answer(sample_weight, "sample_weight", len(y), answers)
        return cls.from_predictions(
            answers.correct,
            answers.confidence,
            groups=groups,
            sample_weight=sample_weight,
            name=_name_of(estimator, method) if name is None else name,
            **(wording | options),
        )

    @classmethod
    def _wording(cls, question):
        """Return the words for the axes that a question asks for."""
        return {"unit": "spans" if question.kind == "span" else "words"}


def _per_answer(values, name, n_sequences, answers):
    """Return one value for each answer, given one for each sequence or each answer."""
    values = list(values)
    n_answers = len(answers.groups)
    if any(map(np.ndim, values)):
        values = [value for row in values for value in row]
    elif len(values) == n_sequences:
        return np.asarray(values)[answers.groups]
    if len(values) != n_answers:
        raise ValueError(
            f"{name} has {len(values)} entries; it must hold one for each of the "
            f"{n_sequences} sequences, or for each of the {n_answers} answers"
        )
    return np.asarray(values)


def _name_of(estimator, method):
    """Return the class of the estimator inside all wrappers, and its method."""
    while (inner := inner_estimator(estimator)) is not None:
        estimator = inner
    name = type(estimator).__name__
    return name if method is None else f"{name}, {method}"


def joined(rows):
    """Return the words of all rows in one array; of flat words, these."""
    return np.concatenate([np.empty(0), *map(np.atleast_1d, rows)])


def check_curve(**arrays):
    """Return two arrays as floats of one length, or refuse them."""
    curve = [np.asarray(values, dtype=np.float64) for values in arrays.values()]
    shapes = {values.shape for values in curve}
    if len(shapes) > 1 or curve[0].ndim != 1 or not len(curve[0]):
        raise ValueError(
            f"{' and '.join(arrays)} have the shapes {', '.join(map(str, shapes))}; "
            "they must be sequences of one length"
        )
    return curve
