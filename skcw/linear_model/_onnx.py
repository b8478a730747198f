"""Export to ONNX: the mean model, through skl2onnx's registry."""

import numpy as np

from skcw.linear_model._arow import MultiClassAROW
from skcw.linear_model._cw import MultiClassCW
from skcw.linear_model._pa import MultiClassPA
from skcw.linear_model._perceptron import MultiClassPerceptron

CLASSIFIERS = (MultiClassAROW, MultiClassCW, MultiClassPA, MultiClassPerceptron)


def register_onnx_converters():
    """Teach skl2onnx to convert the classifiers, alone or at the end of a pipeline.

    What is exported is the mean model: ``label`` as ``predict`` gives it, and
    ``scores`` of shape (n_samples, n_classes), which are ``X @ coef_.T + intercept_``
    (for two classes minus and plus that). Variances stay behind, so there are no
    probabilities. Needs the package skl2onnx.

    Examples
    --------
    >>> from skcw.linear_model import register_onnx_converters
    >>> register_onnx_converters()  # doctest: +SKIP
    >>> from skl2onnx import to_onnx  # doctest: +SKIP
    >>> model = to_onnx(classifier, X[:1].astype("float32"))  # doctest: +SKIP
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
    """Declare the operator of a classifier and its two outputs."""
    from skl2onnx import get_model_alias
    from skl2onnx.common.data_types import (
        FloatTensorType,
        Int64TensorType,
        StringTensorType,
    )

    operator = scope.declare_local_operator(get_model_alias(type(model)), model)
    operator.inputs = inputs
    label = Int64TensorType() if _whole_numbers(model) else StringTensorType()
    operator.outputs.append(scope.declare_local_variable("label", label))
    operator.outputs.append(scope.declare_local_variable("scores", FloatTensorType()))
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
    operator.outputs[1].type.shape = [n_rows, len(operator.raw_operator.classes_)]


def _convert(scope, operator, container):
    """Write one LinearClassifier node."""
    model = operator.raw_operator
    weights, constants = model.coef_, model.intercept_
    if len(model.classes_) == 2:
        weights = np.concatenate([-weights, weights])
        constants = np.concatenate([-constants, constants])
    kind = "classlabels_ints" if _whole_numbers(model) else "classlabels_strings"
    container.add_node(
        "LinearClassifier",
        [operator.inputs[0].full_name],
        [output.full_name for output in operator.outputs],
        op_domain="ai.onnx.ml",
        name=scope.get_unique_operator_name("LinearClassifier"),
        coefficients=weights.astype(np.float64).ravel().tolist(),
        intercepts=constants.astype(np.float64).tolist(),
        multi_class=int(len(model.classes_) > 2),
        post_transform="NONE",
        **{kind: model.classes_.tolist()},
    )
