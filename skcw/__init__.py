"""Confidence-weighted learners for sequences and text."""

__version__ = "0.1.0"
