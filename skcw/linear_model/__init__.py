"""Online classifiers of flat rows that keep a Gaussian over their weights."""

from skcw.linear_model._arow import MultiClassAROW
from skcw.linear_model._cw import MultiClassCW
from skcw.linear_model._onnx import register_onnx_converters, to_onnx
from skcw.linear_model._pa import MultiClassPA
from skcw.linear_model._perceptron import MultiClassPerceptron

__all__ = [
    "MultiClassAROW",
    "MultiClassCW",
    "MultiClassPA",
    "MultiClassPerceptron",
    "register_onnx_converters",
    "to_onnx",
]
