"""Speed and memory of confidence methods, beside the marginals of CRFsuite."""

import statistics
import time

from common.corpora import load_chunking
from common.crfsuite import CRFsuite
from common.measure import progress, timed
from common.tables import at_least, at_most, format_goals, format_table, number
from skcw import CWSequenceTagger
from skcw.confidence.methods import METHODS as METHODS_KNOWN

PASSES = 10
DRAWS, K = 50, 30
CRF = "CRFsuite, marginals"
DEFAULT, MARGINAL, LABELS = "the default", "marginal", "labels alone"
KD_PC = f"kd-pc, {DRAWS} draws"
INDEPENDENT, KBV = f"kd-independent, {DRAWS} draws", f"kbv, K = {K}"
# Row: method, options.
METHODS = {
    DEFAULT: (None, {}),
    MARGINAL: ("marginal", {}),
    KD_PC: ("kd-pc", {"n_draws": DRAWS}),
    INDEPENDENT: ("kd-independent", {"n_draws": DRAWS}),
    f"kd-fixed, {DRAWS} draws": ("kd-fixed", {"n_draws": DRAWS}),
    f"draw-marginal, {DRAWS} draws": ("draw-marginal", {"n_draws": DRAWS}),
    KBV: ("kbv", {"n_best": K}),
    "delta-max": ("delta-max", {}),
    "delta-probit": ("delta-probit", {}),
    "delta": ("delta", {}),
}
# What is timed. Each begins with lists of feature strings and ends with the labels of
# all words and how sure they are, but for the last, which begins with a SequenceBatch.
CHOSEN, ALL, BATCH = "chosen label", "all labels", "chosen label, from batch"
SPANS = (CHOSEN, ALL, BATCH)
NOTE = """\
Seconds of the processor for the whole test set, all threads together; medians over the
runs, the rows taking turns. Chosen label, all labels: from lists of feature strings to
the best labeling and the confidence of the chosen or of every label of every word, the
same span for CRFsuite and skcw. For all labels CRFsuite makes dicts, as
sklearn-crfsuite returns them, skcw one array; methods without a number there judge the
chosen label only. CRFsuite:
perceptron, 10 passes. skcw: CW, 10 passes; the default: what fit has chosen."""


def run(settings):
    """Return the medians of the rows, and the goals."""
    train, test = load_chunking(settings.data_home, settings.quick)
    X, X_test = train.features(), test.features()
    progress("speed: training")
    crf = CRFsuite("ap", max_iterations=PASSES).fit(X, train.labels)
    crf.predict_marginals(X_test[:1])
    tagger = CWSequenceTagger(max_iter=PASSES, random_state=0).fit(X, train.labels)
    batch = tagger.encode(X_test)
    work = {
        CRF: {
            CHOSEN: lambda: crf.predict_confidence(X_test),
            ALL: lambda: (crf.predict(X_test), crf.predict_marginals(X_test)),
        }
    }
    work[LABELS] = {
        CHOSEN: lambda: tagger.predict(X_test),
        BATCH: lambda: tagger.predict(batch),
    }
    for name, row in METHODS.items():
        work[name] = _calls(tagger, X_test, batch, *row)
    rows = _take_turns(work, settings.seeds)
    return {
        "quick": settings.quick,
        "corpus": f"{test.name}, {batch.n_tokens} words, {len(tagger.classes_)} labels",
        "default": tagger.confidence_source_,
        "runs": settings.seeds,
        "rows": rows,
        "goals": _goals(rows),
    }


def _calls(tagger, X, batch, method, options):
    """Return what to time of a method, by span."""

    def asked(X):
        answers = tagger.predict_all(X)
        return answers, answers.labels()

    calls = {
        CHOSEN: lambda: asked(X)[0].confidence(method, **options),
        BATCH: lambda: asked(batch)[0].confidence(method, **options),
    }
    if method is None or METHODS_KNOWN[method].any_label:
        calls[ALL] = lambda: asked(X)[0].label_table(method, **options)
    return calls


def _take_turns(work, turns):
    """Return medians of CPU seconds, by row and span."""
    seconds = {name: {} for name in work}
    for turn in range(turns):
        progress(f"speed: run {turn + 1} of {turns}")
        for name, calls in work.items():
            for span, call in calls.items():
                _, used = timed(call, clock=time.process_time)
                seconds[name].setdefault(span, []).append(used)
    return {
        name: {span: statistics.median(values) for span, values in row.items()}
        for name, row in seconds.items()
    }


def _goals(rows):
    crf = rows[CRF]
    share = {name: row[CHOSEN] / crf[CHOSEN] for name, row in rows.items()}
    all_labels = rows[MARGINAL][ALL] / crf[ALL]
    to_labels = rows[DEFAULT][BATCH] / rows[LABELS][BATCH]
    independent = rows[KD_PC][BATCH] / rows[INDEPENDENT][BATCH]
    return [
        at_most(f"{DEFAULT}: share of CRFsuite's marginals", share[DEFAULT], 1, ".2f"),
        at_most(f"{DEFAULT} from batch: times {LABELS}", to_labels, 1.4, ".2f"),
        at_most(f"{KD_PC}: share", share[KD_PC], 2, ".2f"),
        at_least(f"{INDEPENDENT} from batch: times faster than kd-pc", independent, 3),
        at_most(f"{KBV}: share", share[KBV], 2, ".2f"),
        at_most("marginal, all labels: share", all_labels, 0.5, ".2f"),
        *[
            at_most(f"{name}: share", share[name], 0.5, ".2f")
            for name in ("delta", "delta-max", "marginal")
        ],
    ]


def render(found):
    """Return the results as text."""
    crf = found["rows"][CRF]
    rows = [
        [
            name,
            *(number(row.get(span), ".3f") for span in SPANS),
            number(row[CHOSEN] / crf[CHOSEN], ".2f"),
            number(row[ALL] / crf[ALL] if ALL in row else None, ".2f"),
        ]
        for name, row in found["rows"].items()
    ]
    header = ("", *SPANS, "share, chosen", "share, all")
    title = f"Speed: {found['corpus']}; medians of {found['runs']} runs"
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    goals = format_goals(found["goals"], found["quick"])
    table = format_table(header, rows)
    return "\n\n".join([title, table, NOTE, goals])
