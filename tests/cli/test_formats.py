"""Every command reads columns, CoNLL-U, CSV and JSON lines, and tells its guess."""

import csv
import io
import json
import os
import threading

import pytest

from skcw.datasets import make_tagged_corpus
from skcw.io.formats import guess_format, open_corpus
from tests.cli.conftest import text_of

FORMATS = ("conll", "conllu", "csv", "jsonl", "ids.jsonl", "doccano.jsonl")


def written(corpus, names):
    """Return {ending: text} of a corpus in all formats."""
    texts = {"conll": text_of(corpus)}
    pairs = list(zip(corpus.tokens, corpus.labels, strict=True))
    texts["conllu"] = "".join(
        "# text = ...\n"
        + "".join(
            f"{i}\t{word}\t_\t{label}\t{tag}\t_\t0\troot\t_\t_\n"
            for i, ((word, tag), label) in enumerate(zip(x, y, strict=True), 1)
        )
        + "\n"
        for x, y in pairs
    )
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(["sentence_id", "token", "pos", "tag"])
    for s, (x, y) in enumerate(pairs):
        rows.writerows((s, *token, label) for token, label in zip(x, y, strict=True))
    texts["csv"] = table.getvalue()
    lists = [([w for w, _ in x], [t for _, t in x], y) for x, y in pairs]
    texts["jsonl"] = "".join(
        json.dumps({"tokens": w, "pos_tags": t, "tags": y}) + "\n" for w, t, y in lists
    )
    texts["ids.jsonl"] = "".join(
        json.dumps({"tokens": w, "pos_tags": t, "ner_tags": list(map(names.index, y))})
        + "\n"
        for w, t, y in lists
    )
    return texts


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with train.*, test.* and labels.json, and a model of each train file."""
    from skcw.cli import main

    folder = tmp_path_factory.mktemp("formats")
    train = make_tagged_corpus(60, random_state=1)
    test = make_tagged_corpus(20, random_state=2)
    names = sorted({label for y in (*train.labels, *test.labels) for label in y})
    for name, corpus in {"train": train, "test": test}.items():
        for ending, text in written(corpus, names).items():
            (folder / f"{name}.{ending}").write_text(text)
        source, target = (
            str(folder / f"{name}.{e}") for e in ("conll", "doccano.jsonl")
        )
        assert main(["convert", source, target, "--to", "doccano", "-q"]) == 0
    (folder / "labels.json").write_text(
        json.dumps({"id2label": dict(enumerate(names))})
    )
    for ending in FORMATS:
        assert main([*train_command(folder, ending), "-q", "--passes", "3"]) == 0
    return folder


def train_command(folder, ending):
    command = ["train", str(folder / f"train.{ending}"), "-o", model(folder, ending)]
    if ending == "ids.jsonl":
        command += ["--label-names", str(folder / "labels.json")]
    return command


def model(folder, ending):
    return str(folder / f"{ending}.skcw")


@pytest.mark.parametrize("ending", FORMATS)
def test_a_model_is_evaluated_on_a_file_like_its_own_without_a_word(
    run, folder, ending
):
    code, out, err = run("evaluate", model(folder, ending), folder / f"test.{ending}")
    assert (code, err) == (0, "")
    assert "FB1" in out


def test_the_same_sentences_in_three_formats_give_the_same_figures(run, folder):
    found = {
        run("evaluate", model(folder, ending), folder / f"test.{other}")[1]
        for ending in ("conll", "csv", "jsonl", "ids.jsonl")
        for other in ("conll", "csv", "jsonl")
    }
    assert len(found) == 1


@pytest.mark.parametrize("ending", FORMATS)
def test_a_tagged_file_can_be_evaluated(run, stdin, folder, ending):
    names = ["--label-names", folder / "labels.json"] if ending == "ids.jsonl" else []
    direct = run("evaluate", model(folder, ending), folder / f"test.{ending}")[1]
    code, tagged, err = run(
        "tag", model(folder, ending), folder / f"test.{ending}", "-q"
    )
    assert (code, err) == (0, "")
    stdin(tagged)
    code, out, err = run("evaluate", *names)
    assert code == 0, err
    assert out.splitlines() == direct.splitlines()[: len(out.splitlines())]


@pytest.mark.parametrize(
    ("ending", "title"),
    [
        ("conllu", "CoNLL-U"),
        ("csv", "CSV with a header"),
        ("jsonl", "JSON lines"),
        ("doccano.jsonl", "JSON lines"),
    ],
)
def test_a_guess_is_told_unless_the_model_has_learned_from_such_a_file(
    run, stdin, folder, ending, title
):
    path = folder / f"test.{ending}"
    if ending != "doccano.jsonl":
        columns = ["--columns", "word=form,pos=xpos"] if ending == "conllu" else []
        _, out, err = run("tag", model(folder, "conll"), path, *columns)
        assert err == f"skcw tag: {path} is read as {title} (--format says otherwise)\n"
        stdin(path.read_bytes())
        assert run("tag", model(folder, "conll"), *columns)[:2] == (0, out)
    assert run("tag", model(folder, ending), path)[2] == ""


def test_check_compare_and_inspect_read_all_formats(run, folder):
    names = ["--label-names", folder / "labels.json"]
    path = folder / "train.ids.jsonl"
    code, out, _ = run("check", path, *names, "--folds", 2, "--passes", 2, "--json")
    assert code == 0
    lines = {suspect["line"] for suspect in json.loads(out)["suspects"]}
    assert lines <= set(range(1, 61))
    files = [folder / "train.csv", folder / "test.jsonl"]
    code, out, err = run("compare", *files, "--learners", "perceptron", "--json", "-q")
    assert code == 0, err
    assert json.loads(out)["test"]["sentences"] == 20
    test = folder / "test.ids.jsonl"
    explained = run("inspect", model(folder, "ids.jsonl"), test, "--at", 0)
    assert explained == run("inspect", model(folder, "conll"), test, "--at", 0)[:1] + (
        explained[1],
        "",
    )
    assert explained[0] == 0


@pytest.mark.parametrize("ending", FORMATS)
def test_a_corrected_file_has_the_format_of_the_old_one(run, folder, ending, tmp_path):
    names = ["--label-names", folder / "labels.json"] if "ids" in ending else []
    path, table = folder / f"train.{ending}", tmp_path / "table.csv"
    corrected = tmp_path / f"new.{ending}"
    command = ["check", path, *names]
    assert run(*command, "--folds", 2, "--passes", 1, "-o", table)[0] == 0
    rows = list(csv.DictReader(io.StringIO(table.read_text())))[:12]
    assert rows
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0])
    writer.writeheader()
    writer.writerows(row | {"mark": "x"} for row in rows)
    table.write_text(text.getvalue())
    code, _, err = run(*command, "-q", "--fix", table, "-o", corrected)
    assert code == 0, err
    plain = {}
    for name in (path, corrected):
        code, out, err = run("convert", name, "-", "--to", "jsonl", "-q", *names)
        assert code == 0, err
        plain[name] = list(map(json.loads, out.splitlines()))
    expected = plain[path]
    for row in rows:
        labels, start = row["expected"].split(), int(row["position"])
        expected[int(row["sentence"])]["tags"][start : start + len(labels)] = labels
    assert plain[corrected] == expected
    # What is not labels is as it was, sentence by sentence.
    old, new = (name.read_text().splitlines() for name in (path, corrected))
    assert len(old) == len(new)
    different = sum(a != b for a, b in zip(old, new, strict=True))
    assert 0 < different <= sum(len(row["given"].split()) for row in rows)


def test_spans_of_a_text_come_back_as_spans(run, folder, tmp_path):
    (tmp_path / "new.jsonl").write_text('{"text": "Ann Lee left Madrid.", "id": 5}\n')
    args = [model(folder, "doccano.jsonl"), tmp_path / "new.jsonl", "-c", "-n", 2]
    code, out, err = run("tag", *args)
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert list(record) == ["text", "id", "predicted", "nbest2"]
    assert record["predicted"]
    for span in record["predicted"]:
        assert 0 <= span["start"] < span["end"] <= len(record["text"])
        assert 0 < span["confidence"] <= 1


def test_texts_are_cut_as_the_corpus_of_the_model_is(run, tmp_path):
    # A corpus that cuts at hyphens; by default Anna-Lee is one word.
    lines = ["Anna B-PER", "- O", "Lee B-ORG", "left O", ""]
    (tmp_path / "train.conll").write_text("\n".join(lines * 20))
    (tmp_path / "new.jsonl").write_text(
        '{"text": "Anna-Lee left", "spans": [{"start": 0, "end": 4, "label": "PER"}, '
        '{"start": 5, "end": 8, "label": "ORG"}]}\n'
    )
    trained = tmp_path / "model.skcw"
    assert run("train", tmp_path / "train.conll", "-o", trained, "-q")[0] == 0
    code, out, _ = run("tag", trained, tmp_path / "new.jsonl")
    assert code == 0
    found = [(s["start"], s["end"], s["label"]) for s in json.loads(out)["predicted"]]
    assert found == [(0, 4, "PER"), (5, 8, "ORG")]
    code, out, _ = run("evaluate", trained, tmp_path / "new.jsonl")
    assert code == 0 and out.startswith("processed 4 tokens with 2 phrases")
    code, out, _ = run("inspect", trained, tmp_path / "new.jsonl", "--at", 1)
    assert code == 0 and "Anna-Lee" not in out


def test_sentences_without_words_come_back(run, stdin, folder):
    stdin('{"tokens": []}\n\n{"tokens": [], "id": 3}\n')
    code, out, err = run("tag", model(folder, "jsonl"), "-c")
    assert (code, err) == (0, "")
    records = [json.loads(line) for line in out.splitlines()]
    assert [record["predicted"] for record in records] == [[], []]
    assert records[1]["id"] == 3


def test_rows_of_csv_stay_and_old_labels_make_room(run, stdin, folder):
    text = (folder / "test.csv").read_text()
    _, out, _ = run("tag", model(folder, "csv"), folder / "test.csv", "-c", "-n", 2)
    rows = list(csv.reader(io.StringIO(out)))
    assert [row[:4] for row in rows] == list(csv.reader(io.StringIO(text)))
    assert rows[0][4:] == ["predicted", "confidence", "nbest2"]
    stdin(out)
    assert run("tag", model(folder, "csv"), "-c", "-n", 2)[1] == out


def test_json_lines_are_written_for_any_input(run, folder, tmp_path):
    args = ["tag", model(folder, "conll"), folder / "test.conll", "--confidence"]
    code, out, err = run(*args, "--json")
    assert (code, err) == (0, "")
    records = [json.loads(line) for line in out.splitlines()]
    assert list(records[0]) == ["tokens", "pos_tags", "predicted", "confidence"]
    plain = run(*args)[1]
    words = [line.split() for line in plain.splitlines() if line]
    assert [w for r in records for w in r["predicted"]] == [row[3] for row in words]
    assert run(*args, f"--json={tmp_path / 'out.jsonl'}") == (0, "", "")
    assert (tmp_path / "out.jsonl").read_text() == out
    code, _, err = run(*args, "--json=a.jsonl", "-o", "b.jsonl")
    assert code == 2
    assert "there is one result" in err


def test_a_named_pipe_is_read_once(run, folder, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    data = (folder / "test.jsonl").read_bytes()
    writer = threading.Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    code, out, _ = run("tag", model(folder, "jsonl"), pipe)
    writer.join()
    assert code == 0
    assert out == run("tag", model(folder, "jsonl"), folder / "test.jsonl")[1]


@pytest.mark.parametrize(
    ("header", "first", "name", "expected"),
    [
        (None, None, "", "columns"),
        ("Ann NNP O", "Ann NNP O", "x.csv", "csv"),
        ("Ann NNP O", "Ann NNP O", "x.tsv", "columns"),
        ("sentence_id\tword", "sentence_id\tword", "x.tsv", "csv"),
        ("{ ( O", "{ ( O", "", "columns"),
        ("{", "{", "x.jsonl", "jsonl"),
        ('{"a": 1}', '{"a": 1}', "", "columns"),
        ('{"text": "a"}', '{"text": "a"}', "", "jsonl"),
        ('["a", {"entities": []}]', '["a", {"entities": []}]', "", "jsonl"),
        ("# x", "1\ta\t_\t_\t_\t_\t0\t_\t_\t_", "", "conllu"),
        ("# x", "1-2\tam\t_\t_\t_\t_\t_\t_\t_\t_", "", "conllu"),
        ("# x", "1\ta\t_\t_\t_\t_\t0\t_\t_\t_\tNOUN", "", "conllu"),
        ("# x", "2\ta\t_\t_\t_\t_\t0\t_\t_\t_", "", "columns"),
        ("# x", "1\ta\tb\tc\td\te\tf\tg\th\ti", "", "columns"),
        ("# x", "1\ta\t_", "x.conllu", "columns"),
    ],
)
def test_formats_are_guessed(header, first, name, expected):
    assert guess_format(header, first, name) == expected


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["train", "train.ids.jsonl"], 1, "holds numbers such as"),
        (
            ["train", "train.jsonl", "--label-column", "gold"],
            1,
            "no list of labels 'gold'",
        ),
        (["train", "train.jsonl", "--label-column", "2"], 2, "JSON lines have keys"),
        (["train", "train.jsonl", "--columns", "word,tags"], 2, "the labels, too"),
        (["train", "train.jsonl", "--columns", "word,lemma"], 1, "no column 'lemma'"),
        (["train", "train.csv", "--label-column", "gold"], 1, "no column 'gold'"),
        (["train", "train.csv", "--label-column", "9"], 1, "has 4 columns"),
        (["train", "train.csv", "--columns", "word=Token"], 1, "no column 'Token'"),
        (["train", "train.csv", "--columns", "word=9"], 1, "columns, not 9"),
        (
            ["train", "train.csv", "--sentence-column", "x"],
            1,
            "no column is called 'x'",
        ),
        (["train", "train.conll", "--columns", "word=Word"], 2, "have no names"),
        (["train", "train.conll", "--columns", "word=0,pos=0"], 2, "a column twice"),
        (["train", "train.conll", "--format", "jsonl"], 1, "not JSON"),
        (["train", "train.ids.jsonl", "--label-names", "O"], 2, "there is no file O"),
        (["tag", "csv.skcw", "words.csv"], 1, "has no column 'pos'"),
        (["evaluate", "jsonl.skcw", "words.jsonl"], 1, "has no labels"),
        (["evaluate", "test.csv"], 1, "has no labels predicted"),
        (["evaluate", "test.jsonl"], 1, "'predicted'"),
    ],
)
def test_what_a_file_lacks_is_told(run, folder, monkeypatch, args, code, message):
    monkeypatch.chdir(folder)
    (folder / "words.csv").write_text("sentence_id,word\n1,Ann\n")
    (folder / "words.jsonl").write_text('{"tokens": ["Ann"], "pos_tags": ["NNP"]}\n')
    more = ["-o", "new.skcw"] if args[0] == "train" else []
    found = run(*args, *more)
    assert found[0] == code
    assert message in found[2]
    assert not (folder / "new.skcw").exists()


def test_plain_text_is_split_as_the_corpus_of_the_model_is(run, tmp_path):
    (tmp_path / "train.conll").write_text("did O\nn't O\n\nAnn B-PER\ndid O\n\n" * 20)
    (tmp_path / "letter.txt").write_text("Ann didn't.\n\nAnn did.\n")
    args = ["-o", tmp_path / "m.skcw", "-q"]
    assert run("train", tmp_path / "train.conll", *args)[0] == 0
    as_text = ["--format", "text", "-q"]
    found = run("tag", tmp_path / "m.skcw", tmp_path / "letter.txt", *as_text)
    assert found == run("tag", tmp_path / "m.skcw", tmp_path / "letter.txt", "--text")
    assert found[1].startswith("Ann\t0\t3\tB-PER\ndid\t4\t7\tO\nn't\t7\t10\tO\n")


def test_plain_text_becomes_columns_and_spans_a_line_each(run, tmp_path):
    (tmp_path / "letter.txt").write_text("Ann left. Bob\ncame.")
    as_text = [tmp_path / "letter.txt", "-", "--format", "text", "-q"]
    code, out, _ = run("convert", *as_text, "--to", "columns")
    assert (code, out) == (0, "Ann\nleft\n.\n\nBob\ncame\n.\n\n")
    records = run("convert", *as_text, "--to", "prodigy")[1].splitlines()
    assert [json.loads(record)["text"] for record in records] == [
        "Ann left.",
        "Bob\ncame.",
    ]
    code, _, err = run("train", *as_text[:1], "-o", tmp_path / "m", *as_text[2:])
    assert code == 1 and "has no labels; it has word" in err


def test_spans_that_cut_a_word_are_read_as_in_training(run, tmp_path):
    record = {"text": "Ann Lee left.", "label": [[0, 5, "PER"]]}
    right = {"text": "Bob left.", "label": [[0, 3, "PER"]]}
    path, model = tmp_path / "a.jsonl", tmp_path / "m.skcw"
    path.write_text(f"{json.dumps(record)}\n{json.dumps(right)}\n")
    command = ["train", path, "-o", model, "--passes", 2]
    err = run(*command, "--misaligned", "drop")[2]
    assert err.count("spans left out") == 1
    # The model remembers it.
    code, _, err = run("evaluate", model, path)
    assert code == 0
    assert err.count("spans left out") == 1
    assert "spans widened" in run(*command)[2]
    # Predicted spans of another tool are counted as well.
    path.write_text(json.dumps(record | {"predicted": [[0, 2, "PER"]]}))
    err = run("evaluate", path)[2]
    assert "line 1, predicted: 'An' (PER) touches ['Ann']" in err
    assert f"first: {path}, line 1: 'Ann L'" in err


def test_a_file_with_spans_left_out_is_corrected(run, tmp_path):
    path, table = tmp_path / "a.jsonl", tmp_path / "table.csv"
    records = [{"text": "Ann Lee met Bob.", "label": [[0, 5, "PER"], [12, 15, "PER"]]}]
    records += [{"text": "Bob left.", "label": [[0, 3, "PER"]]}] * 4
    records += [{"text": "Bob left.", "label": []}]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    corpus = open_corpus(str(path), {"misaligned": "drop"})
    parts = list(corpus.relabeled({0: ["O", "O", "O", "B-LOC", "O"]}))
    assert json.loads(parts[0]) == records[0] | {"label": [[12, 15, "LOC"]]}
    assert list(map(json.loads, parts[1:])) == records[1:]
    command = ["check", path, "--misaligned", "drop"]
    err = run(*command, "--folds", 2, "--passes", 1, "-o", table)[2]
    assert err.count("spans left out") == 1
    # The file is read three times, and told of once.
    err = run(*command, "--fix", table, "-o", tmp_path / "new.jsonl")[2]
    assert err.count("spans left out") == 1
    assert (tmp_path / "new.jsonl").read_text() == path.read_text()
