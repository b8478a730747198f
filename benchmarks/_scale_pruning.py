"""What pruned models lose: scores, confidence and the size of their files."""

from copy import deepcopy
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from _measure import MB
from _tables import at_least, format_table, number

from skcw import CWSequenceTagger
from skcw.metrics import root_calibration_mse, span_f1_score, token_accuracy_score

# None is the model as it was trained; 0 only forgets features without weights.
SHARES = (None, 0, 0.25, 0.5, 0.75, 0.9)
DEFAULT = 0.25
NOTE = """\
Pruned: CW with confidences at its defaults, and after prune(share): scores as above,
the share of words whose label is another one, root CalibMSE of the confidences,
thousands of features, and the file in full and in half precision; mean over seeds."""
FORMS = {
    "score": ".4f",
    "other": ".3%",
    "calibration": ".4f",
    "features": ".0f",
    "file": ".1f",
    "half": ".1f",
}
HEADER = ("corpus", "share", "score", "others", "root CalibMSE", "features k")


def measured(data, seeds):
    """Return a row for each share: means over the seeds."""
    runs = [_run(data, seed) for seed in range(seeds)]
    return [
        {
            "share": share,
            **{key: float(np.mean([run[i][key] for run in runs])) for key in FORMS},
        }
        for i, share in enumerate(SHARES)
    ]


def _run(data, seed):
    tagger = CWSequenceTagger(random_state=seed).fit(data.train, data.train_labels)
    first = tagger.predict(data.test)
    return [_pruned(tagger, share, data, first) for share in SHARES]


def _pruned(tagger, share, data, first):
    tagger, test = deepcopy(tagger), data.test
    names = len(tagger.vocabulary_)
    if share is not None:
        # The batch was encoded before: without what will be forgotten it is the same.
        belief = tagger.prune(share, drop_features=False).belief_
        test = test._compact()
        test = test._filtered((belief.row_of != belief.width)[test.indices])
    answers = tagger.predict_all(test)
    labels, sure = answers.labels(), answers.confidence()
    gold, found = (np.array(list(chain(*rows))) for rows in (data.test_labels, labels))
    if share is not None:
        names = len(tagger.prune(0).vocabulary_)
    score = span_f1_score if data.spans else token_accuracy_score
    whole, half = _sizes(tagger)
    return {
        "score": score(data.test_labels, labels),
        "other": 1.0 - token_accuracy_score(first, labels),
        "calibration": root_calibration_mse(gold == found, np.concatenate(sure)),
        "features": names / 1000,
        "file": whole,
        "half": half,
    }


def _sizes(tagger):
    """Return the megabytes of a tagger's file, and of one in half precision."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        sizes = []
        for dtype in (None, "float16"):
            tagger.save(path, dtype=dtype)
            sizes.append(path.stat().st_size / MB)
    return sizes


def goal(found):
    """Return whether the default share costs little anywhere."""
    gains = []
    for row in found:
        score = {line["share"]: line["score"] for line in row["lines"]}
        gains.append(score[DEFAULT] - score[None])
    return at_least(f"least gain by prune({DEFAULT})", min(gains), -0.0005, ".5f")


def render(found):
    """Return the table."""
    rows = [
        (
            row["corpus"],
            "-" if line["share"] is None else line["share"],
            *(number(line[key], form) for key, form in FORMS.items()),
        )
        for row in found
        for line in row["lines"]
    ]
    return format_table((*HEADER, "file MB", "half MB"), rows)
