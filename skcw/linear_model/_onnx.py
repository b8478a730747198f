"""Export to ONNX: labels, scores and probabilities, through skl2onnx's registry."""

import numpy as np

from skcw.linear_model._arow import MultiClassAROW
from skcw.linear_model._cw import MultiClassCW
from skcw.linear_model._onnx_probabilities import (
    add_probabilities,
    has_exact_probabilities,
)
from skcw.linear_model._pa import MultiClassPA
from skcw.linear_model._perceptron import MultiClassPerceptron

CLASSIFIERS = (MultiClassAROW, MultiClassCW, MultiClassPA, MultiClassPerceptron)


def to_onnx(model, X=None, **options):
    """Return a fitted classifier, or a pipeline that ends in one, as an ONNX model.

    Needs the package skl2onnx.

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
        more than two classes are exported only where ``fit`` has learnt them
        (``variance_scale="shadow"``): ONNX has no integral to compute the others.

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
    import skl2onnx

    register_onnx_converters()
    return skl2onnx.to_onnx(model, X, **options)


def register_onnx_converters():
    """Teach skl2onnx to convert the classifiers, alone or at the end of a pipeline.

    :func:`to_onnx` does so by itself; this is for those who call skl2onnx, which finds
    no converters of other packages on its own. Needs the package skl2onnx.

    Examples
    --------
    >>> from skl2onnx import convert_sklearn
    >>> from skcw.linear_model import register_onnx_converters
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
