"""``set_config``: the folder of shards, in all threads or inside a block alone."""

import threading

import pytest

import skcw


@pytest.fixture(autouse=True)
def as_before():
    yield
    skcw.set_config(shard_folder="")


def test_the_setting_holds_in_all_threads_and_a_context_in_its_own_alone(tmp_path):
    seen = []

    def look():
        seen.append(skcw.get_config()["shard_folder"])

    def in_a_thread():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()

    (other := tmp_path / "other").mkdir()
    skcw.set_config(shard_folder=tmp_path)
    in_a_thread()
    with skcw.config_context(shard_folder=other):
        in_a_thread()
        look()
    assert seen == [str(tmp_path), str(tmp_path), str(other)]


def test_contexts_nest_and_end_by_errors_too(tmp_path):
    with skcw.config_context(shard_folder=tmp_path):
        with pytest.raises(ZeroDivisionError), skcw.config_context(shard_folder=""):
            assert skcw.get_config() == {"shard_folder": None}
            raise ZeroDivisionError
        with skcw.config_context():
            assert skcw.get_config() == {"shard_folder": str(tmp_path)}
    assert skcw.get_config() == {"shard_folder": None}


def test_a_setting_that_is_not_one_changes_nothing():
    for change in (skcw.set_config, lambda **c: skcw.config_context(**c).__enter__()):
        with pytest.raises(TypeError, match="enable"):
            change(enable=True)
    skcw.get_config()["shard_folder"] = "elsewhere"
    assert skcw.get_config() == {"shard_folder": None}


def test_the_folder_of_shards_is_one_that_exists(tmp_path):
    with pytest.raises(ValueError, match="nowhere', which is not a folder"):
        skcw.set_config(shard_folder=tmp_path / "nowhere")
    assert skcw.get_config()["shard_folder"] is None
