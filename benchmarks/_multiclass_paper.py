"""Figures of Crammer, Dredze & Kulesza (2009), Tables 2 and 3, and of Sec. 6 and 7."""

from _multiclass_data import AMAZON, ENRON_A, ENRON_B, NEWS, REUTERS
from _multiclass_learners import (
    CW_1,
    CW_5,
    CW_ALL,
    EXACT,
    MAXENT,
    PAPERS_CW,
    PARALLEL,
    TABLE_2,
    TABLE_3,
)

# Instances, features and labels, Table 1.
SIZES = {
    "20 News": (18_828, 252_115, 20),
    "Amazon 7": (13_580, 686_724, 7),
    "Amazon 3": (7_000, 494_481, 3),
    "Enron A": (3_000, 13_559, 10),
    "Enron B": (3_000, 18_065, 10),
    "NYTD": (10_000, 108_671, 26),
    "NYTO": (10_000, 108_671, 34),
    "NYTS": (10_000, 114_316, 20),
    "Reuters (RCV1)": (4_000, 23_699, 4),
}
# Accuracy in percent: sequential, parallel, exact.
_TABLE_2 = {
    "20 News": (92.16, 91.41, 88.08),
    "Amazon 7": (77.98, 78.35, 77.92),
    "Amazon 3": (93.54, 93.81, 93.00),
    "Enron A": (82.40, 81.30, 77.07),
    "Enron B": (71.80, 72.13, 68.00),
    "NYTD": (83.43, 81.43, 80.92),
    "NYTO": (82.02, 78.67, 80.60),
    "NYTS": (52.96, 54.78, 51.62),
    "Reuters (RCV1)": (93.60, 93.97, 93.47),
}
# Perceptron; PA k = 1, 5; CW k = 1, 5, all; SVM 1-vs-1, SVM multi-class; maxent.
_TABLE_3 = {
    "20 News": (81.07, 88.59, 88.60, 92.90, 92.78, 92.16, 85.18, 90.33, 88.94),
    "Amazon 7": (74.93, 76.55, 76.72, 78.70, 78.04, 77.98, 75.11, 76.60, 76.40),
    "Amazon 3": (92.26, 92.47, 93.29, 94.01, 94.29, 93.54, 92.83, 93.60, 93.60),
    "Enron A": (74.23, 79.27, 80.77, 83.83, 82.23, 82.40, 80.23, 82.60, 82.80),
    "Enron B": (66.30, 69.93, 68.90, 73.57, 72.27, 71.80, 65.97, 71.87, 69.47),
    "NYTD": (80.67, 83.12, 81.31, 84.57, 83.94, 83.43, 82.95, 82.00, 83.54),
    "NYTO": (78.47, 81.93, 81.22, 82.72, 82.55, 82.02, 82.13, 81.01, 82.53),
    "NYTS": (50.80, 56.19, 55.04, 54.67, 54.26, 52.96, 55.81, 56.74, 53.82),
    "Reuters (RCV1)": (92.10, 93.12, 93.30, 93.60, 93.67, 93.60, 92.97, 93.32, 93.40),
}
_MARKS = {
    "20 News": ("**", "**", "**"),
    "Amazon 7": ("**", "**", "**"),
    "Amazon 3": ("†", "**", ""),
    "Enron A": ("††", "†", "†"),
    "Enron B": ("**", "**", "**"),
    "NYTD": ("**", "*", ""),
    "NYTO": ("†", "†", ""),
}
# Our set -> those of the paper beside which it stands, the same or of the same kind.
COUNTERPARTS = {
    NEWS: ("20 News",),
    AMAZON: ("Amazon 7", "Amazon 3"),
    ENRON_A: ("Enron A",),
    ENRON_B: ("Enron B",),
    REUTERS: ("Reuters (RCV1)",),
}
# Mean number of passes chosen, over all sets.
PASSES = {CW_1: 6.67, CW_5: 2.22, CW_ALL: 4.33, PARALLEL: 7.56, EXACT: 1.25}
# Mean probability of right and of wrong predictions on Enron B.
PROBABILITIES = {CW_1: (0.75, 0.44), MAXENT: (0.83, 0.56)}


def papers_sets(names):
    """Return the paper's sets that stand beside ours, and those that none does."""
    beside = [one for name in names for one in COUNTERPARTS.get(name, ())]
    return beside, [one for one in SIZES if one not in beside]


def papers_accuracy(one, learner):
    """Return the paper's accuracy in percent, or None, and its marks."""
    if learner in TABLE_3:
        mark = ""
        if learner in PAPERS_CW and one in _MARKS:
            mark = _MARKS[one][PAPERS_CW.index(learner)]
        return _TABLE_3[one][TABLE_3.index(learner)], mark
    if learner in TABLE_2:
        return _TABLE_2[one][TABLE_2.index(learner)], ""
    return None, ""
