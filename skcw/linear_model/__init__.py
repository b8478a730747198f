"""Online classifiers of flat rows that keep a Gaussian over their weights."""

from skcw.linear_model.arow import MultiClassAROW
from skcw.linear_model.cw import MultiClassCW
from skcw.linear_model.onnx import to_onnx
from skcw.linear_model.pa import MultiClassPA
from skcw.linear_model.perceptron import MultiClassPerceptron

__all__ = [
    "MultiClassAROW",
    "MultiClassCW",
    "MultiClassPA",
    "MultiClassPerceptron",
    "to_onnx",
]
