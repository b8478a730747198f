"""The tables of figures of the README, docs/ and benchmarks/README.md are stored ones.

Rounding is included. A cell is tied to its result by a path such as
``taggers/rows/{row}/fit``; a step ``name=value`` finds an item of a list. A change of
either side fails here, and the message says what the cell should be.
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
README, RECORD, SCALE = "README.md", "benchmarks/README.md", "docs/scale.md"
ACTIVE = "docs/active-learning.md"
NUMBER = re.compile(r"-?\d{1,3}(?:,\d{3})+|-?\d*\.\d+|-?\d+")
SETS = ("NP chunking", "Spanish", "Dutch")
LEARNERS = ("CW", "CW x8", "CRF")
PRUNED = "large/prunes/corpus={row}/lines"


class Table(NamedTuple):
    """A table of a page, and where its figures come from."""

    page: str
    header: str
    file: str  # in benchmarks/, without .json
    columns: list  # the paths of each column's figures, with {row} for the row
    rows: dict = {}  # label on the page: name in the results, where these differ


def columns_of(path, names):
    """Return a path for each name, which takes the place of {}."""
    return [[path.replace("{}", str(name))] for name in names]


TABLES = [
    Table(
        README,
        "| | F1 or accuracy | calibration error | average precision | area | fit s |",
        "studies/travel",
        [
            [f"ready/{{row}}/{learner}/{what}" for learner in LEARNERS]
            for what in ("score", "calibration", "ap", "area", "seconds")
        ],
        {
            "chunks": "CoNLL-2000",
            "noun phrases": "NP",
            "Spanish names": "Spanish",
            "Dutch names": "Dutch",
            "made-up names": "built-in",
            "tags of tweets": "ARK",
            "tags of web text, 1,000 sentences": "EWT XPOS",
        },
    ),
    Table(
        RECORD,
        "| tagger | encode s | train s | fit s | predict s | F1 |",
        "speed/speed",
        columns_of(
            "taggers/rows/{row}/{}", ("encode", "train", "fit", "predict", "f1")
        ),
    ),
    Table(
        RECORD,
        "| features | features s | fit s | tag s | F1 | peak memory MB |",
        "speed/speed",
        columns_of(
            "features/rows/{row}/{}", ("features", "fit", "tag", "f1", "memory")
        ),
    ),
    Table(
        RECORD,
        "| confidence | chosen label s | all labels s |",
        "speed/speed",
        columns_of("confidence/rows/{row}/{}", ("chosen label", "all labels")),
    ),
    Table(
        RECORD,
        "| classifier | fit s | accuracy |",
        "speed/speed",
        columns_of("classifiers/rows/{row}/{}", ("seconds", "accuracy")),
    ),
    Table(
        RECORD,
        "| learner | NP chunking | Spanish | Dutch |",
        "papers/mejer2010/tagging",
        [
            [
                f"table2/sets/{name}/learners/{{row}}{way}/f1"
                for way in ("", ", cost-augmented")
            ]
            for name in SETS
        ],
    ),
    Table(
        RECORD,
        "| strategy | NP chunking | Spanish | Dutch |",
        "papers/mejer2010/active",
        columns_of("sequences/sets/{}/strategies/{row}/needed", SETS),
    ),
    Table(
        RECORD,
        "| set, learner | left 1,000 | left 5,000 | RMSE | average precision | area |",
        "studies/travel",
        columns_of("review/{row}/{}", ("left_1000", "left_5000", "rmse", "ap", "area")),
    ),
    Table(
        ACTIVE,
        "| | random words | chosen words | online |",
        "studies/asking",
        [
            [f"words/means/{{row}}/{path}"]
            for path in ("random/3/1", "chosen/3/0", "online/3/0")
        ],
        {
            "Spanish names": "Spanish",
            "Dutch names": "Dutch",
            "noun phrases": "NP",
            "tags of tweets": "ARK",
            "tags of web text": "EWT XPOS",
        },
    ),
    Table(
        ACTIVE,
        "| | NP chunks | Spanish names | Dutch names |",
        "papers/mejer2010/active",
        columns_of("sequences/sets/{}/strategies/{row}/needed", SETS),
        {
            "random sentences": "random",
            "`normalized-log-prob`": "best",
            "the same with 20 fits": "best (20 fits)",
            "a CRF's least confident word, 20 fits": "CRF (20 fits)",
        },
    ),
    Table(
        SCALE,
        "| set | one piece | 2 shards | 4 | 16 | 64 | 16, 2 × passes | 16, 4 × passes "
        "|",
        "studies/scale",
        columns_of("shards/scores/{row}/{}", (1, 2, 4, 16, 64))
        + columns_of("shards/more passes/{row}/{}", (2, 4)),
        {"20 Newsgroups": "20 News"},
    ),
    Table(
        SCALE,
        "| labels | tables | weights moved | blocks of 8 labels | of 16 | file | with "
        "whole tables |",
        "studies/scale",
        [
            ["large/grown/labels={row}/tables"],
            *columns_of(
                "100*large/grown/labels={row}/{}", ("used", "blocks 8", "blocks 16")
            ),
            *columns_of("large/grown/labels={row}/{}", ("file", "mapped")),
        ],
    ),
    Table(
        SCALE,
        "| corpus | as trained | features forgotten | share 0.25 | 0.5 | 0.75 | 0.9 |",
        "studies/scale",
        [[f"{PRUNED}/{i}/{what}" for what in ("score", "file")] for i in range(6)],
        {"EWT": "EWT XPOS"},
    ),
    Table(
        SCALE,
        "| | seconds |",
        "studies/scale",
        [["speedup/rows/{row}"]],
        {
            "in one piece": "5/here",
            "in 2 shards, one after the other": "6/here",
            "in 2 shards, by two processes": "6/two",
        },
    ),
]

# Text of the README with {} for each figure, and the paths of these.
SENTENCES = [
    (
        '`"marginal"` | one forward–backward | {} s |',
        "speed/speed",
        ["confidence/rows/marginal/chosen label"],
    ),
    (
        'vote shares are often tied | 50 draws of `"kd-pc"` {} s |',
        "speed/speed",
        ["confidence/rows/kd-pc, 50 draws/chosen label"],
    ),
    (
        "CRFsuite's marginals of the same words take {} s.",
        "speed/speed",
        ["confidence/rows/CRFsuite, marginals/chosen label"],
    ),
    (
        "one CW model trains {} to {} times as fast as the CRF",
        "studies/travel",
        ["times faster"],
    ),
]


@cache
def page_text(page):
    return (PROJECT / page).read_text(encoding="utf-8")


@cache
def results(name):
    """Return a file of results; of the grid of defaults, what the pages show of it."""
    text = (PROJECT / "benchmarks" / f"{name}.json").read_text(encoding="utf-8")
    found = json.loads(text)
    if name == "studies/travel":
        ready = found["ready"] = ready_cells(found["words"])
        times = [
            float(row["CRF"]["seconds"]) / float(row["CW"]["seconds"])
            for row in ready.values()
        ]
        found["times faster"] = [min(times), max(times)]
        confidence = found["confidence"]
        found["review"] = {
            f"{name}, {learner}": row
            for name, rows in confidence["ours"].items()
            for learner, row in (rows | {"CRF": confidence["crf"][name]}).items()
        }
    return found


def ready_cells(words):
    """Return {corpus: {learner: row}} of ready features and the most sentences."""
    found = {}
    for row in csv.DictReader([*words["ours"], *words["crf"][1:]]):
        size = "1000" if row["corpus"] == "EWT XPOS" else "all"
        if (row["features"], row["size"]) == ("ready", size):
            found.setdefault(row["corpus"], {})[row["learner"]] = row
    return found


def figures(path, found):
    """Return the figures at a path, one or several; runs of a learner are averaged."""
    factor = 100 if path.startswith("100*") else 1
    for step in path.removeprefix("100*").split("/"):
        key, is_item, value = step.partition("=")
        if isinstance(found, dict):
            found = found[step]
        elif is_item:
            found = next(one for one in found if str(one[key]) == value)
        else:
            found = found[int(step)]
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
        return [f"{place}: {len(shown)} figures, but {len(stored)} in {file}.json"]
    wanted = [written(value, like) for value, like in zip(stored, shown, strict=True)]
    return [
        f"{place}: the page says {told}, but {file}.json {value!r}, so {want}"
        for told, want, value in zip(shown, wanted, stored, strict=True)
        if told != want
    ]


@pytest.mark.parametrize("table", TABLES, ids=lambda t: f"{t.page} {t.header[:40]}")
def test_every_cell_of_a_table_is_the_stored_figure(table):
    _, found, below = page_text(table.page).partition(f"\n{table.header}\n")
    assert found, f"{table.page} has no table {table.header}"
    wrong = []
    for line in re.match(r"(?:\|.*\n)+", below)[0].splitlines()[1:]:
        label, *cells = [cell.strip() for cell in line.split("|")[1:-1]]
        for cell, paths in zip(cells, table.columns, strict=True):
            paths = [path.format(row=table.rows.get(label, label)) for path in paths]
            if cell:
                shown = NUMBER.findall(cell)
                wrong += differences(label, shown, paths, table.file)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("text", "file", "paths"), SENTENCES)
def test_every_figure_of_a_sentence_is_the_stored_one(text, file, paths):
    pattern = re.escape(text).replace(r"\ ", r"\s+").replace(r"\{\}", r"([\d.,]*\d)")
    found = re.search(pattern, page_text(README))
    assert found, f"{README} does not say: {text}"
    wrong = differences(f'"{text}"', found.groups(), paths, file)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", [README, RECORD])
def test_every_table_of_figures_is_tied_to_results(page):
    text = page_text(page)
    if page == README:
        text = text.partition("\n## Figures\n")[2].partition("\n## ")[0]
    tables = re.findall(r"^(\|.*\|)\n\|(?:-+\|)+\n(\|.*\|)$", text, re.MULTILINE)
    headers = [header for header, first in tables if re.search(r"\.\d|\d,\d", first)]
    assert sorted(headers) == sorted(t.header for t in TABLES if t.page == page)


def corpora_where_the_crf_leads(what, sign):
    ready = results("studies/travel")["ready"]
    return {
        corpus
        for corpus, row in ready.items()
        if sign * (float(row["CRF"][what]) - float(row["CW"][what])) > 0
    }


def test_what_the_readme_concludes_from_its_table():
    text = " ".join(page_text(README).split())
    assert "is better calibrated, except on web text." in text
    assert corpora_where_the_crf_leads("calibration", -1) == {"EWT XPOS"}
    assert "The CRF labels Spanish names better" in text
    assert corpora_where_the_crf_leads("score", 1) == {"Spanish"}
    assert "in average precision on five of the seven, and in area on three." in text
    assert len(results("studies/travel")["ready"]) == 7
    assert len(corpora_where_the_crf_leads("ap", 1)) == 5
    assert len(corpora_where_the_crf_leads("area", -1)) == 3


def test_how_many_times_as_fast_features_are():
    text = " ".join(page_text(README).split())
    assert "about twenty times as fast as the same features in Python from the" in text
    assert "columns of a file, fifteen times from lists of tuples." in text
    rows = results("speed/speed")["features"]["rows"]
    python = rows["Python strings + CRFsuite ap"]["features"]
    assert round(python / rows["skcw, columns of a file"]["features"]) == 20
    assert round(python / rows["skcw, lists of tuples"]["features"]) == 15


def test_a_figure_is_written_as_another_one_is():
    assert written(0.93731, ".9373") == ".9373"
    assert written(0.118, "0.12") == "0.12"
    assert written(41240.35, "41,240") == "41,240"
    assert NUMBER.findall(".0180 [.0088, 41,240 (-.3)") == [
        *(".0180", ".0088", "41,240", "-.3")
    ]
    assert written(-0.00014, "-.0001") == "-.0001"


def test_a_cell_that_differs_is_named_with_what_it_should_be():
    path, file = ["taggers/rows/skcw CW/f1"], "speed/speed"
    (value,) = figures(path[0], results(file))
    want = f"{value:.4f}".lstrip("0")
    assert differences("CW, F1", [want], path, file) == []
    (told,) = differences("CW, F1", [".1234"], path, file)
    assert told == f"CW, F1: the page says .1234, but {file}.json {value!r}, so {want}"
