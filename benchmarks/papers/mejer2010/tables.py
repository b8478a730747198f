"""Fig. 1 of Mejer & Crammer (2010): precision against recall after every pass."""

import json
from functools import lru_cache

import numpy as np
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import KFold, train_test_split

from common.corpora import load_paper_set, paper_sets
from common.measure import progress, span_scores
from common.tables import format_table, new_figure, number, save_picture
from skcw import (
    AROWSequenceTagger,
    CWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
)
from skcw.data import SequenceEncoder

# ---- The online learners of the paper on its sets, scored after every pass ----

PASSES = 10
TUNING_SEED = 1
FOLD_SEED = 0
R_GRID = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)

# The paper's CW, to the letter: hard constraints on the best labeling as a whole.
PAPER_CW = CWSequenceTagger(
    C=float("inf"),
    margin_cost=0,
    split_errors=False,
    diagonal="covariance",
    averaging=True,
)
PHI_GRID = (0.1, 0.2, 0.5, 1.0, 2.0)

# The paper's learners: name -> learner, its parameter, the values to choose from. Their
# rival is the best labeling, whatever its cost.
PLAIN = {
    "Perceptron": (PerceptronSequenceTagger(margin_cost=0), None, ()),
    "5-best PA": (
        PASequenceTagger(n_rivals=5, margin_cost=0),
        "C",
        (0.003, 0.01, 0.03, 0.1, 0.3),
    ),
    "CW": (PAPER_CW, "phi", PHI_GRID),
    "AROW": (AROWSequenceTagger(margin_cost=0), "r", R_GRID),
}


def augmented(name):
    """Return what a learner is called that looks for its rival by score and cost."""
    return f"{name}, cost-augmented"


# The same with the rival found by cost-augmented decoding. A wrong label is made better
# by one; by half a unit of its own in CW, which is its default.
AUGMENTED = {
    augmented(name): (
        clone(tagger).set_params(margin_cost=0.5 if tagger is PAPER_CW else 1),
        *grid,
    )
    for name, (tagger, *grid) in PLAIN.items()
}
# The two other ways of keeping the covariance diagonal that the paper tried.
DIAGONALS = {
    f"CW, {name}": (clone(PAPER_CW).set_params(diagonal=diagonal), "phi", PHI_GRID)
    for name, diagonal in {
        "diagonal of the precision": "precision",
        "best diagonal": "optimal",
    }.items()
}
LEARNERS = PLAIN | AUGMENTED | DIAGONALS
for learner, _, _ in LEARNERS.values():
    # Nobody asks here how sure they are; the paper has no weights of unknown tokens.
    learner.set_params(calibrate_confidence=False, learn_unknown_token=False)


@lru_cache(maxsize=1)
def curves_of_all_sets(settings):
    """Return, per set, the tuning and the scores of every learner, fold and pass."""
    return {
        name: kept_curves_of_set(name, settings)
        for name in paper_sets(settings.data_home)
    }


def kept_curves_of_set(name, settings):
    """Return the curves of a set, from the cache if they were made in the same way."""
    stored = settings.cache and settings.cache / f"folds-{name}.json"
    made_by = {learner: repr(how) for learner, how in LEARNERS.items()}
    made_by["folds"] = settings.folds
    if stored and stored.exists():
        kept = json.loads(stored.read_text("utf-8"))
        if kept["made_by"] == made_by:
            return kept["found"]
    found = _curves_of_set(name, settings)
    if stored:
        stored.parent.mkdir(parents=True, exist_ok=True)
        stored.write_text(json.dumps({"made_by": made_by, "found": found}), "utf-8")
    return found


def _curves_of_set(name, settings):
    corpus = load_paper_set(name, settings.data_home, settings.quick)
    progress(f"folds: encoding {name}")
    # One vocabulary for all folds. It also holds names of features that occur in
    # held-out sentences only; no update touches these, their weight is zero.
    batch = SequenceEncoder().fit_transform(corpus.features())
    tuned, tuning, curves = {}, {}, {}
    for learner, (tagger, parameter, grid) in LEARNERS.items():
        tuned[learner] = clone(tagger)
        if parameter and not settings.quick:
            progress(f"folds: {name}, choosing {parameter} of {learner}")
            tuning[learner] = _tune(tagger, parameter, grid, batch, corpus.labels)
            tuned[learner].set_params(**{parameter: tuning[learner]["chosen"]})
    for fold, (train, test) in enumerate(_splits(len(batch), settings)):
        for learner, tagger in tuned.items():
            progress(f"folds: {name}, fold {fold + 1}, {learner}")
            curve = _curve(tagger, fold, batch, corpus.labels, train, test)
            curves.setdefault(learner, []).append(curve)
    sizes = [len(train), len(test)]
    return {"tuning": tuning, "curves": curves, "fold_sizes": sizes}


def _splits(n_sentences, settings):
    """Return (train, test) positions of the folds, or of a single split."""
    if settings.quick:
        return [_three_quarters(n_sentences, FOLD_SEED)]
    folds = KFold(settings.folds, shuffle=True, random_state=FOLD_SEED)
    return list(folds.split(np.arange(n_sentences)))


def _three_quarters(n_sentences, seed):
    positions = np.arange(n_sentences)
    return train_test_split(positions, test_size=0.25, random_state=seed)


def _tune(tagger, parameter, grid, batch, y):
    """Choose a parameter as the paper did: by one random 3/4-1/4 split of the set."""
    train, test = _three_quarters(len(batch), TUNING_SEED)
    y_train, y_test = _rows(y, train), _rows(y, test)
    f1 = {}
    for value in grid:
        model = clone(tagger).set_params(max_iter=PASSES, random_state=TUNING_SEED)
        model.set_params(**{parameter: value}).fit(batch[train], y_train)
        f1[value] = span_scores(y_test, model.predict(batch[test]))["f1"]
    by_name = {str(value): score for value, score in f1.items()}
    return {"parameter": parameter, "f1": by_name, "chosen": max(f1, key=f1.get)}


def _curve(tagger, seed, batch, y, train, test):
    """Return the scores on the test part after every pass.

    ``partial_fit`` makes one more pass and keeps averaging over all rounds so far;
    with a generator, not a seed, every pass has an order of its own.
    """
    model = clone(tagger).set_params(random_state=np.random.RandomState(seed))
    X_train, X_test = batch[train], batch[test]
    y_train, y_test = _rows(y, train), _rows(y, test)
    scores = []
    for _ in range(PASSES):
        model.partial_fit(X_train, y_train)
        scores.append(span_scores(y_test, model.predict(X_test)))
    return scores


def _rows(y, positions):
    return [y[i] for i in positions]


# ---- Table 1 of Mejer & Crammer (2010) ----

# Sentences, words and features, in thousands. English is not among the corpora here.
PAPERS_SIZES = {
    "NP chunking": (11, 259, 1350),
    "Spanish": (10.2, 317.6, 1850),
    "Dutch": (21, 271.5, 1760),
}
NOTE_TABLE1 = """\
Features: distinct strings in the whole set; weights: one for each string and label, and
one for each pair of labels. The paper does not say which of the two it counts."""


def run_table1(settings):
    """Return the size of every set."""
    sets = {}
    for name in paper_sets(settings.data_home):
        corpus = load_paper_set(name, settings.data_home, settings.quick)
        progress(f"table1: encoding {name}")
        batch = SequenceEncoder().fit_transform(corpus.features())
        n_labels = len({label for row in corpus.labels for label in row})
        sets[name] = {
            "sentences": len(batch),
            "words": batch.n_tokens,
            "labels": n_labels,
            "features": batch.n_features,
            "weights": batch.n_features * n_labels + n_labels**2,
            "paper": PAPERS_SIZES.get(name),
        }
    return {"quick": settings.quick, "sets": sets}


def render_table1(found):
    """Return the results as text."""
    title = "Table 1: the sets, in thousands, beside the paper's"
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    header = ["", "sentences", "paper's", "words", "paper's", "features", "paper's"]
    rows = [_row_table1(name, one) for name, one in found["sets"].items()]
    table = format_table([*header, "labels", "weights"], rows)
    return "\n\n".join([title, table, NOTE_TABLE1])


def _row_table1(name, one):
    paper = one["paper"] or (None, None, None)
    cells = []
    for key, theirs in zip(("sentences", "words", "features"), paper, strict=True):
        cells += [f"{one[key] / 1000:.1f}", number(theirs, "g")]
    return [name, *cells, one["labels"], f"{one['weights'] / 1000:.0f}"]


# ---- Table 2 of Mejer & Crammer (2010): F of the online learners ----

REFERENCE = "AROW"
NOTE_TABLE2 = f"""\
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

PAPERS_F = {
    "NP chunking": {
        "AROW": 0.946,
        "CW": 0.947,
        "5-best PA": 0.946,
        "Perceptron": 0.944,
    },
    "Dutch": {"AROW": 0.791, "CW": 0.787, "5-best PA": 0.784, "Perceptron": 0.761},
    "Spanish": {"AROW": 0.775, "CW": 0.774, "5-best PA": 0.773, "Perceptron": 0.756},
}


def run_table2(settings):
    """Return mean F after the last pass, with paired tests against AROW."""
    found = curves_of_all_sets(settings)
    return {
        "quick": settings.quick,
        "folds": 1 if settings.quick else settings.folds,
        "sets": {
            name: {
                "tuning": one["tuning"],
                "learners": _learners(one, PAPERS_F.get(name, {})),
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


def render_table2(found):
    """Return the results as text."""
    folds = (
        "single split, default parameters"
        if found["quick"]
        else (f"means of {found['folds']} folds")
    )
    blocks = [f"Table 2: F after {PASSES} passes, {folds}, beside the paper's"]
    for name, one in found["sets"].items():
        rows = [_row_table2(learner, one) for learner in one["learners"]]
        header = [name, "parameter", "F", "", "p", "p corrected", "decoding", "its p"]
        blocks.append(format_table([*header, "paper's F"], rows))
    blocks.append(NOTE_TABLE2)
    return "\n\n".join(blocks)


def _row_table2(learner, one):
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


# ---- Fig. 1 of Mejer & Crammer (2010) ----

SHOWN_PASSES = (1, 2, 3, 5, 10)
MARKERS = {
    "Perceptron": ("v", "tab:gray"),
    "5-best PA": ("^", "tab:green"),
    "CW": ("o", "tab:blue"),
    "AROW": ("s", "tab:red"),
}


def run_fig1(settings):
    """Return precision and recall after every pass, means over the folds."""
    found = curves_of_all_sets(settings)
    return {
        "quick": settings.quick,
        "folds": 1 if settings.quick else settings.folds,
        "sets": {
            name: {
                learner: {m: _mean_curve(curves, m) for m in ("precision", "recall")}
                for learner, curves in one["curves"].items()
                if learner not in DIAGONALS
            }
            for name, one in found.items()
        },
    }


def _mean_curve(curves, measure):
    values = [[scores[measure] for scores in curve] for curve in curves]
    return np.mean(values, axis=0).tolist()


def draw_fig1(found, path):
    """Draw the curves of every set."""
    sets = found["sets"]
    figure = new_figure(figsize=(4.5 * len(sets), 4.2))
    if figure is None:
        return
    panels = figure.subplots(1, len(sets), squeeze=False)[0]
    for panel, (name, learners) in zip(panels, sets.items(), strict=True):
        for learner, curve in learners.items():
            plain = learner in PLAIN
            marker, color = MARKERS[learner.partition(",")[0]]
            panel.plot(
                curve["recall"],
                curve["precision"],
                marker=marker,
                color=color,
                markersize=4,
                linewidth=1,
                linestyle="-" if plain else ":",
                markerfacecolor="none",
                label=learner if plain else None,
            )
        panel.set(title=name, xlabel="recall", ylabel="precision")
        panel.grid(alpha=0.3)
    panels[0].plot([], [], "k:", linewidth=1, label="cost-augmented")
    panels[0].legend(fontsize="small")
    save_picture(figure, path)


def render_fig1(found):
    """Return the results as text."""
    blocks = [
        f"Fig. 1: precision / recall after each of {PASSES} passes, "
        + ("single split" if found["quick"] else f"means of {found['folds']} folds")
    ]
    for name, learners in found["sets"].items():
        rows = [
            [
                learner,
                *[
                    f"{curve['precision'][p - 1]:.4f} / {curve['recall'][p - 1]:.4f}"
                    for p in SHOWN_PASSES
                ],
            ]
            for learner, curve in learners.items()
        ]
        header = [name, *[f"pass {p}" for p in SHOWN_PASSES]]
        blocks.append(format_table(header, rows))
    return "\n\n".join(blocks)
