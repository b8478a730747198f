"""Table 2 of Mejer & Crammer (2010): F of the online learners."""

import numpy as np
from _tables import format_table, number
from _tagging_folds import AUGMENTED, PASSES, PLAIN, augmented, curves_of_all_sets
from scipy import stats

REFERENCE = "AROW"
NOTE = f"""\
The paper's learners are those with plain decoding: their rival is the best labeling,
whatever its cost. Cost-augmented: the same learner, trained with wrong labels made
better by one (CW: by half its unit, its default) when it looks for the rival. p: paired
t-test over the folds against {REFERENCE} that looks for its rival in the same way
(* p < .001, ** p < .01, as in the paper); corrected: for overlapping training sets
(Nadeau & Bengio 2003). Decoding: what cost-augmented training adds to the same learner,
and its corrected p. Parameters, where shown, were chosen on one random 3/4-1/4 split of
each set, as in the paper. Features are richer than the paper's: the ranking compares,
the level does not."""
STARS = ((0.001, "*"), (0.01, "**"))

PAPER = {
    "NP chunking": {
        "AROW": 0.946,
        "CW": 0.947,
        "5-best PA": 0.946,
        "Perceptron": 0.944,
    },
    "Dutch": {"AROW": 0.791, "CW": 0.787, "5-best PA": 0.784, "Perceptron": 0.761},
    "Spanish": {"AROW": 0.775, "CW": 0.774, "5-best PA": 0.773, "Perceptron": 0.756},
}


def run(settings):
    """Return mean F after the last pass, with paired tests against AROW."""
    found = curves_of_all_sets(settings)
    return {
        "quick": settings.quick,
        "folds": 1 if settings.quick else settings.folds,
        "sets": {
            name: {
                "tuning": one["tuning"],
                "learners": _learners(one, PAPER.get(name, {})),
            }
            for name, one in found.items()
        },
    }


def _learners(one, paper):
    f1 = {
        learner: [curve[-1]["f1"] for curve in curves]
        for learner, curves in one["curves"].items()
    }
    rows = {}
    for learner, values in f1.items():
        p, p_corrected = paired_tests(values, f1[_reference(learner)], one)
        rows[learner] = {
            "f1": float(np.mean(values)),
            "paper": paper.get(learner),
            "p": p,
            "p_corrected": p_corrected,
            "f1_folds": values,
        }
        if learner in AUGMENTED:
            plain = f1[_plain(learner)]
            _, p_decoding = paired_tests(values, plain, one)
            rows[learner]["decoding"] = float(np.mean(np.subtract(values, plain)))
            rows[learner]["p_decoding"] = p_decoding
    return rows


def _reference(learner):
    """Return the learner to compare with: the one that finds rivals in the same way."""
    return augmented(REFERENCE) if learner in AUGMENTED else REFERENCE


def _plain(learner):
    return next(name for name in PLAIN if augmented(name) == learner)


def paired_tests(values, reference, one):
    """Return the p values of the paired t-test and of its corrected form.

    Training sets of different folds overlap, so that the plain test finds too many
    differences significant; Nadeau & Bengio (2003) widen its variance for that.
    """
    n_train, n_test = one["fold_sizes"]
    difference = np.subtract(values, reference)
    n = len(difference)
    if n < 2 or not difference.any():
        return None, None
    spread = difference.var(ddof=1)
    p_values = []
    for share in (1 / n, 1 / n + n_test / n_train):
        t = difference.mean() / np.sqrt(max(spread * share, 1e-300))
        p_values.append(float(2 * stats.t.sf(abs(t), n - 1)))
    return tuple(p_values)


def _stars(p):
    """Mark significance as the paper does."""
    if p is None:
        return ""
    return next((mark for bound, mark in STARS if p < bound), "")


def render(found):
    """Return the results as text."""
    folds = (
        "single split, default parameters"
        if found["quick"]
        else (f"means of {found['folds']} folds")
    )
    blocks = [f"Table 2: F after {PASSES} passes, {folds}, beside the paper's"]
    for name, one in found["sets"].items():
        rows = [_row(learner, one) for learner in one["learners"]]
        header = [name, "parameter", "F", "", "p", "p corrected", "decoding", "its p"]
        blocks.append(format_table([*header, "paper's F"], rows))
    blocks.append(NOTE)
    return "\n\n".join(blocks)


def _row(learner, one):
    row, tuning = one["learners"][learner], one["tuning"].get(learner)
    return [
        learner,
        f"{tuning['parameter']} = {tuning['chosen']:g}" if tuning else "-",
        f"{row['f1']:.4f}",
        _stars(row["p"]),
        number(row["p"], ".2g"),
        number(row["p_corrected"], ".2g"),
        number(row.get("decoding"), "+.4f"),
        number(row.get("p_decoding"), ".2g"),
        number(row["paper"], ".3f"),
    ]
