"""Risk control on the command line: calibrate, accept or review, evaluate."""

from collections import Counter
from itertools import chain

import numpy as np

from skcw.cli.inputs import check_file
from skcw.cli.messages import UsageError, tell, warn
from skcw.confidence.acceptance import (
    MOST_SENTENCES,
    UNITS,
    exchangeability_failures,
    exchangeability_warning,
    sentence_means,
    word_marks,
)


def calibrated(pipeline, options, held_out):
    """Return a selective tagger around a fitted pipeline.

    Parameters
    ----------
    pipeline : TaggingPipeline
        The model.
    options : argparse.Namespace
        With ``calibrate``, the risks and the unit.
    held_out : (TokenColumns, labels)
        Those of calibration.

    Returns
    -------
    model : SelectiveTagger
        With its thresholds.
    """
    from skcw.calibration import SelectiveTagger
    from skcw.calibration.calibrated_tagger import MOST_KNOWN

    new, y = held_out
    features = pipeline[0].extractor_
    check_file(features, new, options.calibrate, "calibrate", " besides the labels")
    again = pipeline.train_overlap(new)
    if again > MOST_KNOWN and not options.allow_training_data:
        n_known = round(pipeline.train_overlap(new, "sentence") * len(new))
        raise ValueError(
            f"the model has learned from {100 * again:.0f} % of the words of "
            f"{options.calibrate}, in {n_known} of {len(new)} sentences, so that they "
            "do not tell how often it is right; --allow-training-data calibrates on "
            "them anyway"
        )
    model = SelectiveTagger(
        pipeline,
        risk=options.accept_risk or [0.01],
        confidence_level=options.confidence_level,
        unit=options.accept_unit,
        cv="prefit",
        allow_training_data=True,
    )
    model.fit(new, y)
    model.source_ = options.calibrate
    return model


class Acceptance:
    """Marks words by a threshold, and counts what was accepted.

    Parameters
    ----------
    selection : dict or None
        The thresholds in the model.
    risk : float, default=None
        The risk whose threshold is used; None is the first.
    """

    def __init__(self, selection, risk=None):
        if selection is None:
            # A fault of the model, which the usage of the command does not mend.
            raise ValueError(
                "the model has no threshold for accepting; `skcw train` with "
                "--calibrate FILE and --accept-risk gives it one"
            )
        made = [p for p in selection["thresholds"] if risk in (None, p["risk"])]
        if not made:
            risks = ", ".join(f"{p['risk']:g}" for p in selection["thresholds"])
            raise UsageError(
                f"the model has no threshold for a risk of {risk:g}, only for {risks}"
            )
        self.selection = selection
        self.bound, self.threshold = made[0], float(made[0]["threshold"])
        self.n_accepted = self.n_units = self.n_sentences = 0
        self.means = []

    def marks(self, answers):
        """Return a mark for every word, and count."""
        marks, n_accepted, n_units = word_marks(answers, self.selection, self.threshold)
        self.n_accepted += n_accepted
        self.n_units += n_units
        method = self.selection["method"]
        given = {} if method is None else {"method": method}
        words = np.concatenate([np.empty(0), *answers.confidence(**given)])
        means = sentence_means(words, answers.offsets)
        self.means += means.tolist()
        self.n_sentences += len(means)
        return marks

    def add(self, other):
        """Add the counts of another object, for one block of the text."""
        self.n_accepted += other.n_accepted
        self.n_units += other.n_units
        if self.n_sentences < MOST_SENTENCES:
            self.means += other.means
            self.n_sentences += other.n_sentences

    def summary(self):
        """Return what was accepted and the bound on its risk, in words."""
        units = UNITS[self.selection["unit"]]
        share = 100 * self.n_accepted / max(self.n_units, 1)
        risk = 100 * self.bound["risk"]
        level = 100 * self.bound["confidence_level"]
        if not self.threshold < float("inf"):
            return _refusal(self.selection, self.bound)
        source = _source(self.selection)
        return (
            f"accepted {share:.1f} % of the {units}; at most {risk:g} % of them are "
            f"wrong, with {level:g} % certainty, if this text is like {source}"
        )

    def report(self, command):
        """Tell what was accepted; warn if the text is not like the calibration file."""
        tell(self.summary())
        reference = {"confidence": self.selection["reference"]["confidence"]}
        found = exchangeability_failures(reference, {"confidence": self.means})
        if found:
            warn(command, exchangeability_warning(found))


def _source(selection):
    return selection["source"] or "the calibration sentences"


def _refusal(selection, bound):
    """Return in words that nothing is accepted, since no threshold keeps the risk."""
    return (
        f"accepted no {UNITS[selection['unit']]}: {_source(selection)} cannot "
        f"guarantee a risk of {100 * bound['risk']:g} %"
    )


class ConfidenceTally:
    """Collects confidences and whether labels are right, for ``skcw evaluate``.

    Parameters
    ----------
    selection : dict or None
        The thresholds in the model, if it has any.
    """

    def __init__(self, selection):
        self.confidence, self.correct = [], []
        self.labels, self.classes = Counter(), ()
        self.selection = selection
        self.bounds = (selection or {}).get("thresholds", ())
        self.accepted = [[0, 0, 0] for _ in self.bounds]

    def add(self, answers, y):
        """Count the words of some sentences."""
        from skcw.metrics import token_correct

        self.labels.update(chain.from_iterable(y))
        self.classes = answers.classes
        for row, right in zip(
            answers.confidence(), token_correct(y, answers.labels()), strict=True
        ):
            self.confidence.append(np.asarray(row))
            self.correct.append(np.asarray(right, dtype=bool))
        if self.selection is not None:
            self._accept(answers, y)

    def _accept(self, answers, y):
        from skcw.calibration.selective_tagger import unit_outcomes
        from skcw.confidence.acceptance import accepted

        right, _ = unit_outcomes(answers, y, self.selection["unit"])
        right = np.concatenate([np.empty(0, dtype=bool), *right])
        for counts, bound in zip(self.accepted, self.bounds, strict=True):
            sure = accepted(answers, self.selection, float(bound["threshold"]))
            sure = np.concatenate([np.empty(0, dtype=bool), *sure])
            counts[0] += len(sure)
            counts[1] += int(sure.sum())
            counts[2] += int((sure & ~right).sum())

    def figures(self):
        """Return calibration, and accepted share and true risk of each threshold."""
        from skcw.metrics import expected_calibration_error, root_calibration_mse

        words = self.correct, self.confidence
        found = {
            "mean_confidence": _mean(self.confidence),
            "expected_calibration_error": expected_calibration_error(*words),
            "root_calibration_mse": root_calibration_mse(*words),
            "accepted": [],
        }
        for (n, taken, wrong), bound in zip(self.accepted, self.bounds, strict=True):
            found["accepted"].append(
                {
                    "unit": self.selection["unit"],
                    "risk_bound": bound["risk"],
                    "confidence_level": bound["confidence_level"],
                    "accepted_share": taken / max(n, 1),
                    "true_risk": wrong / max(taken, 1),
                }
            )
        return found

    def text(self):
        """Return the same in words."""
        found = self.figures()
        lines = [
            f"confidence: mean {100 * found['mean_confidence']:.2f}%; expected "
            f"calibration error: {100 * found['expected_calibration_error']:.2f}%; "
            f"root CalibMSE: {found['root_calibration_mse']:.4f}"
        ]
        for one, bound in zip(found["accepted"], self.bounds, strict=True):
            if not float(bound["threshold"]) < float("inf"):
                lines.append(_refusal(self.selection, bound))
                continue
            lines.append(
                f"accepted {100 * one['accepted_share']:.1f} % of the "
                f"{UNITS[one['unit']]}; {100 * one['true_risk']:.2f} % of them are "
                f"wrong (bound: at most {100 * one['risk_bound']:g} %, with "
                f"{100 * one['confidence_level']:g} % certainty)"
            )
        return "\n".join(lines)


def _mean(rows):
    total = sum(float(row.sum()) for row in rows)
    return total / max(sum(len(row) for row in rows), 1)
