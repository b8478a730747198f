"""Tagging needs NumPy alone: the heavy libraries are for training."""

import pkgutil
import subprocess
import sys

import pytest

import skcw
import skcw.features
from skcw.datasets import make_tagged_corpus
from skcw.io import write_columns, write_json_lines
from skcw.io.csv_format import csv_text

HEAVY = (
    "safetensors",
    "sklearn",
    "scipy",
    "joblib",
    "threadpoolctl",
    "tabulate",
    "tqdm",
    "pandas",
    "polars",
    "narwhals",
    "matplotlib",
)

# The rooms of the runtime, without estimators and without what trains them.
ROOMS = ("_kernels", "confidence", "data", "exceptions", "features")
ESTIMATORS = (
    "skcw.confidence.held_out",
    "skcw.data.sequence_encoder",
    "skcw.features.joined_features",
    "skcw.features.learning",
    "skcw.features.window_features",
)
# Modules of the runtime in rooms that have others besides.
SINGLE = (
    "_model.decoding",
    "_model.gaussian",
    "_util.checks",
    "_util.files",
    "_util.lazy",
    "_util.limits",
    "_util.ragged",
    "_util.text_table",
    "io.column_format",
    "io.columns",
    "io.csv_format",
    "io.formats",
    "io.json_lines",
    "io.model_files",
    "io.text_answers",
    "io.tokenizer",
)

MODELS = {
    "cw": [],
    "arow": [],
    "pa": [],
    "perceptron": [],
    "crf": ["--passes", "5"],
}

REPORT = """
import sys
{code}
found = [name for name in {names} if name in sys.modules]
print("imported:", *found, file=sys.stderr)
"""


def imported_after(code, cwd, names=HEAVY):
    """Return which of some modules a fresh interpreter has imported after a code."""
    program = REPORT.format(code=code, names=names)
    found = subprocess.run(
        [sys.executable, "-P", "-c", program], cwd=cwd, capture_output=True, text=True
    )
    assert found.returncode == 0, found.stderr
    return found.stderr.splitlines()[-1].removeprefix("imported:").split()


def runtime_modules():
    """Return the names of all modules that a model may need to answer."""
    found = pkgutil.walk_packages(skcw.__path__, prefix="skcw.")
    names = [module.name for module in found if module.name.split(".")[1] in ROOMS]
    return [*(n for n in names if n not in ESTIMATORS), *(f"skcw.{n}" for n in SINGLE)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with models and a column file without labels."""
    folder = tmp_path_factory.mktemp("runtime")
    corpus = make_tagged_corpus(60, random_state=0)
    write_columns(folder / "train.conll", corpus.tokens, corpus.labels)
    write_columns(folder / "new.conll", corpus.tokens)
    write_json_lines(folder / "new.jsonl", corpus.tokens)
    write_json_lines(folder / "text.jsonl", corpus.tokens, form="doccano")
    rows = [["sentence_id", "word", "pos"]]
    for s, sentence in enumerate(corpus.tokens):
        rows += [[str(s), *token] for token in sentence]
    (folder / "new.csv").write_text(csv_text(rows), encoding="utf-8")
    for name, options in MODELS.items():
        command = ["train", "train.conll", "-o", name, "--model", name, *options]
        subprocess.run(
            [sys.executable, "-P", "-m", "skcw", *command],
            cwd=folder,
            check=True,
            capture_output=True,
        )
    held_out = make_tagged_corpus(60, random_state=1)
    write_columns(folder / "held.conll", held_out.tokens, held_out.labels)
    calibration = ["--calibrate", "held.conll", "--accept-risk", "0.5"]
    command = ["train", "train.conll", "-o", "selective", *calibration]
    subprocess.run(
        [sys.executable, "-P", "-m", "skcw", *command],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return folder


def code_of_command(*arguments):
    """Return Python code that runs a command line."""
    return (
        "from skcw.cli import main\n"
        "try:\n"
        f"    status = main({list(arguments)!r})\n"
        "except SystemExit as end:\n"
        "    status = end.code\n"
        "assert not status, status"
    )


def heavy_after_tagging(folder, *arguments):
    """Return the heavy libraries that ``skcw tag`` has imported."""
    return imported_after(code_of_command("tag", *arguments, "-o", "out.conll"), folder)


def test_the_runtime_imports_no_heavy_library(tmp_path):
    names = runtime_modules()
    assert {"skcw.data.encoder", "skcw.features.extractor"} <= set(names)
    code = "import skcw, skcw.cli, skcw.cli.tag, " + ", ".join(names)
    assert not imported_after(code, tmp_path)


@pytest.mark.parametrize("model", MODELS)
def test_tagging_imports_no_heavy_library(model, folder):
    assert not heavy_after_tagging(folder, model, "new.conll", "--confidence")


@pytest.mark.parametrize("name", ["new.jsonl", "new.csv"])
def test_tagging_other_formats_imports_no_heavy_library(name, folder):
    assert not heavy_after_tagging(folder, "cw", name, "--confidence", "-n", "2")


def test_tagging_texts_and_writing_json_import_no_heavy_library(folder):
    columns = ["--columns", "word,pos=word"]
    assert not heavy_after_tagging(folder, "cw", "text.jsonl", *columns)
    assert not heavy_after_tagging(folder, "cw", "new.conll", "--json")


@pytest.mark.parametrize(
    "options",
    [[], ["--nbest", "3"], ["--confidence", "--scheme", "IOBES"]],
    ids=["plain", "nbest", "scheme"],
)
def test_no_option_of_tagging_imports_a_heavy_library(options, folder):
    assert not heavy_after_tagging(folder, "cw", "new.conll", *options)


def test_accepting_imports_scipy_alone_to_compare_the_text_in_the_end(folder):
    found = heavy_after_tagging(folder, "selective", "new.conll", "--accept")
    assert found == ["scipy"]


@pytest.mark.parametrize("model", MODELS)
def test_evaluating_opens_no_estimator(model, folder):
    # Scores of confidence need scikit-learn; the model does not.
    code = code_of_command("evaluate", model, "train.conll")
    assert not imported_after(code, folder, ["skcw.tagging", "skcw.pipeline"])


@pytest.mark.parametrize(
    "question",
    ["labels()", "confidence('kd-fixed')", "nbest(2)", "marginals()", "entities()"],
)
def test_asking_a_model_imports_no_heavy_library(question, folder):
    code = (
        "from skcw import InferenceModel\n"
        "model = InferenceModel.open('cw')\n"
        "answers = model.predict_all([[('Ann', 'NNP'), ('left', 'VBD')]])\n"
        f"answers.{question}"
    )
    assert not imported_after(code, folder)


def test_tagging_plain_text_imports_no_heavy_library(folder):
    (folder / "letter.txt").write_text("Ann left. Bob met Carla Smith.")
    code = code_of_command("train", "train.conll", "--columns", "word", "-o", "words")
    imported_after(code, folder)
    for options in (["--confidence"], ["--json"]):
        assert not heavy_after_tagging(
            folder, "words", "--text", "letter.txt", *options
        )


def test_joined_features_of_data_import_no_heavy_library(tmp_path):
    corpus = make_tagged_corpus(60, random_state=0)
    lines = ["ner", "cluster(c)", "span(places)"]
    features = [
        skcw.features.WindowFeatures(
            lines,
            clusters={"c": {"left": "01", "met": "00"}},
            lexicons={"places": ["New York"]},
        ),
        skcw.features.WordVectors(["left", "met"], [[1.0, 2.0], [0.5, 0.0]]),
    ]
    pipeline = skcw.make_tagging_pipeline(features)
    pipeline.fit(corpus.tokens, corpus.labels).save(tmp_path / "joined")
    code = (
        "from skcw import InferenceModel\n"
        "model = InferenceModel.open('joined')\n"
        "answers = model.predict_all([[('Ann', 'NNP'), ('left', 'VBD')]])\n"
        "answers.confidence()"
    )
    assert not imported_after(code, tmp_path)


def test_a_heavy_library_would_be_seen(tmp_path):
    assert "scipy" in imported_after("import scipy", tmp_path)
