"""Export to ONNX: labels, scores and probabilities, through skl2onnx's registry."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skcw.linear_model.arow import MultiClassAROW
from skcw.linear_model.cw import MultiClassCW
from skcw.linear_model.pa import MultiClassPA
from skcw.linear_model.perceptron import MultiClassPerceptron
from skcw.linear_model.probabilities import GUMBEL

# Instead of no variance at all, of which ONNX could only make what is not a number.
LEAST_VARIANCE = 1e-200


def has_exact_probabilities(model):
    """Tell whether the probabilities of a classifier can be written without integrals.

    Those that ``fit`` has learned are a softmax; those of two Gaussians are Φ.
    """
    if not hasattr(model, "variance_scale_"):
        return False
    return model.noise_ is not None or len(model.classes_) == 2


def add_probabilities(scope, operator, container):
    """Add the nodes that compute the last output of an operator."""
    graph = Graph(scope, container)
    model = operator.raw_operator
    rows = graph.add("Cast", operator.inputs[0].full_name, to=_double())
    table, spread = _scores_and_spreads(graph, rows, model)
    if model.noise_ is None:
        proba = _of_two_gaussians(graph, table, spread, model)
    else:
        proba = _softmax(graph, table, spread, model)
    proba = _with_predicted_first(graph, proba, table, len(model.classes_))
    graph.add("Cast", proba, to=_single(), output=operator.outputs[-1].full_name)


class Graph:
    """The nodes of an operator, added one by one under names of their own."""

    def __init__(self, scope, container):
        self.scope = scope
        self.container = container

    def add(self, kind, *inputs, output=None, **attributes):
        """Add a node; return the name of its output. Arrays become constants."""
        names = [x if isinstance(x, str) else self.constant(x) for x in inputs]
        output = output or self.scope.get_unique_variable_name(kind.lower())
        name = self.scope.get_unique_operator_name(kind)
        self.container.add_node(kind, names, [output], name=name, **attributes)
        return output

    def constant(self, array):
        """Add an array, or a number; return its name."""
        from onnx import helper

        array = np.asarray(array)
        name = self.scope.get_unique_variable_name("constant")
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        flat = array.ravel().tolist()
        self.container.add_initializer(name, kind, list(array.shape), flat)
        return name


def _scores_and_spreads(graph, rows, model):
    """Return the names of the scores, one per class, and of their variances.

    Two classes have half of their difference each, and the variance of that
    difference, as `as_table` of the probabilities has it.
    """
    weights = model.coef_.astype(np.float64).T
    constant = model.intercept_.astype(np.float64)
    if len(model.classes_) == 2:
        halves = np.array([-0.5, 0.5])
        weights, constant = weights * halves, constant * halves
    scores = graph.add("Add", graph.add("MatMul", rows, weights), constant)
    variance = model.coef_variance_.astype(np.float64).T
    spread = graph.add("MatMul", graph.add("Mul", rows, rows), variance)
    if model.fit_intercept:
        own = model.intercept_variance_.astype(np.float64)
        spread = graph.add("Add", spread, own)
    return scores, spread


def _softmax(graph, table, spread, model):
    """Return the softmax at each row's own temperature."""
    if len(model.classes_) > 2:
        deviation = graph.add("Sqrt", spread)
        caution = np.float64(model.shrinkage_)
        table = graph.add("Sub", table, graph.add("Mul", deviation, caution))
    # The mean over the labels; half of a difference's variance is that of each of two.
    shares = np.full((variance_width(model), 1), 1.0 / len(model.classes_))
    variance = graph.add("MatMul", spread, shares * model.variance_scale_)
    variance = graph.add("Add", variance, np.float64(model.noise_))
    variance = graph.add("Max", variance, np.float64(LEAST_VARIANCE))
    temperature = graph.add("Sqrt", graph.add("Div", variance, np.float64(GUMBEL)))
    n_classes = len(model.classes_)
    best = _entry(graph, table, _first_highest(graph, table, n_classes), n_classes)
    raised = graph.add(
        "Exp", graph.add("Div", graph.add("Sub", table, best), temperature)
    )
    total = graph.add("MatMul", raised, np.ones((n_classes, 1)))
    return graph.add("Div", raised, total)


def variance_width(model):
    """Return the number of variances that a row of scores has."""
    return 1 if len(model.classes_) == 2 else len(model.classes_)


def _of_two_gaussians(graph, table, spread, model):
    """Return Φ(±M / √V), where M is the difference of the two scores."""
    variance = graph.add("Mul", spread, np.float64(model.variance_scale_))
    variance = graph.add("Max", variance, np.float64(LEAST_VARIANCE))
    lead = graph.add("Div", table, graph.add("Sqrt", variance))
    # Φ(x) = (1 + erf(x / √2)) / 2; the scores of the table are ±M / 2.
    lead = graph.add("Mul", lead, np.float64(np.sqrt(2.0)))
    # Beyond this a double is 0 or 1, and what is infinite in single precision is not.
    lead = graph.add("Min", graph.add("Max", lead, np.float64(-9.0)), np.float64(9.0))
    erf = graph.add("Erf", graph.add("Cast", lead, to=_single()))
    erf = graph.add("Cast", erf, to=_double())
    half = np.float64(0.5)
    return graph.add("Add", graph.add("Mul", erf, half), half)


def _with_predicted_first(graph, proba, table, n_classes):
    """Let the likeliest label and the one with the highest score exchange places."""
    likeliest = _first_highest(graph, proba, n_classes)
    predicted = _first_highest(graph, table, n_classes)
    top = _entry(graph, proba, likeliest, n_classes)
    lost = graph.add("Sub", top, _entry(graph, proba, predicted, n_classes))
    exchange = graph.add("Sub", predicted, likeliest)
    return graph.add("Add", proba, graph.add("Mul", lost, exchange))


def _first_highest(graph, table, n_classes):
    """Return 1 at the first of the highest entries of each row, else 0."""
    best = graph.add("ArgMax", table, axis=1, keepdims=1)
    chosen = graph.add("Equal", best, np.arange(n_classes)[np.newaxis])
    return graph.add("Cast", chosen, to=_double())


def _entry(graph, table, chosen, n_classes):
    """Return the one entry of each row at which `chosen` is 1, as a column."""
    return graph.add("MatMul", graph.add("Mul", table, chosen), np.ones((n_classes, 1)))


def _double():
    from onnx import TensorProto

    return TensorProto.DOUBLE


def _single():
    from onnx import TensorProto

    return TensorProto.FLOAT


CLASSIFIERS = (MultiClassAROW, MultiClassCW, MultiClassPA, MultiClassPerceptron)


def to_onnx(model: Any, X: ArrayLike | None = None, **options: Any) -> Any:
    """Return a fitted classifier, or a pipeline that ends in one, as an ONNX model.

    Needs the package skl2onnx: ``pip install skl2onnx`` (extra onnx).

    Parameters
    ----------
    model : estimator
        A classifier of skcw, or a scikit-learn pipeline with one.
    X : array-like, default=None
        A few rows, from which the types and the number of columns are read.
    **options : object
        Further arguments of ``skl2onnx.to_onnx``, such as ``initial_types`` or
        ``target_opset``.

    Returns
    -------
    exported : onnx.ModelProto
        Its outputs are ``label``, as ``predict`` gives it; ``scores`` of shape
        (n_samples, n_classes), which are ``X @ coef_.T + intercept_`` (for two classes
        minus and plus that); and for CW and AROW ``probabilities``, as
        ``predict_proba`` gives them, computed in double precision. Probabilities of
        more than two classes are exported only where ``fit`` has learned them
        (``variance_scale="held-out"``): ONNX has no integral to compute the others.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from skcw import MultiClassCW
    >>> from skcw.linear_model import to_onnx
    >>> X, y = load_digits(return_X_y=True)
    >>> classifier = MultiClassCW(random_state=0).fit(X, y)
    >>> exported = to_onnx(classifier, X[:1].astype("float32"))
    >>> [output.name for output in exported.graph.output]
    ['label', 'scores', 'probabilities']
    """
    try:
        import skl2onnx
    except ImportError as error:
        text = "to_onnx needs skl2onnx: pip install skl2onnx (extra onnx)"
        raise ImportError(text) from error

    register_onnx_converters()
    return skl2onnx.to_onnx(model, X, **options)


def register_onnx_converters():
    """Teach skl2onnx to convert the classifiers, alone or at the end of a pipeline.

    :func:`to_onnx` does so by itself; this is for those who call skl2onnx, which finds
    no converters of other packages on its own. Needs the package skl2onnx.

    Examples
    --------
    >>> from skl2onnx import convert_sklearn
    >>> from skcw.linear_model.onnx import register_onnx_converters
    >>> register_onnx_converters()
    """
    from skl2onnx import update_registered_converter

    for classifier in CLASSIFIERS:
        update_registered_converter(
            classifier,
            f"Skcw{classifier.__name__}",
            _declare_shapes,
            _convert,
            parser=_declare_outputs,
        )


def _declare_outputs(scope, model, inputs, custom_parsers=None):
    """Declare the operator of a classifier and its outputs."""
    from skl2onnx import get_model_alias
    from skl2onnx.common.data_types import (
        FloatTensorType,
        Int64TensorType,
        StringTensorType,
    )

    operator = scope.declare_local_operator(get_model_alias(type(model)), model)
    operator.inputs = inputs
    kinds = {
        "label": Int64TensorType() if _whole_numbers(model) else StringTensorType()
    }
    kinds["scores"] = FloatTensorType()
    if has_exact_probabilities(model):
        kinds["probabilities"] = FloatTensorType()
    for name, kind in kinds.items():
        operator.outputs.append(scope.declare_local_variable(name, kind))
    return operator.outputs


def _whole_numbers(model):
    """Tell whether labels are integers; what is neither they nor text is refused."""
    if all(isinstance(label, str) for label in model.classes_.tolist()):
        return False
    if np.issubdtype(model.classes_.dtype, np.integer):
        return True
    raise TypeError(
        f"ONNX has labels of integers or strings, but classes_ is {model.classes_!r}"
    )


def _declare_shapes(operator):
    """Tell the shapes of the outputs from those of the rows."""
    n_rows = operator.inputs[0].get_first_dimension()
    operator.outputs[0].type.shape = [n_rows]
    for output in operator.outputs[1:]:
        output.type.shape = [n_rows, len(operator.raw_operator.classes_)]


def _convert(scope, operator, container):
    """Write a LinearClassifier node, and the probabilities if there are any."""
    model = operator.raw_operator
    weights, constants = model.coef_, model.intercept_
    if len(model.classes_) == 2:
        weights = np.concatenate([-weights, weights])
        constants = np.concatenate([-constants, constants])
    kind = "classlabels_ints" if _whole_numbers(model) else "classlabels_strings"
    container.add_node(
        "LinearClassifier",
        [operator.inputs[0].full_name],
        [output.full_name for output in operator.outputs[:2]],
        op_domain="ai.onnx.ml",
        name=scope.get_unique_operator_name("LinearClassifier"),
        coefficients=weights.astype(np.float64).ravel().tolist(),
        intercepts=constants.astype(np.float64).tolist(),
        multi_class=int(len(model.classes_) > 2),
        post_transform="NONE",
        **{kind: model.classes_.tolist()},
    )
    if has_exact_probabilities(model):
        add_probabilities(scope, operator, container)
