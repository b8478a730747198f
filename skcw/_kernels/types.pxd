"""The number type of weights: float in daily use, double for exact comparisons."""

ctypedef fused real:
    float
    double
