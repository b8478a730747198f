import gzip
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcw.data import TokenColumns
from skcw.datasets import (
    fetch_ark_twitter,
    fetch_conll2000,
    fetch_conll2002,
    fetch_ud_ewt,
    get_data_home,
    load_conll2003,
)
from skcw.exceptions import ColumnFileError

CHUNKS = [[("#", "#", "B-NP"), ("1", "CD", "I-NP")], [("No", "UH", "O")]]
SPANISH = [[("La", "DA", "B-LOC"), ("Coruña", "NC", "I-LOC")]]
DUTCH = [[("Italië", "N", "B-LOC")], [("ja", "Adv", "O")]]
ENGLISH = [[("EU", "NNP", "I-NP", "I-ORG")], [("No", "UH", "I-INTJ", "O")]]
TWEETS = [[("I", "O"), ("won't", "V")], [("#js", "#")]]
WEB = [[("Al", "PROPN", "NNP"), ("-", "PUNCT", "HYPH")]]
CONLLU = """\
# text = Al -
1-2\tAl-\t_\t_\t_\t_\t_\t_\t_\t_
1\tAl\tAl\tPROPN\tNNP\t_\t0\troot\t_\t_
2\t-\t-\tPUNCT\tHYPH\t_\t1\tpunct\t_\t_
2.1\tis\tbe\tAUX\tVBZ\t_\t_\t_\t_\t_

"""


def write(path, sentences, separator="\t", encoding="utf-8"):
    """Write sentences of tuples; gzipped if the name says so."""
    lines = ["\n".join(map(separator.join, sentence)) for sentence in sentences]
    raw = ("\n\n".join(lines) + "\n").encode(encoding)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)


def inputs(sentences, width=-1):
    return [[token[:width] for token in sentence] for sentence in sentences]


def labels(sentences):
    return [[token[-1] for token in sentence] for sentence in sentences]


def spanish(**options):
    return fetch_conll2002("es", **options)


def dutch(**options):
    return fetch_conll2002("nl", **options)


def english(data_home, **options):
    return load_conll2003(data_home=data_home, **options)


# Loader, folder and file in the uniform layout, sentences, columns of the tokens.
UNIFORM = [
    (fetch_conll2000, "conll2000", CHUNKS, ("word", "pos")),
    (spanish, "conll2002-es", SPANISH, ("word", "pos")),
    (dutch, "conll2002-nl", DUTCH, ("word", "pos")),
    (english, "conll2003", ENGLISH, ("word", "pos", "chunk")),
    (fetch_ark_twitter, "ark-twitter-pos", TWEETS, ("word",)),
    (fetch_ud_ewt, "ud-english-ewt", WEB, ("word",)),
]
# Loader, split, original file, sentences, separator, encoding.
ORIGINAL = [
    (fetch_conll2000, "train", "train.txt", CHUNKS, " ", "utf-8"),
    (fetch_conll2000, "test", "conll2000/test.txt.gz", CHUNKS, " ", "utf-8"),
    (spanish, "train", "esp.train", SPANISH, " ", "latin-1"),
    (spanish, "dev", "conll2002/esp.testa", SPANISH, " ", "utf-8"),
    (spanish, "test", "conll2002-es/esp.testb.gz", SPANISH, " ", "latin-1"),
    (dutch, "train", "ned.train", DUTCH, " ", "latin-1"),
    (dutch, "dev", "ned.testa", DUTCH, " ", "latin-1"),
    (dutch, "test", "ned.testb", DUTCH, " ", "utf-8"),
    (english, "train", "eng.train", ENGLISH, " ", "utf-8"),
    (english, "dev", "eng.testa", ENGLISH, " ", "utf-8"),
    (english, "dev", "valid.txt", ENGLISH, " ", "utf-8"),
    (english, "test", "eng.testb", ENGLISH, " ", "utf-8"),
    (fetch_ark_twitter, "train", "oct27.train", TWEETS, "\t", "utf-8"),
    (fetch_ark_twitter, "dev", "oct27.splits/oct27.dev", TWEETS, "\t", "utf-8"),
    (
        fetch_ark_twitter,
        "test",
        "twpos-data-v0.3/oct27.splits/oct27.test",
        TWEETS,
        "\t",
        "utf-8",
    ),
    (fetch_ark_twitter, "daily547", "daily547.conll", TWEETS, "\t", "utf-8"),
]


@pytest.mark.parametrize(("load", "folder", "sentences", "columns"), UNIFORM)
@pytest.mark.parametrize("suffix", [".txt", ".txt.gz"])
def test_the_uniform_layout_is_read(tmp_path, load, folder, sentences, columns, suffix):
    write(tmp_path / folder / f"train{suffix}", sentences)
    corpus = load(data_home=tmp_path)
    assert list(corpus.tokens) == inputs(sentences, len(columns))
    assert corpus.labels.tolist() == labels(sentences)
    assert corpus.labels.dtype == object and corpus.labels.ndim == 1
    assert corpus.columns == corpus.tokens.names == columns
    assert corpus.split.tolist() == ["train"] * len(sentences)
    assert corpus.filenames == [str(tmp_path / folder / f"train{suffix}")]
    assert "Terms of use" in corpus.DESCR


@pytest.mark.parametrize(
    ("load", "split", "name", "sentences", "separator", "encoding"), ORIGINAL
)
def test_the_original_file_names_are_read(
    tmp_path, load, split, name, sentences, separator, encoding
):
    write(tmp_path / name, sentences, separator, encoding)
    corpus = load(data_home=tmp_path, subset=split)
    assert list(corpus.tokens) == inputs(sentences)
    assert corpus.labels.tolist() == labels(sentences)


@pytest.mark.parametrize(("label", "tags"), [("xpos", -1), ("upos", 1)])
@pytest.mark.parametrize("packed", [False, True])
def test_the_treebank_is_read_as_published(tmp_path, label, tags, packed):
    name = "UD_English-EWT/en_ewt-ud-dev.conllu" + (".gz" if packed else "")
    raw = CONLLU.encode()
    (tmp_path / "UD_English-EWT").mkdir()
    (tmp_path / name).write_bytes(gzip.compress(raw) if packed else raw)
    corpus = fetch_ud_ewt(data_home=tmp_path, subset="dev", label=label)
    assert list(corpus.tokens) == inputs(WEB, 1)
    assert corpus.labels.tolist() == [[token[tags] for token in WEB[0]]]


def test_lines_between_documents_are_no_tokens(tmp_path):
    marked = [[("-DOCSTART-", "-DOCSTART-", "O"), *DUTCH[0]], DUTCH[1]]
    write(tmp_path / "ned.train", marked, " ", "latin-1")
    corpus = dutch(data_home=tmp_path)
    assert list(corpus.tokens) == inputs(DUTCH)
    marked = [[("-DOCSTART-", "-X-", "O", "O")], *ENGLISH]
    write(tmp_path / "eng.train", marked, " ")
    assert list(english(tmp_path).tokens) == inputs(ENGLISH)


def test_all_is_the_splits_one_after_the_other(tmp_path):
    for split, sentences in (("train", CHUNKS), ("test", CHUNKS[::-1])):
        write(tmp_path / "conll2000" / f"{split}.txt", sentences)
    corpus = fetch_conll2000(data_home=tmp_path, subset="all")
    both = CHUNKS + CHUNKS[::-1]
    assert list(corpus.tokens) == inputs(both)
    assert corpus.labels.tolist() == labels(both)
    assert corpus.split.tolist() == ["train", "train", "test", "test"]


def test_all_tweets_are_without_the_daily_ones(tmp_path):
    for split in ("train", "dev", "test", "daily547"):
        write(tmp_path / "ark-twitter-pos" / f"{split}.txt", TWEETS)
    corpus = fetch_ark_twitter(data_home=tmp_path, subset="all")
    assert np.unique(corpus.split).tolist() == ["dev", "test", "train"]


def test_return_X_y_gives_tokens_and_labels(tmp_path):
    write(tmp_path / "train.txt", CHUNKS, " ")
    tokens, y = fetch_conll2000(data_home=tmp_path, return_X_y=True)
    assert isinstance(tokens, TokenColumns)
    assert list(tokens) == inputs(CHUNKS) and y.tolist() == labels(CHUNKS)


@pytest.mark.parametrize(("load", "folder"), [row[:2] for row in UNIFORM])
def test_what_is_missing_is_named_with_places_source_and_terms(tmp_path, load, folder):
    with pytest.raises(FileNotFoundError) as caught:
        load(data_home=tmp_path, subset="test")
    message = str(caught.value)
    assert str(tmp_path) in message and f"{folder}/test.txt" in message
    assert "https://" in message and "Terms of use" in message
    assert "SKCW_DATA" in message


def test_all_files_are_looked_for_before_one_is_read(tmp_path):
    (tmp_path / "train.txt").write_text("not a column file\nat all")
    with pytest.raises(FileNotFoundError, match="test part"):
        fetch_conll2000(data_home=tmp_path, subset="all")


def test_a_file_with_other_columns_is_refused_by_name(tmp_path):
    write(tmp_path / "train.txt", TWEETS)
    with pytest.raises(ColumnFileError, match=r"train\.txt has 2 columns where 3"):
        fetch_conll2000(data_home=tmp_path)
    (tmp_path / "train.txt").write_text("")
    with pytest.raises(ColumnFileError, match=r"train\.txt has 0 columns where 3"):
        fetch_conll2000(data_home=tmp_path)


@pytest.mark.parametrize("load", [row[0] for row in UNIFORM])
def test_a_subset_that_does_not_exist_is_refused(tmp_path, load):
    with pytest.raises(ValueError, match=r"subset must be one of.*'all'"):
        load(data_home=tmp_path, subset="validation")


def test_other_languages_and_labels_are_refused(tmp_path):
    with pytest.raises(ValueError, match="lang must be"):
        fetch_conll2002("de", data_home=tmp_path)
    with pytest.raises(ValueError, match="label must be"):
        fetch_ud_ewt(data_home=tmp_path, label="word")


def test_the_data_home_is_given_or_named_by_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("SKCW_DATA", str(tmp_path / "a"))
    assert get_data_home(tmp_path / "b") == tmp_path / "b"
    assert get_data_home() == tmp_path / "a"
    write(tmp_path / "a" / "train.txt", CHUNKS, " ")
    assert len(fetch_conll2000().tokens) == len(CHUNKS)


@pytest.mark.parametrize("value", [None, ""])
def test_without_a_name_the_data_home_is_in_the_users_home(
    tmp_path, monkeypatch, value
):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SKCW_DATA", raising=False)
    if value is not None:
        monkeypatch.setenv("SKCW_DATA", value)
    assert get_data_home() == tmp_path / "skcw_data"
    assert not get_data_home().exists()


tokens_of_two = st.tuples(st.sampled_from("abc"), st.sampled_from("äö"))
corpora = st.lists(st.lists(tokens_of_two, max_size=4), max_size=4)


@given(st.lists(corpora, min_size=1, max_size=4))
def test_stacking_keeps_every_sentence_in_order(parts):
    names = ("word", "pos")
    columns = [TokenColumns.from_sequences(part, names=names) for part in parts]
    stacked = TokenColumns.from_sequences(chain.from_iterable(columns), names)
    assert list(stacked) == [sentence for part in parts for sentence in part]
    assert stacked.names == names
