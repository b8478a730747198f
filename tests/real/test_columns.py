"""The column files of the real corpora: whole, in blocks, and written again."""

import gzip

import pytest

from skcw.data import convert_labels
from skcw.io import iter_columns, read_columns, write_columns

pytestmark = pytest.mark.real_data

# Columns, sentences and tokens of each file.
FILES = {
    "conll2000/train": (3, 8_936, 211_727),
    "conll2000/test": (3, 2_012, 47_377),
    "conll2002-es/train": (3, 8_323, 264_715),
    "conll2002-es/dev": (3, 1_915, 52_923),
    "conll2002-es/test": (3, 1_517, 51_533),
    "conll2002-nl/train": (3, 15_806, 202_644),
    "conll2002-nl/dev": (3, 2_895, 37_687),
    "conll2002-nl/test": (3, 5_195, 68_875),
    "ark-twitter-pos/train": (2, 1_000, 14_619),
    "ark-twitter-pos/dev": (2, 327, 4_823),
    "ark-twitter-pos/test": (2, 500, 7_152),
    "ark-twitter-pos/daily547": (2, 547, 7_707),
    "ud-english-ewt/train": (3, 12_544, 204_577),
    "ud-english-ewt/dev": (3, 2_001, 25_147),
    "ud-english-ewt/test": (3, 2_077, 25_094),
}


@pytest.fixture(params=FILES)
def corpus(request, data_home):
    return data_home / f"{request.param}.txt.gz", FILES[request.param]


def test_every_sequence_set_has_its_sentences_and_tokens(corpus):
    path, expected = corpus
    found = read_columns(path)
    assert (found.n_columns, len(found), found.n_tokens) == expected
    blocks = list(iter_columns(path, block_tokens=10_000))
    assert sum(map(len, blocks)) == len(found)
    assert [s for block in blocks for s in block] == list(found)
    assert [line for block in blocks for line in block.lines] == found.lines.tolist()


def test_every_sequence_set_is_echoed_and_written_again(corpus, tmp_path):
    path, _ = corpus
    with gzip.open(path) as file:
        text = file.read()
    blocks = iter_columns(path, block_tokens=5_000, with_text=True)
    assert b"".join(raw for raw, _ in blocks) == text
    write_columns(tmp_path / "copy.gz", read_columns(path))
    with gzip.open(tmp_path / "copy.gz") as file:
        assert file.read().strip(b"\n") == text.strip(b"\n")


@pytest.mark.parametrize("name", ["conll2000/train", "conll2002-nl/train"])
@pytest.mark.parametrize("scheme", ["IOB1", "IOBES", "BILOU"])
def test_labels_of_real_corpora_are_converted_and_back(data_home, name, scheme):
    _, y = read_columns(data_home / f"{name}.txt.gz").split_label()
    converted = convert_labels(y, scheme, source="IOB2")
    assert converted.tolist() != y.tolist()
    assert convert_labels(converted, "IOB2", source=scheme).tolist() == y.tolist()


@pytest.mark.parametrize("part", ["train", "dev", "test"])
def test_the_one_fault_of_each_spanish_file_is_found(data_home, part):
    _, y = read_columns(data_home / "conll2002-es" / f"{part}.txt.gz").split_label()
    with pytest.raises(ValueError, match=r"token 0 has the label 'I-"):
        convert_labels(y, "IOBES", source="IOB2")
    with pytest.warns(UserWarning, match=r"labels repaired: 1, sentences: 1; first"):
        mended = convert_labels(y, "IOB2")
    assert sum(a != b for a, b in zip(mended, y, strict=True)) == 1
