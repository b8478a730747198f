"""Scores, prepared so that they can be computed anew for other weights."""
