"""The figures of the README and of benchmarks/README.md are those of stored results.

Rounding is included. A cell is tied to its result by a path such as
``speed/rows/skcw CW/fit``. A change of either side fails here, and the message says
what each cell should be.
"""

import csv
import json
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

PROJECT = Path(__file__).resolve().parents[2]
RESULTS = PROJECT / "benchmarks" / "results"
PAGES = {
    name: (PROJECT / name).read_text(encoding="utf-8")
    for name in ("README.md", "benchmarks/README.md")
}
README = "README.md"
NUMBER = re.compile(r"-?\d{1,3}(?:,\d{3})+|-?\d*\.\d+|-?\d+")


class Table(NamedTuple):
    """A table of a page, and where its figures come from."""

    file: str
    header: str
    rows: dict  # what a row is called on the page and in the results
    columns: list  # the paths of each column's figures, with {row} for the row
    page: str = "benchmarks/README.md"


SETS = ("NP chunking", "Spanish", "Dutch")
TEXTS = ("20 News", "Amazon 4", "Enron A", "Enron B", "Reuters")
QUERIES = ("UD-EWT", "ARK")

LEARNERS = ("CW", "CW x8", "CRF")
CALLED = {"CW": "CW", "CW x8": "mean of eight CW", "CRF": "tuned CRF"}

TABLES = {
    "the one of the README": Table(
        "travel",
        "| | F1 or accuracy | calibration error | average precision | area | fit s |",
        {
            "chunks": "CoNLL-2000",
            "noun phrases": "NP",
            "Spanish names": "Spanish",
            "Dutch names": "Dutch",
            "made-up names": "built-in",
            "tags of tweets": "ARK",
            "tags of web text, 1,000 sentences": "EWT XPOS",
        },
        [
            [f"ready/{{row}}/{learner}/{what}" for learner in LEARNERS]
            for what in ("score", "calibration", "ap", "area", "seconds")
        ],
        "README.md",
    ),
    "defaults that travel": Table(
        "travel",
        "| | before | now | tuned CRF |",
        {
            "mean F1 or accuracy over 80 cells: CW": "CW",
            "AROW, PA, perceptron": "others",
            "CW behind the best of these three: mean, worst cell": "behind",
            "mean of eight CW ahead of the tuned CRF, of 76 cells": "ahead",
            "root CalibMSE of CW as it comes, mean of 76 cells": "calibration",
            "cells of 1,000 sentences or more where it is above .05": "above",
        },
        [[f"summary/{label}/{{row}}"] for label in ("before", "after", "CRF")],
    ),
    "taggers": Table(
        "tagging",
        "| tagger | fit s | predict s | F1 | memory MB |",
        {
            "`CWSequenceTagger`": "skcw CW",
            "`AROWSequenceTagger`": "skcw AROW",
            "`PASequenceTagger`": "skcw 5-best PA",
            "`PerceptronSequenceTagger`": "skcw perceptron",
            "CRFsuite averaged perceptron, 10 passes": "CRFsuite ap, 10 passes",
            "the same, all states and transitions": (
                "CRFsuite ap, 10 passes, all states and transitions"
            ),
            "CRFsuite L-BFGS, 60 iterations": "CRFsuite lbfgs, 60 iterations",
        },
        [[f"speed/rows/{{row}}/{what}"] for what in ("fit", "predict", "f1", "memory")],
    ),
    "from columns to labels": Table(
        "features",
        "| | features s | fit s | tag s | F1 | peak memory MB |",
        {
            "`WindowFeatures`, columns of a file": "skcw, columns of a file",
            "`WindowFeatures`, lists of tuples": "skcw, lists of tuples",
            "Python strings and CRFsuite": "Python strings + CRFsuite ap",
        },
        [
            [f"speed/rows/{{row}}/{what}"]
            for what in ("features", "fit", "tag", "f1", "memory")
        ],
    ),
    "larger sets": Table(
        "tagging",
        "| | NP chunks | Spanish names | Dutch names |",
        {
            "one CW model (fit s)": "CW",
            "mean of eight, `n_models=8`": "mean of 8 CW",
            "tuned CRF": "tuned CRF",
        },
        [
            [f"table3/sets/{name}/rows/{{row}}/{what}" for what in ("f1", "fit")]
            for name in SETS
        ],
    ),
    "confidence": Table(
        "travel",
        "| | left 1,000 | left 5,000 | RMSE | average precision | area |",
        {
            f"{called}: {CALLED[learner]}": f"{name}/{learner}"
            for called, name in zip(
                ("NP chunks", "Spanish names", "Dutch names"), SETS, strict=True
            )
            for learner in LEARNERS
        },
        [
            [f"review/{{row}}/{what}"]
            for what in ("left_1000", "left_5000", "rmse", "ap", "area")
        ],
    ),
    "confidence elsewhere": Table(
        "travel",
        "| | accuracy | root CalibMSE | average precision | area |",
        {
            f"{called}: {CALLED[learner]}": f"{name}/{learner}"
            for called, name in (
                ("ARK tweets", "ARK"),
                ("UD-EWT, 1,000 sentences", "EWT XPOS"),
            )
            for learner in LEARNERS
        },
        [[f"ready/{{row}}/{what}"] for what in ("score", "calibration", "ap", "area")],
    ),
    "speed of confidence": Table(
        "confidence",
        "| | chosen label s | all labels s |",
        {
            "CRFsuite's marginals": "CRFsuite, marginals",
            "`marginal`": "marginal",
            "the default, `draw-marginal-fixed`": "the default",
            "`kd-pc`, 50 draws": "kd-pc, 50 draws",
            "`kd-fixed`, 50 draws": "kd-fixed, 50 draws",
            "`kbv`, K = 30": "kbv, K = 30",
            "`delta`": "delta",
        },
        [[f"speed/rows/{{row}}/{span}"] for span in ("chosen label", "all labels")],
    ),
    "the paper's learners": Table(
        "tagging",
        "| | NP chunks | Spanish names | Dutch names |",
        {
            "perceptron": "Perceptron",
            "5-best PA": "5-best PA",
            "CW": "CW",
            "AROW": "AROW",
        },
        [
            [
                f"table2/sets/{name}/learners/{{row}}{decoder}/f1"
                for decoder in ("", ", cost-augmented")
            ]
            for name in SETS
        ],
    ),
    "classifiers": Table(
        "multiclass",
        "| 20 Newsgroups | fit s | accuracy |",
        {
            "`MultiClassCW`, 5 passes": "MultiClassCW",
            "`MultiClassAROW`, 5 passes": "MultiClassAROW",
            "`LinearSVC`, best C": "LinearSVC",
            "`LinearSVC`, C = 1": "LinearSVC, C = 1",
            "`SGDClassifier`, passive-aggressive, 5 passes": "SGDClassifier pa1",
            "Vowpal Wabbit, `--oaa`, 20 passes": "Vowpal Wabbit",
            "the same, lines of text written before": (
                "Vowpal Wabbit, lines written before"
            ),
        },
        [[f"fits/rows/{{row}}/{what}"] for what in ("seconds", "accuracy")],
    ),
    "taggers beside Vowpal Wabbit": Table(
        "tagging",
        "| tagger | encode s | train s | fit s | predict s | F1 |",
        {
            "`CWSequenceTagger`, 10 passes": "skcw CW",
            "CRFsuite averaged perceptron, 10 passes": "CRFsuite ap, 10 passes",
            "Vowpal Wabbit, 3 passes": "Vowpal Wabbit",
        },
        [
            [f"vowpal/rows/{{row}}/{what}"]
            for what in ("encode", "train", "fit", "predict", "f1")
        ],
    ),
    "accuracy of classifiers": Table(
        "multiclass",
        "| | 20 News | Amazon 4 | Enron A | Enron B | Reuters |",
        {
            "CW, one rival": "CW k=1",
            "CW, all rivals in turn": "CW all",
            "PA, one rival": "PA k=1",
            "multi-class SVM": "SVM MC",
            "maximum entropy": "maxent",
            "`MultiClassCW()` as it comes": "CW as it comes",
        },
        [[f"tables/sets/{name}/accuracy/{{row}}"] for name in TEXTS],
    ),
    "calibration": Table(
        "calibration",
        '| | UD-EWT | "NN?" | ARK | "V?" |',
        {
            "`HMMSequenceTagger`": "HMM",
            "CRF, transitions and words": "CRF-basic",
            "CRF, all features": "CRF-rich",
            "CW, all features, `kd-fixed`": "CW, kd-fixed, fitted",
        },
        [
            paths
            for name in QUERIES
            for paths in (
                [f"100*thesis/corpora/{name}/rows/{{row}}/accuracy"],
                [f"thesis/corpora/{name}/rows/{{row}}/query/{i}" for i in range(3)],
            )
        ],
    ),
    "active learning": Table(
        "active",
        "| | NP chunks | Spanish names | Dutch names |",
        {
            "random sentences": "random",
            "best": "best",
            "best, 20 fits": "best (20 fits)",
            "CRF, least confident word, 20 fits": "CRF (20 fits)",
        },
        [[f"sequences/sets/{name}/strategies/{{row}}/needed"] for name in SETS],
    ),
}

# Text of a page with {} for each figure, the file and the paths of these.
DECODING = "table2/sets/{}/learners/{}, cost-augmented/{}"
SENTENCES = [
    (
        "Encoded once as a `SequenceBatch`, CW trains in {} s and predicts in {} s.",
        "tagging",
        ["speed/rows/skcw CW/train", "speed/rows/skcw CW/predict_batch"],
    ),
    (
        "ahead of AROW on NP chunks and Dutch names (p < .01, paired t-test; corrected "
        "for overlapping training sets {} and {})",
        "tagging",
        [
            f"table2/sets/{name}/learners/5-best PA/p_corrected"
            for name in ("NP chunking", "Dutch")
        ],
    ),
    (
        "adds {} and {} to AROW on names (corrected p {} and {}), and {} to CW on "
        "Dutch names ({}).",
        "tagging",
        [
            DECODING.format(*which)
            for which in (
                ("Spanish", "AROW", "decoding"),
                ("Dutch", "AROW", "decoding"),
                ("Spanish", "AROW", "p_decoding"),
                ("Dutch", "AROW", "p_decoding"),
                ("Dutch", "CW", "decoding"),
                ("Dutch", "CW", "p_decoding"),
            )
        ],
    ),
    (
        '`"marginal"` | one forward–backward | {} s |',
        "confidence",
        ["speed/rows/marginal/chosen label"],
    ),
    (
        'vote shares are often tied | 50 draws of `"kd-pc"` {} s |',
        "confidence",
        ["speed/rows/kd-pc, 50 draws/chosen label"],
    ),
    (
        "CRFsuite's marginals of the same words take {} s.",
        "confidence",
        ["speed/rows/CRFsuite, marginals/chosen label"],
    ),
    (
        "one CW model trains {} to {} times as fast as the CRF",
        "travel",
        ["summary/times faster"],
    ),
    (
        "Exact probabilities of 10,000 rows and 20 classes take {} s, {} times as long "
        "as `decision_function`.",
        "multiclass",
        [
            "speed/predictions/seconds/predict_distribution, exact",
            "summary/exact over decision_function",
        ],
    ),
    (
        "`skcw tag` takes {} MB for ten million words, as for one million.",
        "features",
        ["stream/rows/1/memory"],
    ),
    (
        "So the best strategy needs {} % of the words of a random choice, mean of the "
        "sets. With batches of its own it needs {} % of the words of the CRF, with the "
        "CRF's batches {} %",
        "active",
        [f"100*sequences/goals/{i}/measured" for i in (0, 2, 1)],
    ),
    (
        "margins of PA, margins of CW and ACL needed {} %, {} % and {} % of the labels",
        "active",
        [
            f"100*rows/shares/{name}/mean_of_shares"
            for name in ("PA Margin", "CW Margin", "ACL")
        ],
    ),
]


WITHOUT_FIGURES = ["| script | what it measures | results |"]


@cache
def results(name):
    """Return a file of results, with the sums that the pages make of it."""
    found = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    if name == "travel":
        found["summary"] = travel_summary(found["words"])
        found["ready"] = ready_cells(found["words"])
        found["summary"]["times faster"] = times_faster(found["ready"])
        found["review"] = {
            name: runs | {"CRF": found["confidence"]["crf"][name]}
            for name, runs in found["confidence"]["runs"]["after"].items()
        }
    if name == "multiclass":
        seconds = found["speed"]["predictions"]["seconds"]
        times = seconds["predict_distribution, exact"] / seconds["decision_function"]
        found["summary"] = {"exact over decision_function": times}
    return found


def travel_summary(words):
    """Return what the page says of the grid of corpora, features and sizes."""
    crf = cells_of(words["crf"])
    summary = {"CRF": calibration_of(crf, "CRF", crf)}
    for label, lines in words["runs"].items():
        cells = cells_of(lines)
        scores = {
            name: column(cells, name, "score", cells)
            for name in ("CW", "AROW", "PA", "perceptron")
        }
        best = np.max([scores[name] for name in scores if name != "CW"], axis=0)
        behind = best - scores["CW"]
        summary[label] = calibration_of(cells, "CW", crf) | {
            "CW": scores.pop("CW").mean(),
            "others": [each.mean() for each in scores.values()],
            "behind": [behind.mean(), behind.max()],
            "ahead": 100 * (column(cells, "CW x8", "lead", crf) > 0).mean(),
        }
    return summary


def ready_cells(words):
    """Return {corpus: {learner: row}} of ready features and the most sentences."""
    cells = [cells_of(words["runs"]["after"]), cells_of(words["crf"])]
    found = {}
    for corpus in {place[0] for place in cells[0]}:
        size = "1000" if corpus == "EWT XPOS" else "all"
        place = corpus, "ready", size
        found[corpus] = cells[0][place] | cells[1][place]
    return found


def times_faster(ready):
    """Return how many times as fast as the CRF CW trains, at least and at most."""
    times = [
        float(r["CRF"]["seconds"]) / float(r["CW"]["seconds"]) for r in ready.values()
    ]
    return [min(times), max(times)]


def cells_of(lines):
    """Return {(corpus, features, size): {learner: row}} of lines in CSV."""
    cells = {}
    for row in csv.DictReader(lines):
        place = row["corpus"], row["features"], row["size"]
        cells.setdefault(place, {})[row["learner"]] = row
    return cells


def column(cells, learner, name, places):
    return np.array([float(cells[place][learner][name]) for place in places])


def calibration_of(cells, learner, places):
    """Return the mean error over some cells, and how many large ones have too much."""
    large = [place for place in cells if place[2] != "100"]
    errors = column(cells, learner, "calibration", large)
    return {
        "calibration": column(cells, learner, "calibration", places).mean(),
        "above": [np.count_nonzero(errors > 0.05), len(errors)],
    }


def figures(path, found):
    """Return the figures at a path, one or several; runs of a learner are averaged."""
    factor = 100 if path.startswith("100*") else 1
    for key in path.removeprefix("100*").split("/"):
        found = found[int(key)] if isinstance(found, list) else found[key]
    if path.endswith("/needed"):
        found = np.mean(found)
    several = found if isinstance(found, list) else [found]
    return [factor * float(each) for each in several]


def written(value, like):
    """Return a figure with as many digits as another one, in its way of writing."""
    digits = len(like.partition(".")[2])
    text = f"{value:,.{digits}f}" if "," in like else f"{value:.{digits}f}"
    starts_with_point = like.lstrip("-").startswith(".")
    return text.replace("0.", ".", 1) if starts_with_point else text


def differences(place, shown, paths, file):
    """Return what is wrong in a cell or a sentence, in words."""
    stored = [each for path in paths for each in figures(path, results(file))]
    if len(stored) != len(shown):
        return [
            f"{place}: the page has {len(shown)} figures, {file}.json {len(stored)}"
        ]
    wanted = [written(value, like) for value, like in zip(stored, shown, strict=True)]
    return [
        f"{place}: the page says {told}, but {file}.json {value!r}, so {want}"
        for told, want, value in zip(shown, wanted, stored, strict=True)
        if told != want
    ]


def rows_below(page, header, first_label):
    """Return {label: cells} of the table with that header and first row."""
    for after in PAGES[page].split(f"\n{header}\n")[1:]:
        lines = re.match(r"(?:\|.*\n)+", after)[0].splitlines()[1:]
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
        if rows[0][0] == first_label:
            return {row[0]: row[1:] for row in rows}
    pytest.fail(f"{page} has no table {header} whose first row is {first_label!r}")


@pytest.mark.parametrize("name", TABLES)
def test_every_cell_of_a_table_is_the_stored_figure(name):
    table = TABLES[name]
    rows = rows_below(table.page, table.header, next(iter(table.rows)))
    assert list(rows) == list(table.rows)
    titles = [title.strip() for title in table.header.split("|")[2:-1]]
    wrong = []
    for label, cells in rows.items():
        for title, cell, paths in zip(titles, cells, table.columns, strict=True):
            if cell:
                paths = [path.format(row=table.rows[label]) for path in paths]
                shown = NUMBER.findall(cell)
                wrong += differences(f"{label}, {title}", shown, paths, table.file)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("text", "file", "paths"), SENTENCES)
def test_every_figure_of_a_sentence_is_the_stored_one(text, file, paths):
    figure = r"([\d.,]*\d)"
    pattern = re.escape(text).replace(r"\ ", r"\s+").replace(r"\{\}", figure)
    found = re.search(pattern, "\n".join(PAGES.values()))
    assert found, f"no page says: {text}"
    wrong = differences(f'"{text}"', found.groups(), paths, file)
    assert not wrong, "\n".join(wrong)


def headers_in(text):
    return re.findall(r"^(\|.*\|)\n\|(?:-+\|)+$", text, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_every_table_of_figures_is_tied_to_results(page):
    text = PAGES[page]
    if page == README:
        text = text.partition("\n## Figures\n")[2].partition("\n## ")[0]
    headers = [header for header in headers_in(text) if header not in WITHOUT_FIGURES]
    tied = [table.header for table in TABLES.values() if table.page == page]
    assert sorted(headers) == sorted(tied)


def test_the_readme_has_one_table_of_figures():
    assert [table.page for table in TABLES.values()].count(README) == 1


def corpora_where_the_crf_leads(what, sign):
    ready = results("travel")["ready"]
    return {
        corpus
        for corpus, row in ready.items()
        if sign * (float(row["CRF"][what]) - float(row["CW"][what])) > 0
    }


def test_what_the_readme_concludes_from_its_table():
    text = " ".join(PAGES[README].split())
    assert "is better calibrated, except on web text." in text
    assert corpora_where_the_crf_leads("calibration", -1) == {"EWT XPOS"}
    assert "The CRF labels Spanish names better" in text
    assert corpora_where_the_crf_leads("score", 1) == {"Spanish"}
    assert "in average precision on five of the seven, and in area on three." in text
    assert len(results("travel")["ready"]) == 7
    assert len(corpora_where_the_crf_leads("ap", 1)) == 5
    assert len(corpora_where_the_crf_leads("area", -1)) == 3


def test_how_many_times_as_fast_features_are():
    text = " ".join(PAGES[README].split())
    assert "about twenty times as fast as the same features in Python from the" in text
    assert "columns of a file, fifteen times from lists of tuples." in text
    rows = results("features")["speed"]["rows"]
    python = rows["Python strings + CRFsuite ap"]["features"]
    assert round(python / rows["skcw, columns of a file"]["features"]) == 20
    assert round(python / rows["skcw, lists of tuples"]["features"]) == 15


def test_a_figure_is_written_as_another_one_is():
    assert written(0.93731, ".9373") == ".9373"
    assert written(0.118, "0.12") == "0.12"
    assert written(41240.35, "41,240") == "41,240"
    assert written(104.891, "105") == "105"
    assert NUMBER.findall("1092, 415, .0212") == ["1092", "415", ".0212"]
    assert NUMBER.findall(".0180 [.0088, .0189]") == [".0180", ".0088", ".0189"]
    assert NUMBER.findall("41,240 (-.3)") == ["41,240", "-.3"]
    assert written(-0.00014, "-.0001") == "-.0001"


def test_a_cell_that_differs_is_named_with_what_it_should_be():
    path = ["speed/rows/skcw CW/f1"]
    (value,) = figures(path[0], results("tagging"))
    assert differences("CW, F1", [f"{value:.4f}".lstrip("0")], path, "tagging") == []
    (told,) = differences("CW, F1", [".1234"], path, "tagging")
    want = f"{value:.4f}".lstrip("0")
    assert told == (
        f"CW, F1: the page says .1234, but tagging.json {value!r}, so {want}"
    )
