"""A file is replaced whole or not at all."""

import os
import stat

import pytest

from skcw._util.files import replacing


def test_a_file_appears_only_when_it_is_complete(tmp_path):
    path = tmp_path / "result"
    with replacing(path) as draft:
        draft.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["result"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_the_older_file_and_no_draft(tmp_path, error):
    path = tmp_path / "result"
    path.write_text("old")
    with pytest.raises(error), replacing(path) as draft:
        draft.write_text("half")
        raise error
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["result"]


def test_an_older_file_keeps_its_permissions_and_a_link_its_target(tmp_path):
    path, link = tmp_path / "result", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o604)
    link.symlink_to(path)
    with replacing(str(link)) as draft:
        draft.write_text("new")
    assert link.is_symlink() and path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_a_new_file_has_the_usual_permissions_whatever_writes_it(tmp_path):
    (tmp_path / "usual").touch()
    with replacing(tmp_path / "result") as draft:
        draft.chmod(0o600)
    usual, result = (
        (tmp_path / name).stat().st_mode & 0o777 for name in ("usual", "result")
    )
    assert result == usual


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with replacing(path) as draft:
        assert draft == path
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_errors_name_the_file_and_not_the_draft(tmp_path):
    path = tmp_path / "no such folder" / "result"
    with pytest.raises(FileNotFoundError) as caught, replacing(path):
        pass
    assert caught.value.filename == str(path)
