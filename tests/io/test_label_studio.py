"""Exports of Label Studio are read, tagged and read again."""

import json

import pytest

from skcw.cli import main
from skcw.datasets import make_tagged_corpus
from skcw.exceptions import ColumnFileError
from skcw.io import read_columns
from skcw.io.formats import open_corpus
from skcw.io.json_records import joined_words, spans_of_labels


def spans(tokens, labels):
    text, (places,) = joined_words([tokens])
    values = [
        {
            "start": span["start"],
            "end": span["end"],
            "text": text[span["start"] : span["end"]],
            "labels": [span["label"]],
        }
        for span in spans_of_labels(labels, places)
    ]
    return text, values


def task(number, text, values, **more):
    result = [
        {"value": v, "from_name": "ner", "to_name": "text", "type": "labels"}
        for v in values
    ]
    # Choices for the whole text and relations are results, too.
    result.append({"type": "choices", "value": {"choices": ["good"]}})
    result.append({"type": "relation", "from_id": "a", "to_id": "b"})
    made = [{"id": number, "was_cancelled": False, "result": result, **more}]
    return {"id": number, "annotations": made, "data": {"text": text, "url": "u"}}


def exports(corpus):
    """Return the two forms of an export, and what is in them."""
    tokens = [[word for word, _ in sentence] for sentence in corpus.tokens]
    found = [spans(*pair) for pair in zip(tokens, corpus.labels, strict=True)]
    tasks = [task(i, *pair) for i, pair in enumerate(found, 1)]
    small = [
        {"id": i, "text": text, "annotation_id": i, "created_at": "2024"}
        | ({"ner": values} if values else {})
        for i, (text, values) in enumerate(found, 1)
    ]
    return tasks, small


def labeled(path, **options):
    notes = []
    corpus = open_corpus(str(path), options, note=notes.append)
    rows = [(s.tokens, s.labels) for s in corpus.sentences()]
    return rows, corpus.opened.format, notes


@pytest.mark.parametrize("indent", [None, 2])
def test_both_forms_hold_the_corpus(tmp_path, indent):
    corpus = make_tagged_corpus(20, random_state=0)
    path = tmp_path / "export.json"
    rows = []
    for tasks in exports(corpus):
        path.write_text(json.dumps(tasks, indent=indent))
        found, format, _ = labeled(path)
        assert format == "labelstudio"
        rows.append(found)
    assert rows[0] == rows[1]
    # Words are those of the tokenizer for texts, so labels agree where words do.
    same = [
        (labels, given)
        for (tokens, labels), x, given in zip(
            rows[0], corpus.tokens, corpus.labels, strict=True
        )
        if tokens == [word for word, _ in x]
    ]
    assert len(same) > 5 and all(mine == list(given) for mine, given in same)
    assert labeled(path, label_column="ner")[0] == [
        row for row in rows[0] if set(row[1]) != {"O"}
    ]


def test_the_annotation_that_counts_is_chosen(tmp_path):
    ann = [{"start": 0, "end": 3, "labels": ["PER"]}]
    cancelled = task(1, "Ann left", [], was_cancelled=True)
    again = task(1, "Ann left", ann)["annotations"]
    tasks = [
        cancelled | {"annotations": cancelled["annotations"] + again},
        task(2, "Ann left", []) | {"annotations": []},
        task(3, "Ann left", []),
        task(4, "Ann left", ann, ground_truth=True),
    ]
    tasks[3]["annotations"].insert(0, tasks[2]["annotations"][0])
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    found, _, notes = labeled(path)
    assert [labels for _, labels in found] == [
        ["B-PER", "O"],
        ["O", "O"],
        ["B-PER", "O"],
    ]
    assert notes[-1] == f"tasks of {path} without an annotation are left out: 1"
    assert len(list(open_corpus(str(path)).sentences(with_labels=False))) == 4


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([{"tokens": ["Ann"]}], "task 1: this is no task of Label Studio"),
        ([task(1, "Ann", []), 5], "task 2: this is no task"),
        (
            [task(1, "Ann", [{"start": 0, "end": 3, "labels": ["A", "B"]}])],
            r"task 1: the span 0 to 3 has the labels \['A', 'B'\]",
        ),
        ([task(1, "Ann", [{"start": 0, "end": 9, "labels": ["A"]}])], "not within"),
        ([task(1, "Ann", [{"start": "/p", "labels": ["A"]}])], "is not .start, end"),
    ],
)
def test_faults_name_the_task(tmp_path, tasks, message):
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    with pytest.raises(ColumnFileError, match=message):
        labeled(path)
    path.write_text(json.dumps(tasks)[:-3])
    with pytest.raises(ColumnFileError, match="not JSON"):
        labeled(path)


def test_marked_errors_are_corrected_in_both_forms(tmp_path):
    ann = {"start": 0, "end": 3, "text": "Ann", "labels": ["PER"]}
    bob = {"start": 8, "end": 11, "text": "Bob", "labels": ["PER"]}
    text = "Ann met Bob"
    full = [task(1, text, [ann]), task(2, text, []), task(3, text, [ann, bob])]
    small = [
        {"id": i, "text": text, "annotation_id": i} | ({"ner": v} if v else {})
        for i, v in enumerate(([ann], [], [ann, bob]), 1)
    ]
    changed = {0: ["B-PER", "O", "B-PER"], 1: ["O", "O", "B-PER"], 2: ["O", "O", "O"]}
    path = tmp_path / "export.json"
    for tasks in (full, small):
        path.write_text(json.dumps(tasks))
        path.write_bytes(b"".join(open_corpus(str(path)).relabeled(changed)))
        assert [labels for _, labels in labeled(path)[0]] == list(changed.values())
    # What is no span stays, and spans are marked as the others.
    path.write_text(json.dumps(full))
    (new, *_) = json.loads(b"".join(open_corpus(str(path)).relabeled(changed)))
    results = new["annotations"][0]["result"]
    kept = full[0]["annotations"][0]["result"]
    assert all(result in results for result in kept)
    assert {"from_name": "ner", "to_name": "text", "type": "labels", "value": bob} in (
        results
    )


def test_commands_learn_from_tag_and_score_an_export(tmp_path, capfd):
    tasks, _ = exports(make_tagged_corpus(60, random_state=0))
    export, model = tmp_path / "export.json", tmp_path / "m.skcw"
    tagged, plain = tmp_path / "tagged.jsonl", tmp_path / "plain.conll"
    export.write_text(json.dumps(tasks, indent=1))
    assert main(["train", str(export), "-o", str(model), "-q", "--passes", "3"]) == 0
    assert main(["tag", str(model), str(export), "-o", str(tagged), "-c"]) == 0
    records = list(map(json.loads, tagged.read_text().splitlines()))
    assert [r["id"] for r in records] == [t["id"] for t in tasks]
    assert any(record["predicted"] for record in records)
    capfd.readouterr()
    assert main(["evaluate", str(tagged), "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["f1"] > 0.8
    assert main(["convert", str(export), str(plain), "-q"]) == 0
    _, y = read_columns(plain).split_label()
    assert list(map(list, y)) == [labels for _, labels in labeled(export)[0]]


def test_spans_that_cut_a_word_are_counted_by_task(tmp_path):
    path = tmp_path / "export.json"
    value = {"start": 0, "end": 5, "text": "Ann L", "labels": ["PER"]}
    path.write_text(json.dumps([task(7, "Ann Lee", [value])]))
    rows, _, notes = labeled(path, format="labelstudio")
    assert rows == [(["Ann", "Lee"], ["B-PER", "I-PER"])]
    assert len(notes) == 1
    assert f"widened to whole tokens: 1; first: {path}, task 1: 'Ann L'" in notes[0]
    rows, _, notes = labeled(path, format="labelstudio", misaligned="drop")
    assert rows == [(["Ann", "Lee"], ["O", "O"])]
    assert "left out" in notes[0]
