import hashlib
import re
from dataclasses import replace

import pytest

from skcw.datasets import fetch_conll2000, fetch_ud_ewt
from skcw.datasets import sequence_corpora as corpora
from skcw.datasets.fetching import download_file
from skcw.datasets.sequence_corpora import (
    ARK_TWITTER,
    CONLL2000,
    CONLL2002,
    CONLL2003,
    UD_EWT,
)
from tests.datasets.web import web_server

CONTENT = b"He PRP B-NP\nreckons VBZ B-VP\n\n" * 5000
FILES = {"/train.txt": CONTENT, "/unknown-length": CONTENT}
SOURCES = [ARK_TWITTER, CONLL2000, *CONLL2002.values(), CONLL2003, UD_EWT]


def sha256(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def web(monkeypatch):
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    with web_server(dict(FILES)) as server:
        yield server


def point_to(monkeypatch, module, name, url, checksum, split="train"):
    """Let a corpus come from another address."""
    source = getattr(module, name)
    part = source.splits[split] | {"url": url, "sha256": checksum}
    changed = replace(source, splits=source.splits | {split: part})
    monkeypatch.setattr(module, name, changed)


@pytest.mark.parametrize("path", ["/train.txt", "/unknown-length"])
def test_the_right_file_arrives_whole(web, tmp_path, path):
    target = tmp_path / "new" / "folder" / "train.txt"
    download_file(web.url + path, target, sha256(CONTENT))
    assert target.read_bytes() == CONTENT
    assert [p.name for p in target.parent.iterdir()] == ["train.txt"]


def test_a_wrong_checksum_is_told_with_the_right_one_and_nothing_stays(web, tmp_path):
    expected = sha256(b"something else")
    with pytest.raises(OSError, match=f"{sha256(CONTENT)}.*{expected}"):
        download_file(f"{web.url}/train.txt", tmp_path / "train.txt", expected)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_download_leaves_the_older_file_alone(web, tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("older")
    with pytest.raises(OSError, match="checksum"):
        download_file(f"{web.url}/train.txt", path, "0" * 64)
    assert path.read_text() == "older"


def test_an_address_without_a_file_is_named(web, tmp_path):
    url = f"{web.url}/nothing.txt"
    with pytest.raises(OSError, match=f"{re.escape(url)} cannot be fetched.*404"):
        download_file(url, tmp_path / "train.txt", sha256(CONTENT))
    assert list(tmp_path.iterdir()) == []


def test_a_transfer_that_breaks_off_is_told_by_its_bytes(web, tmp_path):
    half, whole = len(CONTENT) // 2, len(CONTENT)
    with pytest.raises(OSError, match=f"ended after {half} of {whole} bytes"):
        download_file(f"{web.url}/cut/train.txt", tmp_path / "x", sha256(CONTENT))
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_silent_is_given_up(web, tmp_path):
    with pytest.raises(OSError, match=r"silent cannot be fetched.*timed out"):
        download_file(f"{web.url}/silent", tmp_path / "x", "", timeout=0.1)
    assert list(tmp_path.iterdir()) == []


def test_no_server_at_all_is_an_error_that_names_the_address(web, tmp_path):
    with web_server({}) as gone:
        url = f"{gone.url}/x"
    with pytest.raises(OSError, match=f"{re.escape(url)} cannot be fetched"):
        download_file(url, tmp_path / "x", "")


def test_ctrl_c_leaves_no_draft(web, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("skcw.datasets.fetching.copyfileobj", interrupted)
    with pytest.raises(KeyboardInterrupt):
        download_file(f"{web.url}/train.txt", tmp_path / "x", sha256(CONTENT))
    assert list(tmp_path.iterdir()) == []


def test_verbose_shows_progress_and_otherwise_nothing_is_printed(web, tmp_path, capsys):
    url, checksum = f"{web.url}/train.txt", sha256(CONTENT)
    download_file(url, tmp_path / "a.txt", checksum)
    assert capsys.readouterr() == ("", "")
    download_file(url, tmp_path / "b.txt", checksum, verbose=True)
    out, err = capsys.readouterr()
    assert out == "" and "b.txt" in err and "100%" in err


def test_nothing_is_fetched_without_being_asked(web, tmp_path, monkeypatch):
    url = f"{web.url}/train.txt"
    point_to(monkeypatch, corpora, "CONLL2000", url, sha256(CONTENT))
    with pytest.raises(FileNotFoundError, match=f"download=True.*{re.escape(url)}"):
        fetch_conll2000(data_home=tmp_path)
    assert web.asked == []


def test_a_file_that_is_there_is_not_fetched_again(web, tmp_path, monkeypatch):
    url = f"{web.url}/train.txt"
    point_to(monkeypatch, corpora, "CONLL2000", url, sha256(CONTENT))
    for _ in range(2):
        corpus = fetch_conll2000(data_home=tmp_path, download=True)
        assert len(corpus.tokens) == 5000
    assert web.asked == ["/train.txt"]
    assert (tmp_path / "conll2000" / "train.txt").read_bytes() == CONTENT


def test_a_file_in_the_other_layout_is_not_fetched_either(web, tmp_path, monkeypatch):
    point_to(monkeypatch, corpora, "UD_EWT", f"{web.url}/x.conllu", "0" * 64)
    (tmp_path / "ud-english-ewt").mkdir()
    (tmp_path / "ud-english-ewt" / "train.txt").write_text("What\tPRON\tWP\n")
    corpus = fetch_ud_ewt(data_home=tmp_path, download=True)
    assert corpus.labels[0] == ["WP"]
    assert web.asked == []


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.folder)
def test_every_address_has_a_checksum_and_is_looked_for_where_it_is_put(source):
    assert source.terms and source.origin
    for split, part in source.splits.items():
        if "url" in part:
            assert part["url"].startswith("https://")
            assert re.fullmatch("[0-9a-f]{64}", part["sha256"])
        assert f"{source.folder}/{part['files'][0]}" in source.candidates(split)
