"""Taggers with their defaults over the grid, beside a CRF whose penalties are tuned."""

import json
import time
import warnings
from collections import defaultdict
from itertools import groupby, product

import numpy as np

from common.measure import progress
from common.tables import (
    at_least,
    at_most,
    format_goals,
    format_table,
)
from common.tagged import (
    ALL,
    BUILT_IN,
    CORPORA,
    FEATURES,
    SIZES,
    encode,
    load,
    part_of,
    sizes_of,
    split,
)
from skcw import (
    AROWSequenceTagger,
    CRFSequenceTagger,
    CWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
)
from skcw.evaluation import confidence_pairs
from skcw.metrics import (
    area_under_risk_coverage,
    error_average_precision,
    root_calibration_mse,
    span_f1_score,
    token_accuracy_score,
)

# ---- What a tagger with a confidence is judged by ----

# In this order they stand in the files of results.
MEASURES = ("score", "accuracy", "confidence", "calibration", "ap", "area", "seconds")


def fit_and_measure(tagger, part, spans):
    """Return the figures of a tagger that learns from a part.

    ``score`` is the F1 of spans, or the accuracy; ``confidence`` the mean of what
    `predict_confidence` says by default; ``calibration`` the root of CalibMSE;
    ``ap`` the average precision of finding wrong words; ``area`` under risk-coverage;
    ``seconds`` of the processor, which others on the machine do not lengthen.
    """
    with warnings.catch_warnings():
        # Some subsets are as small as the warnings say: that is what is measured.
        warnings.simplefilter("ignore")
        start = time.process_time()
        tagger.fit(part.X, part.y)
        seconds = time.process_time() - start
        y_pred = tagger.predict(part.X_test)
        answers = confidence_pairs(tagger, part.X_test, part.y_test)
        accuracy = float(token_accuracy_score(part.y_test, y_pred))
        score = span_f1_score(part.y_test, y_pred) if spans else accuracy
    confidence, correct = answers.confidence, answers.correct.astype(bool)
    return {
        "score": float(score),
        "accuracy": accuracy,
        "confidence": float(np.mean(confidence)),
        "calibration": float(root_calibration_mse(correct, confidence)),
        "ap": float(error_average_precision(correct, confidence)),
        "area": float(area_under_risk_coverage(correct, confidence)),
        "seconds": seconds,
    }


# ---- Means over seeds or subsets: a cell of the grid, as one short line of text ----

KEYS = ("corpus", "features", "size", "learner")
# The lead over the CRF is a mean over the subsets that both have learned from.
COLUMNS = (*KEYS, "n", *MEASURES, "spread", "lead", "lead_spread", "lead_n")


def as_lines(records, crf):
    """Return the means of the records, one line of values a cell and learner.

    JSON would name every value of every cell: five times the length.
    """
    crfs = defaultdict(dict)
    for record in _measured(crf):
        crfs[_place(record)][record["seed"]] = record["score"]
    cells = groupby(sorted(_measured(records), key=_order), key=_cell)
    lines = [",".join(COLUMNS)]
    for cell, group in cells:
        group = list(group)
        means = [np.mean([record[name] for record in group]) for name in MEASURES]
        *lead, n_leads = _leads(group, crfs[cell[:-1]])
        values = [*means, _spread([record["score"] for record in group]), *lead]
        values = map(_as_text, values)
        lines.append(
            ",".join([*map(str, cell), str(len(group)), *values, str(n_leads)])
        )
    return lines


def _leads(group, crfs):
    """Return mean, spread and number of the differences from the CRF's scores."""
    if crfs and group[0]["size"] == ALL:
        # Only our learners depend on a seed.
        leads = [record["score"] - crfs[0] for record in group]
    else:
        shared = [record for record in group if record["seed"] in crfs]
        leads = [record["score"] - crfs[record["seed"]] for record in shared]
    if not leads:
        return None, None, 0
    return np.mean(leads), _spread(leads), len(leads)


def _spread(values):
    return np.std(values, ddof=1) if len(values) > 1 else None


def _as_text(value):
    return "" if value is None else f"{value:.4g}"


def _measured(records):
    return [record for record in records if "left_out" not in record]


def _place(record):
    return record["corpus"], record["features"], record["size"]


def _cell(record):
    return *_place(record), record["learner"]


def _order(record):
    return *map(str, _cell(record)), record["seed"]


def left_out(records):
    """Return the cells that took too long, and how long they would have taken."""
    return [
        ", ".join([*map(str, _place(record)), record["left_out"]])
        for record in records
        if "left_out" in record
    ]


def from_lines(lines):
    """Return ``{(corpus, features, size): {learner: figures}}`` of such lines."""
    cells = defaultdict(dict)
    for line in lines[1:]:
        row = dict(zip(COLUMNS, line.split(","), strict=True))
        place = row["corpus"], row["features"], row["size"]
        cells[place][row["learner"]] = {
            name: float(value) if value else None
            for name, value in row.items()
            if name not in KEYS
        }
    return dict(cells)


# ---- The tuned CRF of the grid ----

CRF = "CRF"
C1, C2 = (0.0, 0.1), (0.01, 0.1, 1.0)
ITERATIONS, TUNING_ITERATIONS, QUICK_ITERATIONS = 100, 50, 10
TUNED_ON, FITTED = 1000, 750
# Subsets by size: fewer than our learners have, for a fit takes far longer.
SUBSETS = {100: 3, 1000: 2, ALL: 1}
MOST_SECONDS = 230


class CRFCells:
    """The figures of the CRF on one corpus with one feature set.

    Parameters
    ----------
    data : Encoded
        The corpus.
    settings : Settings
        With the folder of the cache, or None.
    """

    def __init__(self, data, settings):
        self.data, self.settings = data, settings

    def measure(self, size):
        """Return one record for every subset of a size, made or read."""
        n_subsets = 1 if self.settings.quick else SUBSETS[size]
        return [self._one(size, seed) for seed in range(n_subsets)]

    def _one(self, size, seed):
        return self._kept(f"{size}-{seed}", lambda: self._measure(size, seed))

    def _measure(self, size, seed):
        key = {"size": size, "seed": seed, "learner": CRF}
        key |= {"corpus": self.data.corpus, "features": self.data.features}
        seconds = self._expected_seconds(size)
        if seconds > MOST_SECONDS:
            return key | {"left_out": f"about {seconds:.0f} s"}
        progress(f"CRF: {self.data.corpus}, {self.data.features}, {size}, {seed}")
        part = part_of(self.data, size, seed)
        return key | fit_and_measure(self._tagger(), part, self.data.spans)

    def _expected_seconds(self, size):
        """Return how long a fit on all sentences will take, by that on a part."""
        if size != ALL or 1000 not in sizes_of(self.data, self.settings):
            return 0.0
        part = self._one(1000, 0)
        return part["seconds"] * len(self.data.train) / 1000

    def _tagger(self):
        c1, c2 = self.penalties()
        iterations = QUICK_ITERATIONS if self.settings.quick else ITERATIONS
        return _new_crf(c1, c2, iterations)

    def penalties(self):
        """Return c1 and c2, chosen once on a thousand sentences."""
        if self.settings.quick:
            return C1[0], C2[1]
        chosen = self._kept("penalties", self._tune)
        return chosen["c1"], chosen["c2"]

    def _tune(self):
        progress(f"CRF: penalties for {self.data.corpus}, {self.data.features}")
        part = split(part_of(self.data, TUNED_ON, 100), FITTED)
        score = span_f1_score if self.data.spans else token_accuracy_score

        found = []
        for c1, c2 in product(C1, C2):
            crf = _new_crf(c1, c2, TUNING_ITERATIONS).fit(part.X, part.y)
            reached = float(score(part.y_test, crf.predict(part.X_test)))
            found.append((reached, c1, c2))
        best, c1, c2 = max(found)
        return {"c1": c1, "c2": c2, "score": best, "tried": found}

    def _kept(self, name, work):
        """Return what the work finds, from the cache if it was done before."""
        if self.settings.cache is None:
            return work()
        name = f"{self.data.corpus}-{self.data.features}-{name}.json"
        path = self.settings.cache / "crf" / name.replace(" ", "-")
        if path.exists():
            return json.loads(path.read_text("utf-8"))
        found = work()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found), "utf-8")
        return found


def _new_crf(c1, c2, iterations):
    return CRFSequenceTagger(
        c1=c1, c2=c2, max_iter=iterations, all_possible_transitions=True
    )


def stored_records(cache):
    """Return all records of the CRF that a cache holds."""
    if cache is None:
        return []
    paths = sorted((cache / "crf").glob("*.json"))
    paths = [path for path in paths if not path.stem.endswith("-penalties")]
    return [json.loads(path.read_text("utf-8")) for path in paths]


# ---- What was measured, kept in one file ----

RECORD_KEYS = ("corpus", "features", "size", "seed", "learner")


class Records:
    """The records of one part; those of the cache folder, if any, are not made again.

    Parameters
    ----------
    part : str
        The part of the benchmark.
    settings : Settings
        With the folder of the cache; None: nothing is kept.
    """

    def __init__(self, part, settings):
        self._path = settings.cache and settings.cache / "ours" / f"{part}.json"
        self._by_key = {}
        if self._path and self._path.exists():
            for record in json.loads(self._path.read_text("utf-8")):
                self._by_key[_key(record)] = record

    @property
    def all(self):
        """All records."""
        return list(self._by_key.values())

    def has(self, key):
        """Tell whether this was measured."""
        return _key(key) in self._by_key

    def add(self, key, found):
        """Keep one record."""
        self._by_key[_key(key)] = key | found

    def save(self):
        """Write all records to the cache."""
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        lines = ",\n".join(json.dumps(record) for record in self.all)
        self._path.write_text(f"[{lines}]\n", "utf-8")


def _key(record):
    return tuple(record.get(name) for name in RECORD_KEYS)


# ---- The grid as a table, and what it says about every goal ----

CW, CW_MEAN, OTHERS, CRF = "CW", "CW x8", ("AROW", "PA", "perceptron"), "CRF"
SCORES = (CW, CW_MEAN, *OTHERS, CRF)
# How far CW may stay behind: with few sentences chance is larger.
BEHIND, BEHIND_SMALL, BEHIND_CRF = 0.005, 0.015, 0.01
CALIBRATED = 0.05
SMALL = "100"


def render(found):
    """Return the table and the goals."""
    cells = cells_of(found)
    parts = [
        "Taggers with their defaults: span F1 (accuracy for ARK and EWT) on the test "
        "sets; means of\nseeds (all sentences) or random subsets; the CRF's penalties "
        "are tuned",
        _table(cells),
        format_goals(_goals(cells), found["quick"]),
    ]
    if missing := _without_crf(found, cells):
        parts.append("Cells without the CRF:\n" + "\n".join(missing))
    return "\n\n".join(parts)


def _without_crf(found, cells):
    """Return the cells that took too long, and those that nobody has run."""
    missing = sorted(", ".join(place) for place in cells if CRF not in cells[place])
    too_long = [f"{one}: too long" for one in found["left_out"]]
    known = [one for one in missing if any(x.startswith(one) for x in too_long)]
    return [*too_long, *(f"{one}: not run" for one in missing if one not in known)]


def cells_of(found):
    """Return our cells with the CRF's, in the order of the grid."""
    cells, crf = from_lines(found["ours"]), from_lines(found["crf"])
    grid = [(c, f, str(s)) for c in CORPORA for f in FEATURES for s in SIZES]
    return {
        place: cells[place] | crf.get(place, {}) for place in grid if place in cells
    }


def lead_over_others(cell):
    """Return how far CW is ahead of the best of the other three, or None."""
    if CW not in cell or not set(OTHERS) <= set(cell):
        return None
    return cell[CW]["score"] - max(cell[name]["score"] for name in OTHERS)


def lead_over_crf(cell):
    """Return how far the mean of eight is ahead of the CRF, or None."""
    return cell[CW_MEAN]["lead"] if CW_MEAN in cell else None


def _table(cells):
    header = ["corpus, features, sentences", *SCORES, "CW - best", "CW x8 - CRF"]
    header += [f"cal. {name}" for name in (CW, CW_MEAN, CRF)]
    rows = []
    for place, cell in cells.items():
        scores = [_short(cell.get(name, {}).get("score")) for name in SCORES]
        leads = [_signed(lead_over_others(cell)), _signed(lead_over_crf(cell))]
        errors = [cell.get(name, {}).get("calibration") for name in (CW, CW_MEAN, CRF)]
        rows.append([", ".join(place), *scores, *leads, *map(_short, errors)])
    note = "cal.: root of CalibMSE of predict_confidence by default"
    return f"{format_table(header, rows)}\n{note}"


def _short(value):
    return "-" if value is None else f"{value:.3f}".lstrip("0")


def _signed(value):
    return "-" if value is None else f"{value:+.3f}".replace("0.", ".", 1)


def _goals(cells):
    """Return the goals that the cells of a label can speak of."""
    goals = []
    if any(lead_over_others(cell) is not None for cell in cells.values()):
        goals += _against_others(cells)
    if any(lead_over_crf(cell) is not None for cell in cells.values()):
        goals += _against_crf(cells)
    for name in (CW, CW_MEAN):
        if any(name in cell for cell in cells.values()):
            goals += _calibration(cells, name)
    return goals


def _against_others(cells):
    leads = {place: lead_over_others(cell) for place, cell in cells.items()}
    leads = {place: lead for place, lead in leads.items() if lead is not None}
    small = [lead for place, lead in leads.items() if place[-1] == SMALL]
    large = [lead for place, lead in leads.items() if place[-1] != SMALL]
    goals = []
    for what, found, bound in (
        ("100 sentences", small, BEHIND_SMALL),
        ("more sentences", large, BEHIND),
    ):
        if found:
            goals.append(
                at_least(
                    f"CW - best of three, {what}, worst", min(found), -bound, ".4f"
                )
            )
            behind = sum(lead < -bound for lead in found)
            name = f"CW more than {bound} behind, {what}, of {len(found)} cells"
            goals.append(at_most(name, behind, 0, ".0f"))
    mean = float(np.mean(list(leads.values())))
    return [*goals, at_least("CW - best of three, mean", mean, 0.0, ".4f")]


def _against_crf(cells):
    rows = [cell[CW_MEAN] | {"size": place[-1]} for place, cell in cells.items()]
    rows = [row for row in rows if row["lead"] is not None]
    leads = np.array([row["lead"] for row in rows])
    behind = [row for row in rows if row["lead"] < -BEHIND_CRF]
    sure = sum(row["lead"] + 2 * _chance(row, rows) < -BEHIND_CRF for row in behind)
    share, n = float((leads > 0).mean()), len(rows)
    return [
        at_least(f"CW x8 ahead of the CRF, share of {n} cells", share, 0.75, ".2f"),
        at_most("CW x8 more than .01 behind the CRF, cells", len(behind), 0, ".0f"),
        at_most("the same, beyond two standard errors", sure, 0, ".0f"),
        at_least("CW x8 - CRF, worst", float(leads.min()), -BEHIND_CRF, ".4f"),
        at_least("CW x8 - CRF, mean", float(leads.mean()), 0.0, ".4f"),
    ]


def _chance(row, rows):
    """Return the standard error of a lead; two subsets are too few to say.

    So the spread is that of all cells of the size.
    """
    spreads = [other["lead_spread"] for other in rows if other["size"] == row["size"]]
    spreads = [spread for spread in spreads if spread is not None]
    if not spreads:
        return 0.0
    return float(np.sqrt(np.mean(np.square(spreads)) / row["lead_n"]))


def _calibration(cells, name):
    large = [cell for place, cell in cells.items() if place[-1] != SMALL]
    errors = [cell[name]["calibration"] for cell in large if name in cell]
    goals = []
    if errors:
        above = sum(error > CALIBRATED for error in errors)
        what = f"cells above .05, 1,000 or more, of {len(errors)}"
        goals.append(at_most(f"root CalibMSE of {name}: {what}", above, 0, ".0f"))
        goals.append(
            at_most(f"root CalibMSE of {name}, worst", max(errors), CALIBRATED, ".3f")
        )
    pairs = [
        (cell[name]["calibration"], cell[CRF]["calibration"])
        for cell in cells.values()
        if name in cell and CRF in cell
    ]
    if pairs:
        ours, crfs = map(float, np.mean(pairs, axis=0))
        what = f"root CalibMSE of {name}, mean of {len(pairs)} cells; the CRF's"
        goals.append(at_most(what, ours, crfs, ".4f"))
    return goals


# ---- Taggers with their defaults over the grid ----


def _mean_of_eight(random_state):
    return CWSequenceTagger(n_models=8, random_state=random_state)


TAGGERS = {
    "CW": CWSequenceTagger,
    "CW x8": _mean_of_eight,
    "AROW": AROWSequenceTagger,
    "PA": PASequenceTagger,
    "perceptron": PerceptronSequenceTagger,
}


def run(settings):
    """Return the figures of our learners and of the CRF."""
    crf = measure_crf(settings) if _wanted(settings, [CRF]) else []
    # Read again: the cache may hold corpora that were not asked for now.
    crf = stored_records(settings.cache) or crf
    return {
        "quick": settings.quick,
        "ours": as_lines(measure_ours(settings).all, crf),
        "crf": as_lines(crf, crf),
        "left_out": left_out(crf),
    }


def _wanted(settings, names):
    """Return those of some learners that are asked for: all by default."""
    return [x for x in names if x in settings.learners or not settings.learners]


def measure_crf(settings):
    """Return the CRF's records: what is cheap comes first."""
    records = []
    small = [size for size in SUBSETS if size != ALL]
    few, many = FEATURES[:2], FEATURES[2:]
    for sizes, features in ((small, FEATURES), ([ALL], few), ([ALL], many)):
        for data in _grid(settings, features):
            cells = CRFCells(data, settings)
            for size in sizes_of(data, settings):
                if size in sizes:
                    records += cells.measure(size)
    return records


def measure_ours(settings):
    """Return the records of our learners, saved after every size of a corpus."""
    learners, records = _wanted(settings, TAGGERS), Records("words", settings)
    for data in _grid(settings):
        for size in sizes_of(data, settings):
            progress(f"words: {data.corpus}, {data.features}, {size}")
            for seed in range(settings.seeds):
                key = {"corpus": data.corpus, "features": data.features}
                key |= {"size": size, "seed": seed}
                missing = [x for x in learners if not records.has(key | {"learner": x})]
                if not missing:
                    continue
                part = part_of(data, size, seed)
                for learner in missing:
                    tagger = TAGGERS[learner](random_state=seed)
                    found = fit_and_measure(tagger, part, data.spans)
                    records.add(key | {"learner": learner}, found)
            records.save()
    return records


def _grid(settings, features=FEATURES):
    """Yield every corpus with every one of the feature sets."""
    known = [BUILT_IN] if settings.quick else settings.corpora or CORPORA
    for corpus in known:
        sentences = load(corpus, settings)
        for one in features:
            yield encode(corpus, one, sentences)
