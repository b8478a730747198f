"""Malformed text files: JSON lines, CSV, clusters, vectors, journals.

``python -m tests.fuzz.text_files --cases 100000 --seed 1`` is the long run.
"""

import functools
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from skcw.active import ActiveLearner
from skcw.features import WindowFeatures, WordClusters, WordVectors
from skcw.io import read_json_lines, write_json_lines
from skcw.io.formats import open_corpus
from skcw.tagging import PerceptronSequenceTagger
from tests.fuzz.column_files import damaged
from tests.fuzz.inputs import sentences
from tests.fuzz.isolation import long_run
from tests.fuzz.mutators import clearly, mutated, mutated_call, pick

RECORDS = (
    {"tokens": ["Ann", "left"], "tags": ["B-PER", "O"]},
    {"id": 3, "words": ["Ann", "left"], "ner_tags": [1, 0], "pos": ["N", "V"]},
    {"text": "Ann left.", "label": [[0, 3, "PER"], [4, 8, "X"]]},
    {
        "text": "Ann left",
        "tokens": [{"text": "Ann", "start": 0, "end": 3, "id": 0}]
        + [{"text": "left", "start": 4, "end": 8, "id": 1}],
        "spans": [{"start": 0, "end": 3, "label": "PER", "token_end": 0}],
    },
    ["Ann left", {"entities": [[0, 3, "PER"]]}],
)
CSV = b'Sentence #,Word,POS,Tag\n1,Ann,NNP,B-PER\n,"le""ft",VBD,O\n2,Stop,VB,O\n'
CLUSTERS = b"0110\tred\t12\n0111\tgreen\t7\n10\tbig\t3\n"
PAIRS = b"red 7\ngreen 7\nbig 12\n"
VECTORS = b"3 2\nred 1 0.5\ngreen 0 -2e3\nNew York 1 1\n"
WORDS = ["red", "Green", "", "big", "\ud800"]


@functools.cache
def _folder():
    return Path(tempfile.mkdtemp(prefix="fuzz-"))


def written(text):
    """Return the path of a file with these bytes."""
    path = _folder() / "text"
    path.write_bytes(text)
    return path


def json_line(rng, record):
    """Return a record as JSON, sometimes with something else in it."""
    for _ in range(rng.integers(3)):
        record = mutated(record, rng)
    return json.dumps(record, default=repr, ensure_ascii=rng.random() < 0.5)


def json_case(seed):
    """Read JSON lines with other values, or with other bytes."""
    rng = np.random.default_rng(seed)
    records = RECORDS if rng.random() < 0.3 else (pick(rng, RECORDS),)
    lines = [json_line(rng, pick(rng, records)) for _ in range(rng.integers(1, 4))]
    text = "\n".join(lines).encode("utf-8", "surrogatepass")
    text = damaged(text, rng) if rng.random() < 0.4 else text
    given = {"names": ["O", "B-PER"]} if rng.random() < 0.5 else {}
    if rng.random() < 0.2:
        given = mutated_call(rng, [], given, ("label", "names", "encoding"))[1]
    columns = read_json_lines(written(text), **given)
    return [list(columns), columns.split_label()]


def json_writing_case(seed):
    """Write changed sentences as JSON; what is written is read again."""
    rng = np.random.default_rng(seed)
    args, given = mutated_call(rng, sentences(), {}, ("form", "names"))
    if rng.random() < 0.5:
        given["form"] = pick(rng, ("tokens", "prodigy", "doccano", "spacy"))
    path = _folder() / "written"
    write_json_lines(path, *args, **given)
    return list(read_json_lines(path))


def csv_case(seed):
    """Read a damaged CSV file in blocks."""
    rng = np.random.default_rng(seed)
    given = {"sentence_column": "Sentence #"} if rng.random() < 0.3 else {}
    if rng.random() < 0.3:
        names = ("separator", "sentence_column", "encoding")
        given = mutated_call(rng, [], given, names)[1]
    path = str(written(damaged(CSV * 2, rng)))
    file = open_corpus(path, given | {"format": "csv"})
    return [list(X) for _, X in file.unlabeled(int(rng.integers(1, 5)))]


def clusters_case(seed):
    """Read damaged clusters, and make features of them."""
    rng = np.random.default_rng(seed)
    given = mutated_call(rng, [], {}, ["encoding"])[1] if rng.random() < 0.1 else {}
    clusters = WordClusters.read(
        written(damaged(pick(rng, (CLUSTERS, PAIRS)), rng)), **given
    )
    window = WindowFeatures(["cluster(c, 2)"], clusters={"c": clusters})
    return [window.fit_transform([WORDS]).indices, dict(clusters)]


def vectors_case(seed):
    """Read damaged vectors, and look words up."""
    rng = np.random.default_rng(seed)
    given = mutated_call(rng, [], {}, ["encoding"])[1] if rng.random() < 0.1 else {}
    vectors = WordVectors.read(written(damaged(VECTORS, rng)), **given)
    return [vectors.of(WORDS), vectors.select(WORDS).vectors]


def _learner():
    return PerceptronSequenceTagger(max_iter=1, random_state=0)


@functools.cache
def _journal():
    """Return the journal of a short study."""
    X, y = sentences()
    path = _folder() / "journal"
    with ActiveLearner(_learner(), X, journal=path, random_state=0) as learner:
        for ask in (learner.query, learner.query, learner.audit):
            positions = ask(2)
            learner.teach(positions, [y[i] for i in positions])
        learner.release(learner.query(1))
    return path.read_bytes()


def journal_case(seed):
    """Go on with a study whose journal is not what it was."""
    rng = np.random.default_rng(seed)
    text = _journal()
    if rng.random() < 0.6:
        lines = [json.loads(line) for line in text.splitlines()]
        at = rng.integers(len(lines))
        lines[at] = mutated(lines[at], rng)
        text = "".join(json.dumps(line, default=repr) + "\n" for line in lines).encode()
    else:
        text = damaged(text, rng)
    with ActiveLearner.resume(written(text), _learner(), sentences()[0]) as learner:
        return learner.query(1).tolist()


def groups():
    """Return all cases by name."""
    cases = {
        "JSON lines": json_case,
        "writing JSON lines": json_writing_case,
        "CSV": csv_case,
        "clusters": clusters_case,
        "vectors": vectors_case,
        "journals": journal_case,
    }
    return {name: clearly(case) for name, case in cases.items()}


if __name__ == "__main__":
    sys.exit(long_run(__doc__, groups, 100_000))
