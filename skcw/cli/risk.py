"""Risk control on the command line: find thresholds, mark words by one, test them."""

import numpy as np

from skcw.cli.messages import UsageError, tell, warn
from skcw.confidence.acceptance import (
    MOST_SENTENCES,
    UNITS,
    accepted,
    difference_in_words,
    sentence_means,
    unlike,
    word_marks,
)


def calibrated(pipeline, options, X, held_out):
    """Return a selective tagger around a fitted pipeline.

    Parameters
    ----------
    pipeline : TaggingPipeline
        The model.
    options : argparse.Namespace
        With ``calibrate``, and the risks to control.
    X : TokenColumns
        The sentences that the model has learned from.
    held_out : (TokenColumns, labels)
        Those that it has not learned from.

    Returns
    -------
    model : SelectiveTagger
        With a threshold for each risk.
    """
    from skcw.calibration import SelectiveTagger
    from skcw.calibration.calibrated_tagger import MOST_KNOWN
    from skcw.cli.column_checks import check_file

    new, y = held_out
    features = pipeline[0].extractor_
    check_file(features, new, options.calibrate, "calibrate", " besides the labels")
    known = {tuple(row) for row in X.column(0)}
    rows = list(new.column(0))
    again = sum(len(row) for row in rows if tuple(row) in known) / new.n_tokens
    if again > MOST_KNOWN:
        raise ValueError(
            f"the model has learned from {100 * again:.0f} % of the words of "
            f"{options.calibrate}, so they cannot be used for calibration"
        )
    model = SelectiveTagger(
        pipeline,
        risk=options.accept_risk or [0.01],
        level=options.accept_level,
        unit=options.accept_unit,
        cv="prefit",
    )
    model.fit(new, y)
    model.source_ = options.calibrate
    return model


def bounds_of(selection):
    """Return the thresholds of a model with their bounds on the risk, if it has any."""
    found = [] if selection is None else selection["promises"]
    return [{**one, "threshold": float(one["threshold"])} for one in found]


class Acceptance:
    """Marks words by a threshold, and sums up what was accepted.

    Parameters
    ----------
    selection : dict or None
        The thresholds in the model.
    risk : float, default=None
        The risk whose threshold is used; None is the first.
    """

    def __init__(self, selection, risk=None):
        if selection is None:
            raise UsageError(
                "the model has no threshold to accept by; `skcw train` finds one with "
                "--calibrate FILE and --accept-risk"
            )
        found = [one for one in bounds_of(selection) if risk in (None, one["risk"])]
        if not found:
            risks = ", ".join(f"{one['risk']:g}" for one in bounds_of(selection))
            raise UsageError(
                f"the model has no threshold for the risk {risk:g}, only for {risks}"
            )
        self.selection, self.bound = selection, found[0]
        self.n_accepted = self.n_units = self.n_sentences = 0
        self.means = []

    def marks(self, answers):
        """Return a mark for every word, and count."""
        marks, n_accepted, n_units = word_marks(answers, self.selection, self.bound)
        self.n_accepted += n_accepted
        self.n_units += n_units
        self._measure(answers)
        return marks

    def add(self, other):
        """Add the counts of another object, for one block of the text."""
        self.n_accepted += other.n_accepted
        self.n_units += other.n_units
        if self.n_sentences < MOST_SENTENCES:
            self.means += other.means
            self.n_sentences += other.n_sentences

    def _measure(self, answers):
        method = self.selection["method"]
        given = {} if method is None else {"method": method}
        words = np.concatenate([np.empty(0), *answers.confidence(**given)])
        means = sentence_means(words, answers.offsets)
        self.means += means.tolist()
        self.n_sentences += len(means)

    def summary(self):
        """Return what was accepted and its bound on the risk, in words."""
        units = UNITS[self.selection["unit"]]
        share = 100 * self.n_accepted / max(self.n_units, 1)
        risk, level = 100 * self.bound["risk"], 100 * self.bound["level"]
        source = self.selection["source"] or "the calibration sentences"
        if not self.bound["threshold"] < float("inf"):
            return f"accepted no {units}: {source} could not guarantee {risk:g} %"
        return (
            f"accepted {share:.1f} % of the {units}; at most {risk:g} % of them are "
            f"wrong, with {level:g} % certainty, if this text is like {source}"
        )

    def difference(self):
        """Return a warning if the text is not like the calibration file, or None."""
        reference = {"confidence": self.selection["reference"]["confidence"]}
        found = difference_in_words(reference, {"confidence": self.means})
        return unlike(found) if found else None

    def report(self, command):
        """Write the summary and, if there is one, the warning to standard error."""
        tell(self.summary())
        warning = self.difference()
        if warning is not None:
            warn(command, warning)


class ConfidenceTally:
    """Collects confidences and whether labels are right, for ``skcw evaluate``.

    Parameters
    ----------
    selection : dict or None
        The thresholds in the model, if it has any.
    """

    def __init__(self, selection):
        self.selection, self.bounds = selection, bounds_of(selection)
        self.confidence, self.correct = [], []
        # For each threshold: units, accepted ones, and wrong ones among these.
        self.counts = np.zeros((len(self.bounds), 3), dtype=int)

    def add(self, answers, y):
        """Count the words of some sentences."""
        from skcw.metrics import token_correct

        correct = token_correct(y, answers.labels())
        self.confidence += map(np.asarray, answers.confidence())
        self.correct += (np.asarray(row, dtype=bool) for row in correct)
        if not self.bounds:
            return
        from skcw.calibration.selective_tagger import unit_outcomes

        right = _joined(unit_outcomes(answers, y, self.selection["unit"])[0])
        for bound, counts in zip(self.bounds, self.counts, strict=True):
            sure = _joined(accepted(answers, self.selection, bound))
            counts += len(sure), sure.sum(), (sure & ~right).sum()

    def figures(self):
        """Return calibration, and accepted share and true risk of each threshold."""
        from skcw.metrics import expected_calibration_error, root_calibration_mse

        words = self.correct, self.confidence
        return {
            "mean_confidence": float(np.concatenate(self.confidence).mean()),
            "expected_calibration_error": expected_calibration_error(*words),
            "root_calibration_mse": root_calibration_mse(*words),
            "accepted": [
                {
                    "unit": self.selection["unit"],
                    "risk_bound": bound["risk"],
                    "level": bound["level"],
                    "accepted_share": taken / max(n, 1),
                    "true_risk": wrong / max(taken, 1),
                }
                for bound, (n, taken, wrong) in zip(
                    self.bounds, self.counts.tolist(), strict=True
                )
            ],
        }

    def text(self):
        """Return the same in words."""
        found = self.figures()
        lines = [
            f"confidence: mean {100 * found['mean_confidence']:.2f}%; expected "
            f"calibration error: {100 * found['expected_calibration_error']:.2f}%; "
            f"root CalibMSE: {found['root_calibration_mse']:.4f}"
        ]
        for one in found["accepted"]:
            lines.append(
                f"accepted {100 * one['accepted_share']:.1f} % of the "
                f"{UNITS[one['unit']]}; {100 * one['true_risk']:.2f} % of them are "
                f"wrong (bound: at most {100 * one['risk_bound']:g} %, with "
                f"{100 * one['level']:g} % certainty)"
            )
        return "\n".join(lines)


def _joined(rows):
    return np.concatenate([np.empty(0, dtype=bool), *rows])
