"""Which stored result is behind each figure of a docstring.

A tie is the file in skcw/, the words around the figures with {} for each of them, the
name of the file in benchmarks/results, and the path of each figure in it. White space
and line breaks do not count. A figure that is computed from several stored ones is
found under "sums", where a function of SUMS has put it.
"""

import numpy as np

from tests.house.other_ties import (
    CLASSIFIERS,
    DATA,
    FEATURES,
    FITS,
    RECORD,
    RERANKING,
)
from tests.house.tagger_ties import CONFIDENCE, SPEECH, TAGGERS


def travel_sums(found):
    """Return in how many cells CW has at most the log loss of logistic regression."""
    cells = found["rows"]["cells"].values()
    over = [one["CW"]["log_loss"] / one["logistic"]["log_loss"] for one in cells]
    return {
        "cells": len(over),
        "at most": sum(share <= 1 for share in over),
        "worst": 100 * (max(over) - 1),
    }


def multiclass_sums(found):
    """Return how long peers take, as a multiple of CW, and the lead of one of them."""
    rows = found["fits"]["rows"]
    over = {
        name: one["seconds"] / rows["MultiClassCW"]["seconds"]
        for name, one in rows.items()
    }
    lead = rows["Vowpal Wabbit"]["accuracy"] - rows["MultiClassCW"]["accuracy"]
    return over | {"lead of VW": lead}


def calibration_sums(found):
    """Return how often bands held the truth, in per cent."""
    rows = found["coverage"]["summary"]
    return {f"{row['what']}, {row['method']}": row["mean"] for row in rows}


def rerank_sums(found):
    """Return errors taken away in per cent of the base's, and gains on the splits."""
    sums = {}
    for cell in found["tables"]["cells"]:
        place = f"{cell['language']}, {cell['task']}, {cell['base']}"
        base = sums[place] = cell["base_scores"]["F"]
        for name, reranker in cell["rerankers"].items():
            sums[f"{place}, {name}"] = 100 * (reranker["F"] - base) / (100 - base)
    for language, splits in found["splits"]["splits"].items():
        gains = [split["CW"] - split["base"] for split in splits]
        sums[f"gain, {language}"] = np.mean(gains)
        sums[f"worst, {language}"] = min(gains)
    sums["voted and averaged"] = max(
        abs(voted - averaged)
        for curves in found["curves"]["curves"].values()
        for _, voted, averaged in curves["passes"]
    )
    return sums


SUMS = {
    "multiclass": multiclass_sums,
    "travel": travel_sums,
    "calibration": calibration_sums,
    "rerank": rerank_sums,
}
TIES = [
    *CONFIDENCE,
    *TAGGERS,
    *SPEECH,
    *CLASSIFIERS,
    *FEATURES,
    *DATA,
    *RERANKING,
    *FITS,
]
__all__ = ["RECORD", "SUMS", "TIES"]
