"""CONTRIBUTING's engine trains shards, with the bits of all other engines."""

import re
from pathlib import Path

import joblib
from joblib.parallel import BACKENDS

from skcw import CWSequenceTagger
from skcw.datasets import make_tagged_corpus

PAGE = Path(__file__).resolve().parents[2] / "CONTRIBUTING.md"


def test_the_engine_of_the_guide_trains_shards(monkeypatch):
    section = PAGE.read_text(encoding="utf-8").partition("## Add an engine")[2]
    [code] = re.findall(
        r"^```python\n(.*?)^```$", section.partition("\n## ")[0], re.M | re.S
    )
    monkeypatch.setitem(BACKENDS, "counting", None)  # it is gone after the test
    names = {}
    exec(compile(code, PAGE.name, "exec"), names)
    X, y = make_tagged_corpus(60, random_state=0, return_X_y=True)
    X = [[word for word, _ in sentence] for sentence in X]
    plain = CWSequenceTagger(random_state=0).fit(X, y, n_shards=4)
    with joblib.parallel_config("counting", n_jobs=2):
        counted = CWSequenceTagger(random_state=0).fit(X, y, n_shards=4)
    assert names["CountingBackend"].n_asked > 0
    assert (counted.coef_ == plain.coef_).all()
