"""JSON lines in all their forms are read, and written so that they can be read."""

import gzip
import io
import json
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skcw.data import TokenColumns, extract_spans
from skcw.exceptions import ColumnFileError
from skcw.io import read_json_lines, write_json_lines
from skcw.io.formats import open_corpus
from skcw.io.json_records import label_names, read_record, simple_tokens

NAMES = ["O", "B-PER", "I-PER"]
TEXT = "Ann Lee left."
TOKENS = [(0, 3), (4, 7), (8, 12), (12, 13)]
LABELS = ["B-PER", "I-PER", "O", "O"]


def read(*records, **options):
    """Return records, or lines of text, as columns."""
    lines = (r if isinstance(r, str) else json.dumps(r) for r in records)
    return read_json_lines(io.StringIO("\n".join(lines)), **options)


def with_tokens(**more):
    tokens = [{"start": a, "end": b, "id": i} for i, (a, b) in enumerate(TOKENS)]
    return {"text": TEXT, "tokens": tokens, **more}


SPANS = {
    "prodigy": with_tokens(spans=[{"start": 0, "end": 7, "label": "PER"}]),
    "spacy doc": with_tokens(ents=[{"start": 0, "end": 7, "label": "PER"}]),
    "spacy pair": [TEXT, {"entities": [[0, 7, "PER"]]}],
    "doccano": {"id": 3, "text": TEXT, "label": [[0, 7, "PER"]]},
    "old doccano": {"text": TEXT, "labels": [[0, 7, "PER"]]},
    "doccano relations": {
        "text": TEXT,
        "entities": [{"id": 1, "label": "PER", "start_offset": 0, "end_offset": 7}],
        "relations": [],
    },
}


@pytest.mark.parametrize("record", SPANS.values(), ids=SPANS)
def test_spans_of_characters_become_labels(record):
    X, y = read(record).split_label("label")
    assert y.tolist() == [LABELS]
    assert X[0] == [(TEXT[a:b],) for a, b in TOKENS]


@pytest.mark.parametrize("key", ["tags", "ner_tags", "labels", "label", "ner"])
def test_labels_go_by_several_keys(key):
    X, y = read({"id": 1, "tokens": ["a", "b"], key: ["O", "B-PER"]}).split_label()
    assert X.names == ("word",)
    assert y.tolist() == [["O", "B-PER"]]


@pytest.mark.parametrize(
    "names",
    [
        NAMES,
        dict(enumerate(NAMES)),
        {"0": "O", "1": "B-PER", "2": "I-PER"},
        {name: i for i, name in enumerate(NAMES)},
        {"id2label": {"0": "O", "1": "B-PER", "2": "I-PER"}},
        SimpleNamespace(names=NAMES),
        SimpleNamespace(feature=SimpleNamespace(names=NAMES)),
        {"features": {"ner_tags": {"feature": {"names": NAMES, "_type": "X"}}}},
    ],
    ids=[
        "list", "id2label", "text keys", "label2id", "config", "ClassLabel", "Sequence",
        "dataset_info",
    ],
)  # fmt: skip
def test_numbers_get_their_names(names):
    columns = read(
        {"tokens": ["a", "b"], "ner_tags": [1, 2]}, names=names, label="ner_tags"
    )
    assert columns.split_label()[1].tolist() == [["B-PER", "I-PER"]]


def test_other_lists_are_columns_and_the_label_comes_last():
    columns = read(
        {"ner_tags": ["O"], "tokens": ["a"], "pos_tags": [7], "chunk": ["B-NP"], "x": 1}
    )
    assert columns.names == ("word", "pos", "chunk", "ner_tags")
    assert columns[0] == [("a", "7", "B-NP", "O")]


def test_another_key_can_be_the_label():
    record = {"tokens": ["a"], "tags": ["O"], "predicted": ["B-X"]}
    assert read(record, label="predicted").split_label()[1][0] == ["B-X"]


def test_blanks_of_spacy_are_no_words_and_its_tags_are_a_column():
    record = {
        "text": "Ann\n\nleft",
        "tokens": [
            {"start": 0, "end": 3, "pos": "PROPN"},
            {"start": 3, "end": 5, "pos": "SPACE"},
            {"start": 5, "end": 9, "pos": "VERB"},
        ],
    }
    assert read(record)[0] == [("Ann", "PROPN"), ("left", "VERB")]


def test_a_tokenizer_of_ones_own_is_asked():
    columns = read(
        {"text": "a.", "label": [[0, 2, "X"]]}, tokenize=lambda text: [(0, 2)]
    )
    assert columns[0] == [("a.", "B-X")]


# Blanks at the border of a span cut no token.
CUT = [{"text": "Bob, Eve.", "label": [[0, 3, "PER"], [4, 8, "PER"]]}]
CUT += [{"text": TEXT, "label": [[0, 5, "PER"], [9, 12, "VERB"]]}]


def test_spans_that_cut_a_token_are_widened_and_counted():
    told = r"widened to whole tokens: 2; first: the input, line 2: 'Ann L' \(PER\) touc"
    with pytest.warns(UserWarning, match=rf"{told}hes \['Ann', 'Lee'\]") as found:
        columns = read(*CUT)
    assert [(w.filename, len(found)) for w in found] == [(__file__, 1)]
    assert columns.column("label")[1] == ["B-PER", "I-PER", "B-VERB", "O"]


def test_labels_that_are_repaired_in_spans_are_told(tmp_path):
    X, y = [["Ann", "left"], ["met", "Bob"]], [["B-X", "O"], ["O", "I-X"]]
    with pytest.warns(UserWarning, match="1; first: sentence 1, token 1, I-X after O"):
        write_json_lines(tmp_path / "a", X, y, form="spacy")
    # A warning would be an error.
    write_json_lines(tmp_path / "a", X, y)
    write_json_lines(tmp_path / "a", X, [["NN", "VB"], ["VB", "NN"]], form="spacy")


def test_spans_that_cut_a_token_can_be_dropped_or_refused():
    with pytest.warns(UserWarning, match=r"left out, as they .*: 2; first: .*, line 2"):
        y = read(*CUT, misaligned="drop").column("label")
    assert y.tolist() == [["B-PER", "O", "B-PER", "O"], ["O"] * 4]
    with pytest.raises(ColumnFileError, match=r"line 2: .*'Ann L', cuts a token of"):
        read(*CUT, misaligned="raise")
    with pytest.raises(ValueError, match="misaligned is 'keep'; it must be one of"):
        read(*CUT, misaligned="keep")
    # Tokens of the record's own are never widened to.
    record = with_tokens(spans=[{"start": 0, "end": 5, "label": "X"}])
    with pytest.warns(UserWarning, match="left out"):
        assert read(record, misaligned="drop").column("label")[0] == ["O"] * 4


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"tokens": ["a"], "ner_tags": [0]}, "'ner_tags' holds numbers such as 0"),
        ({"tokens": ["a", "b"], "tags": ["O"]}, "2 tokens, but 1 'tags'"),
        ({"tokens": [1, 2]}, 'its tokens are not strings, and it has no "text"'),
        ({"words": "a b"}, "a sentence is an object with"),
        ([{"tokens": ["a"]}], "each of several records on a line of its own"),
        ("{", "not JSON"),
        ("[", "a list of records must be written one record per line"),
        ({"text": "Ann", "label": [[0, 9, "PER"]]}, "not within the text"),
        ({"text": "Ann", "label": [[2, 2, "PER"]]}, "not within the text"),
        ({"text": "Ann", "label": [[0, "3", "PER"]]}, r"is not \[start, end, label\]"),
        ({"text": "Ann", "label": ["PER"]}, r"is not \[start, end, label\]"),
        ({"text": "A  B", "label": [[1, 3, "X"]]}, "holds no token: '  '"),
        ({"text": "Ann", "label": [[0, 3, "X"], [0, 3, "Y"]]}, "overlaps another one"),
        ({"text": "Ann", "label": [[0, 1, "X"], [1, 3, "Y"]]}, "another one in 'Ann'"),
        (with_tokens(spans=[{"start": 0, "end": 5, "label": "X"}]), "cuts a token"),
        ({"text": "a", "tokens": [{"start": 0, "end": 9}]}, "no start and end within"),
    ],
)
def test_a_line_that_is_no_sentence_is_told(record, message):
    with pytest.raises(ColumnFileError, match=f"the input, line 2: .*{message}"):
        read("", record)


def test_records_must_have_the_same_columns():
    with pytest.raises(
        ColumnFileError, match=r"line 2: no value for each token in 'tags'"
    ):
        read({"tokens": ["a"], "tags": ["O"]}, {"tokens": ["a"]})
    with pytest.raises(ColumnFileError, match="no list of labels 'gold'; the keys are"):
        read({"tokens": ["a"], "tags": ["O"]}, label="gold")
    with pytest.raises(ColumnFileError, match="no list of spans 'gold'; the keys are"):
        read({"text": "a"}, label="gold")


def test_names_that_are_none_are_told():
    with pytest.raises(ColumnFileError, match="'ner_tags' holds 7, which has no name"):
        read({"tokens": ["a"], "ner_tags": [7]}, names=NAMES)
    with pytest.raises(ValueError, match="give the names of the labels in a list"):
        read({"tokens": ["a"], "ner_tags": [7]}, names=[1, 2])


def test_labels_that_nobody_asks_for_may_be_wrong():
    for record in (
        {"tokens": ["a"], "ner_tags": [0]},
        {"text": "a", "label": [[0, 9, "X"]]},
    ):
        sentence = read_record(record, with_labels=False)
        assert (list(sentence.columns), sentence.labels) == (["word"], None)


def test_an_empty_sentence_stays():
    columns = read({"tokens": [], "tags": []}, {"tokens": ["a"], "tags": ["O"]})
    assert columns.lengths.tolist() == [0, 1]
    assert columns.lines.tolist() == [2]
    assert len(read("")) == 0


kinds = st.sampled_from(["PER", "LOC"])
words = st.text("ab1é-.", min_size=1, max_size=3)


@st.composite
def labeled(draw):
    """Return words and IOB2 labels."""
    tokens, labels = [], []
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.none() | kinds)
        span = draw(st.lists(words, min_size=1, max_size=3))
        tokens += span
        inside = [f"I-{kind}"] * (len(span) - 1)
        labels += ["O"] * len(span) if kind is None else [f"B-{kind}", *inside]
    return tokens, labels


@settings(max_examples=60, deadline=None)
@given(
    st.lists(labeled(), min_size=1, max_size=3),
    st.sampled_from(["tokens", "ids", "prodigy"]),
)
def test_what_is_written_with_tokens_is_read_again(tmp_path_factory, corpus, form):
    path = tmp_path_factory.mktemp("json") / "corpus.jsonl"
    X, y = [tokens for tokens, _ in corpus], [labels for _, labels in corpus]
    names = ["O", *(f"{p}-{k}" for p in "BI" for k in ("PER", "LOC"))]
    write_json_lines(path, X, y, form=form, names=names)
    again, labels = read_json_lines(path, names=names).split_label()
    assert again.column("word").tolist() == X
    assert labels.tolist() == y


@settings(max_examples=60, deadline=None)
@given(labeled(), st.sampled_from(["doccano", "spacy"]))
def test_spans_without_tokens_are_read_again(tmp_path_factory, sentence, form):
    path = tmp_path_factory.mktemp("json") / "corpus.jsonl.gz"
    tokens, labels = sentence
    write_json_lines(path, [tokens], [labels], form=form)
    X, y = read_json_lines(path).split_label()
    text = " ".join(tokens)
    expected = {
        (kind, "".join(tokens[start:end])) for kind, start, end in extract_spans(labels)
    }
    found = X.column(0)[0]
    assert expected == {
        (kind, "".join(found[start:end])) for kind, start, end in extract_spans(y[0])
    }
    assert "".join(found) == "".join(text.split())


def test_the_same_sentences_give_the_same_bytes(tmp_path):
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        write_json_lines(tmp_path / name, [["Ann"]], [["B-PER"]])
    a, b = ((tmp_path / name).read_bytes() for name in ("a.jsonl.gz", "b.jsonl.gz"))
    assert a == b
    assert gzip.decompress(a) == b'{"tokens": ["Ann"], "tags": ["B-PER"]}\n'


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        ([["O"]], {"form": "xml"}, "form is 'xml'"),
        ([["O"]], {"form": "ids"}, "needs the names of the labels"),
        ([["X"]], {"form": "ids", "names": NAMES}, "sentence 0: the label 'X' has no"),
        ([["O", "O"]], {}, "sequence 0 has 1 tokens but 2 labels"),
    ],
)
def test_what_cannot_be_written_is_told(tmp_path, labels, options, message):
    path = tmp_path / "corpus.jsonl"
    with pytest.raises(ValueError, match=message):
        write_json_lines(path, [["Ann"]], labels, **options)
    assert not path.exists()


def test_columns_are_written_beside_the_tokens(tmp_path):
    X = TokenColumns.from_sequences([[("Ann", "NNP")]])
    write_json_lines(tmp_path / "corpus.jsonl", X)
    assert json.loads((tmp_path / "corpus.jsonl").read_text()) == {
        "tokens": ["Ann"],
        "pos_tags": ["NNP"],
    }


@given(st.text())
def test_simple_tokens_leave_out_blanks_alone(text):
    places = simple_tokens(text)
    assert "".join(text[a:b] for a, b in places) == "".join(text.split())
    assert all(a < b for a, b in places)


def test_names_of_nothing_are_nothing():
    assert label_names(None) is None


@pytest.mark.parametrize("form", ["tokens", "prodigy", "doccano", "spacy"])
def test_other_labels_are_written_in_the_form_of_the_record(form, tmp_path):
    X, path = [["Ann", "Lee", "left"], ["Bob", "left"]], tmp_path / "c.jsonl"
    write_json_lines(path, X, [["B-P", "I-P", "O"], ["O", "O"]], form=form)
    before = path.read_text().splitlines()
    labels = {1: ["B-P", "O"]}
    path.write_bytes(b"".join(open_corpus(str(path)).relabeled(labels)))
    assert path.read_text().splitlines()[0] == before[0]
    write_json_lines(tmp_path / "d", X, [["B-P", "I-P", "O"], labels[1]], form=form)
    new, made = (
        json.loads(p.read_text().splitlines()[1]) for p in (path, tmp_path / "d")
    )
    if form == "prodigy":  # which numbers the tokens, too
        for span in made["spans"]:
            del span["token_start"], span["token_end"]
    assert new == made
    labels = {0: ["B-P", "B-Q", "O"]}
    path.write_bytes(b"".join(open_corpus(str(path)).relabeled(labels)))
    assert [s.labels for s in open_corpus(str(path)).sentences()] == [
        labels[0],
        ["B-P", "O"],
    ]
