"""Shards in files: what comes back, in this process and in others; what is refused."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as any_array

from skcw._model import shards as _files
from skcw._model.shards import write_shard
from skcw.exceptions import ShardError

CORPUS = {
    "offsets": np.array([0, 2, 3]),
    "indices": np.array([4, 5, 6], dtype=np.int32),
    "values": None,
    "weight": np.array([1.0, 0.5]),
}

READ = """
import pickle, sys
shard = pickle.load(sys.stdin.buffer)
header, arrays = shard.open()
print(header["labels"], {name: array.tolist() for name, array in arrays.items()})
"""


def spoil(path, place):
    """Change one byte of a file in place, and let its time of change tell."""
    content = bytearray(Path(path).read_bytes())
    content[place] ^= 1
    with open(path, "r+b") as file:
        file.write(content)
    os.utime(path, ns=(1, 1))


@given(
    st.dictionaries(
        st.text("abc", min_size=1, max_size=3),
        any_array(st.sampled_from(["<i4", "<i8", "<f4", "<f8"]), st.integers(0, 5)),
        max_size=4,
    )
)
def test_arrays_come_back_bit_for_bit(tmp_path_factory, arrays):
    shard = write_shard(tmp_path_factory.mktemp("shards"), "one", arrays, {"n": 3})
    header, found = shard.open()
    shard.close()
    assert header == {"n": 3}
    assert {name: (a.dtype, a.tobytes()) for name, a in found.items()} == {
        name: (a.dtype, a.tobytes()) for name, a in arrays.items()
    }


def test_another_process_opens_it_by_what_is_sent(tmp_path):
    shard = write_shard(tmp_path, "one", CORPUS, {"labels": ["A", "B"]})
    sent = pickle.dumps(shard)
    assert len(sent) < 500
    found = subprocess.run(
        [sys.executable, "-c", READ], input=sent, capture_output=True, check=True
    )
    expected = {name: a.tolist() for name, a in CORPUS.items() if a is not None}
    found = found.stdout.decode()
    assert found.startswith("['A', 'B']")
    assert all(f"'{name}': {values}" in found for name, values in expected.items())


def test_arrays_are_mapped_and_opened_once(tmp_path):
    shard = write_shard(tmp_path, "one", CORPUS)
    _, arrays = shard.open()
    assert pickle.loads(pickle.dumps(shard)).open()[1] is arrays
    arrays["weight"][0] = 7.0  # in this process alone
    shard.close()
    assert shard.open()[1]["weight"].tolist() == [1.0, 0.5]


def test_equal_content_has_an_equal_digest_and_other_content_another(tmp_path):
    first = write_shard(tmp_path, "one", CORPUS)
    assert write_shard(tmp_path, "two", CORPUS).digest == first.digest
    other = {**CORPUS, "weight": np.array([1.0, 0.25])}
    assert write_shard(tmp_path, "three", other).digest != first.digest
    assert write_shard(tmp_path, "four", CORPUS, {"n": 1}).digest != first.digest


def test_few_files_stay_open(tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "MOST_OPEN", 2)
    shards = [write_shard(tmp_path, f"{k}", {"k": np.array([k])}) for k in range(4)]
    assert [int(shard.open()[1]["k"][0]) for shard in shards] == [0, 1, 2, 3]
    assert len(_files._opened) == 2


@pytest.mark.parametrize("opened", [False, True])
def test_a_changed_byte_is_refused_wherever_it_is(tmp_path, opened):
    shard = write_shard(tmp_path, "one", CORPUS)
    for place in range(0, shard.n_bytes, 7):
        assert write_shard(tmp_path, "one", CORPUS) == shard
        if opened:
            shard.open()
        spoil(shard.path, place)
        with pytest.raises(ShardError, match="not what was written there"):
            shard.open()


def test_a_torn_file_is_refused(tmp_path):
    shard = write_shard(tmp_path, "one", CORPUS)
    content = Path(shard.path).read_bytes()
    for n_bytes in (0, 4, 100, len(content) - 1):
        Path(shard.path).write_bytes(content[:n_bytes])
        with pytest.raises(ShardError, match="not what was written there"):
            shard.open()


def test_another_shard_in_its_place_is_refused(tmp_path):
    shard = write_shard(tmp_path, "one", CORPUS)
    shard.open()
    write_shard(tmp_path, "one", {"offsets": np.arange(9)})
    with pytest.raises(ShardError, match="another one was written in its place"):
        shard.open()


def test_a_lost_file_says_who_has_to_see_the_folder(tmp_path):
    shard = write_shard(tmp_path, "one", CORPUS)
    os.unlink(shard.path)
    with pytest.raises(ShardError, match="All workers must see the folder"):
        shard.open()


def test_a_folder_that_is_missing_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        write_shard(tmp_path / "nowhere", "one", CORPUS)
