"""What the maps of a calibrated tagger change."""

from functools import partial

import numpy as np
from _defaults_table import render_groups
from _measure import progress
from _scores import centerd_rmse
from _travel_corpora import BUILT_IN, DUTCH, NP, SPANISH, encode, load, part_of

from skcw import CWSequenceTagger
from skcw.calibration import CalibratedTagger
from skcw.metrics import error_average_precision, log_loss

TITLE = "Maps of a calibrated tagger"
NOTE = """\
A CW tagger learns from {n:,} training sentences with the ready features; five folds of
these teach the map. On the test set: RMSE over 20 bins, log loss of "is this label
right?", and the average precision of finding errors."""
SENTENCES, QUICK_SENTENCES = 3000, 60
MAPS = {
    "uncalibrated": {"method": "identity"},
    "isotonic": {"method": "isotonic"},
    "isotonic, one map": {"method": "isotonic", "ensemble": False},
    "sigmoid": {"method": "sigmoid"},
    "temperature": {"method": "temperature"},
    "beta": {"method": "beta"},
    "beta for each label": {"method": "beta", "per_label": True},
}


def run(settings):
    """Return what every map reaches on every set."""
    sets = (BUILT_IN,) if settings.quick else (NP, SPANISH, DUTCH)
    rows = {row: {} for row in MAPS}
    for name in sets:
        part = part_of(
            encode(name, "ready", load(name, settings)),
            QUICK_SENTENCES if settings.quick else SENTENCES,
            0,
        )
        for row, options in MAPS.items():
            progress(f"calibrated: {row}, {name}")
            tagger = CalibratedTagger(CWSequenceTagger(random_state=0), **options)
            rows[row][name] = _judged(tagger.fit(part.X, part.y), part)
    return {"quick": settings.quick, "groups": {"marginals": rows}}


def _judged(tagger, part):
    answers = tagger.predict_all(part.X_test)
    right = np.concatenate(list(answers.labels())) == np.concatenate(part.y_test)
    sure = np.concatenate(list(answers.confidence()))
    measures = centerd_rmse, log_loss, error_average_precision
    return [float(measure(right, sure)) for measure in measures]


render = partial(render_groups, TITLE, NOTE.format(n=SENTENCES))
