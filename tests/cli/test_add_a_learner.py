"""What CONTRIBUTING says of a new learner is enough: one file, and one line."""

import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import skcw
from skcw.cli.learners import LEARNERS, Learner, names_of
from skcw.io.loading import SAVED_CLASSES

GUIDE = Path(__file__).resolve().parents[2] / "CONTRIBUTING.md"
SECTION = re.search(
    r"^## Add a learner\n(.*?)^## ", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL
)[1]
FILE, LINE = re.findall(r"^```python\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)


@pytest.fixture
def name(monkeypatch):
    """The name of the learner, whose file and line are there for one test."""
    ((name, learner),) = eval(f"{{{LINE}}}", {"Learner": Learner}).items()
    place, _, class_name = learner.path.partition(":")
    module = ModuleType(place)
    monkeypatch.setitem(sys.modules, place, module)
    exec(compile(FILE, place, "exec"), vars(module))
    monkeypatch.setitem(LEARNERS, name, learner)
    yield name
    del SAVED_CLASSES[class_name]


def test_it_trains_tags_and_is_compared(run, files, tmp_path, name):
    corpus, model = files / "train.conll", tmp_path / "m"
    code, out, err = run("train", corpus, "-o", model, "--model", name, "-q", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["learner"] == LEARNERS[name].load().__name__
    assert type(skcw.load(model).tagger) is LEARNERS[name].load()
    assert found["span_f1"] > 0.9
    assert run("tag", model, files / "test.conll", "--confidence")[0] == 0
    rows = run("compare", corpus, "--learners", f"cw,{name}", "--json")[1]
    cw, new = json.loads(rows)["learners"]
    assert (cw["learner"], new["learner"]) == ("cw", name)
    assert new["span_f1"] > 0.5


def test_the_commands_offer_it(run, name):
    assert name in names_of("train") and name in names_of("compare")
    for command in ("train", "check", "compare"):
        assert name in run(command, "--help")[1]


def test_nothing_else_is_offered_twice(run):
    assert len({learner.title for learner in LEARNERS.values()}) == len(LEARNERS)
    for name in LEARNERS:
        assert LEARNERS[name].load()(**LEARNERS[name].params)
