"""Speed and memory of confidence methods, beside the marginals of CRFsuite."""

import statistics
import tempfile
from pathlib import Path

from _corpora import load_chunking
from _crfsuite import CRFsuite
from _measure import added_memory, in_fresh_process, progress, timed
from _tables import at_least, at_most, format_goals, format_table, number

import skcw
from skcw import CWSequenceTagger

PASSES = 10
DRAWS, MANY_DRAWS, K = 50, 500, 30
MARGINALS = "CRFsuite predict_marginals"
KD_PC, KD_PC_TWO = f"kd-pc, {DRAWS} draws", f"kd-pc, {DRAWS} draws, two threads"
INDEPENDENT, KBV = f"kd-independent, {DRAWS} draws", f"kbv, K = {K}"
MORE_MEMORY = 1.1
# Row: method, options, threads.
METHODS = {
    KD_PC: ("kd-pc", {"n_draws": DRAWS}, None),
    KD_PC_TWO: ("kd-pc", {"n_draws": DRAWS}, 2),
    INDEPENDENT: ("kd-independent", {"n_draws": DRAWS}, None),
    f"kd-fixed, {DRAWS} draws": ("kd-fixed", {"n_draws": DRAWS}, None),
    f"draw-marginal, {DRAWS} draws": ("draw-marginal", {"n_draws": DRAWS}, None),
    KBV: ("kbv", {"n_best": K}, None),
    "marginal": ("marginal", {}, None),
    "delta-max": ("delta-max", {}, None),
    "delta-probit": ("delta-probit", {}, None),
    "delta": ("delta", {}, None),
}
NOTE = """\
Medians over the runs, the rows taking turns; seconds for the whole test set, the best
labeling included. From strings: the same lists of feature strings for all. From batch:
from a SequenceBatch. CRFsuite: perceptron, 10 passes; all labels of all words, as
sklearn-crfsuite's predict_marginals returns them. skcw: CW, 10 passes, default scale.
Memory: what one call on the batch adds to a fresh process at its peak."""


def run(settings):
    """Return the medians of the rows, memory, and the goals."""
    train, test = load_chunking(settings.data_home, settings.quick)
    X, X_test = train.features(), test.features()
    progress("speed: training")
    crf = CRFsuite("ap", max_iterations=PASSES).fit(X, train.labels)
    crf.predict_marginals(X_test[:1])
    tagger = CWSequenceTagger(max_iter=PASSES, random_state=0).fit(X, train.labels)
    work = {MARGINALS: {"strings": lambda: crf.predict_marginals(X_test)}}
    batch = tagger.encode(X_test)
    for name, row in METHODS.items():
        work[name] = {
            "strings": _call(tagger, X_test, *row),
            "batch": _call(tagger, batch, *row),
        }
    rows = _take_turns(work, settings.seeds)
    memory = _memory(tagger, settings)
    return {
        "quick": settings.quick,
        "corpus": f"{test.name}, {batch.n_tokens} words, {len(tagger.classes_)} labels",
        "runs": settings.seeds,
        "rows": rows,
        "memory": memory,
        "goals": _goals(rows, memory),
    }


def _call(tagger, X, method, options, n_jobs):
    def call():
        tagger.set_params(n_jobs=n_jobs)
        return tagger.predict_confidence(X, method, **options)

    return call


def _take_turns(work, turns):
    seconds = {name: {source: [] for source in calls} for name, calls in work.items()}
    for turn in range(turns):
        progress(f"speed: run {turn + 1} of {turns}")
        for name, calls in work.items():
            for source, call in calls.items():
                seconds[name][source].append(timed(call)[1])
    return {
        name: {source: statistics.median(values) for source, values in row.items()}
        for name, row in seconds.items()
    }


def _memory(tagger, settings):
    """Return the megabytes that few and many draws add to a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        tagger.save(path)
        found = {}
        for n_draws in (DRAWS, MANY_DRAWS):
            progress(f"speed: memory of {n_draws} draws")
            found[str(n_draws)] = in_fresh_process(
                _added_by_draws, path, n_draws, settings.data_home, settings.quick
            )
    return found


def _added_by_draws(path, n_draws, data_home, quick):
    [test] = load_chunking(data_home, quick, parts=["test"])
    tagger = skcw.load(path)
    batch = tagger.encode(test.features())
    del test
    return added_memory(
        lambda: tagger.predict_confidence(batch, "kd-pc", n_draws=n_draws)
    )


def _goals(rows, memory):
    crf = rows[MARGINALS]["strings"]
    share = {name: row["strings"] / crf for name, row in rows.items()}
    independent = rows[KD_PC]["batch"] / rows[INDEPENDENT]["batch"]
    return [
        at_most(f"{KD_PC}: share of CRFsuite's marginals", share[KD_PC], 2, ".2f"),
        at_most(f"{KD_PC_TWO}: share", share[KD_PC_TWO], 1.2, ".2f"),
        at_least(f"{INDEPENDENT} from batch: times faster than kd-pc", independent, 3),
        at_most(f"{KBV}: share", share[KBV], 2, ".2f"),
        *[
            at_least(f"{name} from batch: times faster", crf / rows[name]["batch"], 5)
            for name in ("delta", "delta-max", "marginal")
        ],
        at_most(
            f"memory, {MANY_DRAWS} draws over {DRAWS}",
            memory[str(MANY_DRAWS)] / max(memory[str(DRAWS)], 1.0),
            MORE_MEMORY,
            ".2f",
        ),
    ]


def render(found):
    """Return the results as text."""
    crf = found["rows"][MARGINALS]["strings"]
    rows = [
        [
            name,
            number(row["strings"], ".3f"),
            number(row.get("batch"), ".3f"),
            number(row["strings"] / crf, ".2f"),
        ]
        for name, row in found["rows"].items()
    ]
    header = ("", "from strings s", "from batch s", "share of CRFsuite")
    title = f"Speed: {found['corpus']}; medians of {found['runs']} runs"
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    memory = ", ".join(f"{n} draws {mb:.1f} MB" for n, mb in found["memory"].items())
    goals = format_goals(found["goals"], found["quick"])
    table = format_table(header, rows)
    return "\n\n".join([title, table, NOTE, f"Memory added: {memory}.", goals])
