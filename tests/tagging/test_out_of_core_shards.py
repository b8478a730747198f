"""A corpus in blocks, learned in shards: the same bits by all workers, and no traces.

The corpus, its parts and the taggers are those of learning block by block.
"""

import errno
import os
import signal
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from sklearn.base import clone

from skcw import Checkpoint, CWSequenceTagger, make_tagging_pipeline
from skcw._model import sequence_shards as _dealing
from skcw._model import sequence_shards as _sharded
from skcw._model import shards as _files
from skcw.exceptions import ShardError
from skcw.io.loading import without_seconds
from tests.killing import killed_after, noted_saves
from tests.tagging.test_out_of_core import (
    CORPUS,
    SAME,
    TAGGERS,
    X,
    Y,
    content,
    parts,
    small_blocks,  # noqa: F401
)

pytestmark = pytest.mark.usefixtures("small_blocks")
SHUFFLED = CWSequenceTagger(max_iter=5, random_state=0)


@pytest.mark.parametrize("name", TAGGERS)
def test_without_shuffling_the_model_is_that_of_shards_in_memory(name, tmp_path):
    tagger = clone(TAGGERS[name])
    whole = clone(tagger).fit(X, Y, n_shards=3)
    streamed = clone(tagger).fit_stream(parts, n_shards=3)
    assert content(streamed, tmp_path) == content(whole, tmp_path)
    in_blocks = clone(tagger).fit_stream(parts)
    assert content(in_blocks, tmp_path) != content(streamed, tmp_path)


def test_edges_too(tmp_path):
    features = ["word[-1..1]", "B01:%x[0,1]"]
    tagger = CWSequenceTagger(**SAME)
    whole = make_tagging_pipeline(features, tagger)
    whole.fit(CORPUS.tokens, Y, tagger__n_shards=4)
    streamed = make_tagging_pipeline(features, clone(tagger)).fit_stream(
        lambda: parts(X=CORPUS.tokens), n_shards=4
    )
    assert len(streamed.tagger.edge_features_) > 0
    assert content(streamed, tmp_path) == content(whole, tmp_path)


VARIANTS = {
    "shuffled, with a judgment": {},
    "mean of two": {"n_models": 2, "max_iter": 3},
    "more shards than blocks": {"calibrate_confidence": False},
    "without unknown tokens": {"learn_unknown_token": False, "averaging": False},
    "in order": SAME,
}


@pytest.mark.parametrize("backend", ["threading", "loky"])
@pytest.mark.parametrize("name", VARIANTS)
def test_the_result_does_not_depend_on_who_computes_it(name, backend, tmp_path):
    tagger = clone(SHUFFLED).set_params(**VARIANTS[name])
    n_shards = 20 if name == "more shards than blocks" else 3
    alone = clone(tagger).fit_stream(parts, n_shards=n_shards)
    with parallel_config(backend, n_jobs=2):
        other = clone(tagger).fit_stream(parts, n_shards=n_shards)
    assert content(other, tmp_path) == content(alone, tmp_path)
    assert without_seconds(other.history_) == without_seconds(alone.history_)


def test_it_learns_as_well_as_in_one_piece_and_the_seed_decides(tmp_path):
    train, test = (X[:70], Y[:70]), (X[70:], Y[70:])
    tagger = clone(SHUFFLED).set_params(max_iter=10)

    def fitted(seed, n_shards=3):
        own = clone(tagger).set_params(random_state=seed)
        return own.fit_stream(lambda: parts(7, *train), n_shards=n_shards)

    streamed, one_piece = (
        [fitted(s) for s in range(4)],
        [fitted(s, 1) for s in range(4)],
    )
    assert streamed[0].confidence_source_ == "held-out"
    assert min(tagger.score(*train) for tagger in streamed) > 0.98
    # One seed more or less says nothing on thirty sentences.
    here, there = (
        np.mean([t.score(*test) for t in taggers]) for taggers in (streamed, one_piece)
    )
    assert here > there - 0.02
    assert content(fitted(0), tmp_path) == content(streamed[0], tmp_path)
    assert content(streamed[1], tmp_path) != content(streamed[0], tmp_path)


def test_parts_hide_the_tokens_that_blocks_hide():
    """In each pass of ``fit_stream`` the same tokens are unknown, in shards or not."""
    seen = []

    class Watching(CWSequenceTagger):
        def _bound_kernel(self, breadth):
            kernel = super()._bound_kernel(breadth)

            def watching(*given):
                # The feature that each token is shown with, its word or that of none.
                corpus, order = given[4], given[5].order
                shown, features = Counter(), corpus.indices[corpus.indptr[:-1]]
                for k in order.tolist():
                    own = features[corpus.offsets[k] : corpus.offsets[k + 1]]
                    shown.update(enumerate(own.tolist()))
                seen.append((len(order), shown))
                return kernel(*given)

            return watching

    rows = [[[word] for word, _ in sentence] for sentence in CORPUS.tokens]
    found = []
    for n_shards in (1, 3):
        seen.clear()
        options = {"max_iter": 3, "random_state": 0, "calibrate_confidence": False}
        Watching(**options).fit_stream(lambda: parts(X=rows), n_shards=n_shards)
        totals, n, total = [], 0, Counter()
        for n_presented, shown in seen:
            n, total = n + n_presented, total + shown
            if n == len(X):
                totals.append(total)
                n, total = 0, Counter()
        found.append(totals)
    assert len(found[0]) == 3
    assert found[0] == found[1]
    assert found[0][0] != found[0][1] != found[0][2]


@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=8),
    seed=st.none() | st.integers(0, 5),
    n_pieces=st.integers(1, 6),
)
def test_the_pieces_of_a_pass_present_every_sequence_once(sizes, seed, n_pieces):
    seen = Counter()
    for piece in range(n_pieces):
        orders = list(_dealing._orders(np.array(sizes), seed, piece, n_pieces))
        for part, order in orders:
            seen.update((part, k) for k in order.tolist())
        if min(sum(sizes), len(sizes) if seed is not None else 99) >= n_pieces:
            assert orders
    assert seen == Counter((p, k) for p, n in enumerate(sizes) for k in range(n))


def test_shuffled_parts_are_read_for_one_piece_of_the_first_pass():
    read = [part for k in range(3) for part, _ in _dealing._orders([5] * 7, 0, k, 3)]
    assert sorted(read) == list(range(7)) and read != sorted(read)
    read = [part for k in range(3) for part, _ in _dealing._orders([5] * 2, 0, k, 3)]
    assert sorted(read) == [0, 0, 0, 1, 1, 1]


def test_every_sequence_is_in_one_part_and_shards_are_equal(monkeypatch):
    dealt = {}

    class Watched(_dealing.BlockDeal):
        def _dealt(self, block):
            dealt[block] = list(super()._dealt(block))
            return iter(dealt[block])

    monkeypatch.setattr(_sharded, "BlockDeal", Watched)
    tagger = clone(SHUFFLED).set_params(calibrate_confidence=False)
    tagger.fit_stream(parts, n_shards=7)
    assert len(dealt) > 5
    sizes = np.array([[len(own) for own in shards] for shards in dealt.values()])
    assert set(sizes.sum(axis=0)) <= {90 // 7, 90 // 7 + 1}
    for shards in dealt.values():
        found = np.sort(np.concatenate(shards))
        np.testing.assert_array_equal(found, np.arange(len(found)))
    assert any(np.any(np.diff(own) != 7) for own in dealt[0] if len(own) > 1)


def test_a_worker_has_one_part_open_at_a_time(tmp_path, monkeypatch):
    most = []
    monkeypatch.setattr(_files, "_opened", opened := type(_files._opened)())

    class Watching(CWSequenceTagger):
        def _bound_kernel(self, breadth):
            kernel = super()._bound_kernel(breadth)

            def changed(*given):
                most.append(len(opened))
                return kernel(*given)

            return changed

    Watching(**SAME).fit_stream(parts, folder=tmp_path, n_shards=3)
    # What opens the shards, and the part at hand.
    assert max(most) <= 3 + 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("n_saved", [1, 2, 3, 4])
def test_a_killed_training_resumes_with_the_same_bits(n_saved, tmp_path):
    tagger = clone(SHUFFLED).set_params(max_iter=3)
    whole = content(clone(tagger).fit_stream(parts, n_shards=3), tmp_path)
    checkpoint = Checkpoint(tmp_path / "c", every_minutes=0, resume=True)
    (spill := tmp_path / "spill").mkdir()
    with noted_saves() as saves, killed_after(n_saved):
        options = {"checkpoint": checkpoint, "n_shards": 3}
        clone(tagger).fit_stream(parts, folder=spill, **options)
    # A pass over the rest, one over what was held out, and two over everything.
    # The second is saved within its pass, too.
    assert saves == [1, 0, 0, 1][:n_saved]
    assert not list(spill.iterdir())
    again = clone(tagger).fit_stream(parts, n_shards=3, checkpoint=checkpoint)
    assert content(again, tmp_path) == whole


def test_what_is_finished_is_not_dealt_out_again(tmp_path, monkeypatch):
    checkpoint = Checkpoint(tmp_path / "c", resume=True)
    options = {"n_shards": 3, "checkpoint": checkpoint}
    whole = clone(SHUFFLED).fit_stream(parts, **options)
    monkeypatch.delattr(_dealing.BlockDeal, "shards")
    again = clone(SHUFFLED).fit_stream(parts, **options)
    assert content(again, tmp_path) == content(whole, tmp_path)


def test_a_worker_that_is_killed_is_replaced(tmp_path):
    parent, marker = os.getpid(), tmp_path / "marker"

    class Dying(CWSequenceTagger):
        def _bound_kernel(self, breadth):
            kernel = super()._bound_kernel(breadth)

            def changed(*given):
                if os.getpid() != parent and not marker.exists():
                    marker.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
                return kernel(*given)

            return changed

    options = {"random_state": 0, "max_iter": 2, "calibrate_confidence": False}
    alone = CWSequenceTagger(**options).fit_stream(parts, n_shards=3)
    tagger = Dying(**options)
    with parallel_config("loky", n_jobs=2):
        tagger.fit_stream(parts, n_shards=3)
    assert marker.exists()
    np.testing.assert_array_equal(tagger.coef_, alone.coef_)


@pytest.mark.parametrize("backend", ["sequential", "loky"])
def test_the_files_are_where_they_are_wanted_and_gone_in_the_end(
    backend, tmp_path, monkeypatch
):
    seen, write = [], _files.write_model

    def watched(path, *given, **options):
        seen.append(Path(path))
        return write(path, *given, **options)

    monkeypatch.setattr(_files, "write_model", watched)
    for name in ("folder", "joblib"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path / "joblib"))
    tagger = clone(SHUFFLED).set_params(max_iter=2)
    with parallel_config(backend, n_jobs=2):
        tagger.fit_stream(parts, folder=tmp_path / "folder", n_shards=3)
    dealt = [path for path in seen if "skcw-shards-" in str(path)]
    assert len(dealt) > 2 * len([path for path in seen if "block-" in path.name]) > 10
    assert {path.parents[1] for path in dealt} == {tmp_path / "folder"}
    assert not list((tmp_path / "folder").iterdir())


# The last one while the parts of another phase are written.
@pytest.mark.parametrize("n_left", [0, 5, 30])
def test_a_full_disk_is_told_and_cleared(n_left, tmp_path):
    write, left = _files.write_model, [n_left]

    def filling(path, *given, **options):
        if "skcw-shards-" in str(path):
            left[0] -= 1
            if left[0] < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(path, *given, **options)

    tagger = clone(SHUFFLED).fit(X, Y, n_shards=3)
    before = content(tagger, tmp_path)
    (tmp_path / "spill").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_files, "write_model", filling)
        with pytest.raises(OSError, match="No space left") as caught:
            tagger.fit_stream(parts, folder=tmp_path / "spill", n_shards=3)
    assert str(tmp_path / "spill" / "skcw-shards-") in caught.value.filename
    assert not list((tmp_path / "spill").iterdir())
    assert content(tagger, tmp_path) == before


def test_a_part_that_is_gone_is_named(tmp_path):
    class Clearing(CWSequenceTagger):
        def _bound_kernel(self, breadth):
            kernel = super()._bound_kernel(breadth)

            def changed(*given):
                for path in tmp_path.glob("skcw-*/*.shard"):
                    path.unlink()
                return kernel(*given)

            return changed

    tagger = Clearing(**SAME)
    with pytest.raises(ShardError, match=r"skcw-shards-.*cannot be opened"):
        tagger.fit_stream(parts, folder=tmp_path, n_shards=3)
    assert not list(tmp_path.iterdir())


def test_more_shards_than_sequences_are_refused_and_nothing_changes(tmp_path):
    tagger = clone(SHUFFLED).fit(X, Y)
    before = content(tagger, tmp_path)
    (tmp_path / "spill").mkdir()
    with pytest.raises(ValueError, match="n_shards is 91, but there are only 72"):
        tagger.fit_stream(parts, folder=tmp_path / "spill", n_shards=91)
    assert not list((tmp_path / "spill").iterdir())
    assert content(tagger, tmp_path) == before
