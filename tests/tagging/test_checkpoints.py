"""Checkpoints: a training that was cut off ends with the bits of one that was not."""

import signal

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from skcw import (
    AROWSequenceTagger,
    Checkpoint,
    CWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
    make_tagging_pipeline,
)
from skcw._model import checkpoint as module
from skcw._model.corpus import pieces
from skcw.data import SequenceEncoder
from skcw.datasets import make_tagged_corpus
from skcw.exceptions import CheckpointError, CheckpointWarning
from skcw.features.basic import basic_features
from tests.killing import (
    content,
    files_in,
    killed_after,
    noted_saves,
    really_killed,
    told_on_a_full_disk,
)

CORPUS = make_tagged_corpus(60, random_state=0)
X = SequenceEncoder().fit_transform([basic_features(s) for s in CORPUS.tokens])
Y = CORPUS.labels
SHORT = {"max_iter": 3, "random_state": 0}
TAGGERS = {
    "CW": CWSequenceTagger(**SHORT),
    "without confidence": CWSequenceTagger(calibrate_confidence=False, **SHORT),
    "in double, no average": CWSequenceTagger(
        dtype="float64", averaging=False, **SHORT
    ),
    "mean of two": CWSequenceTagger(n_models=2, **SHORT),
    "mean of five": CWSequenceTagger(n_models=5, n_jobs=2, **SHORT),
    "early stopping": CWSequenceTagger(
        early_stopping={"n_iter_no_change": 1}, max_iter=6, random_state=0
    ),
    "AROW": AROWSequenceTagger(**SHORT),
    "in shards": CWSequenceTagger(**SHORT),
    "PA": PASequenceTagger(**SHORT),
    "perceptron": PerceptronSequenceTagger(shuffle=False, **SHORT),
}


def fit(tagger, checkpoint=None, **data):
    given = {"X": X, "y": Y} | data
    return clone(tagger).fit(**given, checkpoint=checkpoint)


@pytest.mark.parametrize("name", TAGGERS)
@pytest.mark.parametrize("minutes", [None, 0])
def test_a_training_killed_again_and_again_ends_with_the_same_bits(
    name, minutes, tmp_path
):
    data = {"n_shards": 3} if name.startswith("in shards") else {}
    whole = content(fit(TAGGERS[name], **data), tmp_path)
    checkpoint = Checkpoint(tmp_path / "c", every_minutes=minutes, resume=True)
    # The second one dies in the next pass, the third among the last models.
    for n in (1, 2, 5):
        with killed_after(n):
            fit(TAGGERS[name], checkpoint, **data)
    assert content(fit(TAGGERS[name], checkpoint, **data), tmp_path) == whole
    # What is finished is not trained again.
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(module.Keeper, "save")
        assert content(fit(TAGGERS[name], checkpoint, **data), tmp_path) == whole


@settings(
    max_examples=12,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    cut=st.integers(1, 12),
    words=st.integers(20, 600),
    max_iter=st.integers(1, 4),
    seed=st.integers(0, 5),
)
def test_wherever_a_training_is_cut_off(cut, words, max_iter, seed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cut")
    tagger = CWSequenceTagger(
        max_iter=max_iter, random_state=seed, calibrate_confidence=False
    )
    whole = fit(tagger)
    checkpoint = Checkpoint(folder, every_passes=None, every_minutes=0, resume=True)
    with killed_after(cut, words):
        fit(tagger, checkpoint)
    again = fit(tagger, checkpoint)
    for part in ("mean", "variance", "average", "row_of"):
        same = getattr(again.belief_, part), getattr(whole.belief_, part)
        assert np.array_equal(*same)
    assert again.belief_.rounds == whole.belief_.rounds


@given(lengths=st.lists(st.integers(0, 9), max_size=30), words=st.integers(1, 40))
def test_pieces_are_the_order_cut_and_none_is_much_too_long(lengths, words):
    order = np.random.RandomState(0).permutation(len(lengths))
    found = pieces(order, np.array(lengths, dtype=np.int64), words)
    assert np.array_equal(np.concatenate(found), order)
    for piece in found:
        assert sum(lengths[i] for i in piece[:-1]) < words + max(lengths, default=0)


KILLED = """
from tests.tagging.test_checkpoints import X, Y, CWSequenceTagger, Checkpoint

checkpoint = Checkpoint(sys.argv[1], every_minutes=0, resume=True)
CWSequenceTagger(max_iter=3, random_state=0).fit(X, Y, checkpoint=checkpoint)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_process_that_is_really_killed_continues(tmp_path):
    whole = content(fit(TAGGERS["CW"]), tmp_path)
    folder = tmp_path / "c"
    really_killed(KILLED, 4, folder)
    # No draft is left over, and the lock went with the process.
    assert sorted(files_in(folder)) == [
        "rest-1.000003.checkpoint", "rest-1.000004.checkpoint", "training.lock"
    ]  # fmt: skip
    checkpoint = Checkpoint(folder, resume=True)
    assert content(fit(TAGGERS["CW"], checkpoint), tmp_path) == whole


def test_with_a_dev_set_the_best_pass_is_remembered(tmp_path):
    dev = {"X_dev": X[:20], "y_dev": Y[:20]}
    tagger = CWSequenceTagger(
        max_iter=8, early_stopping={"n_iter_no_change": 2}, random_state=3
    )
    whole = fit(tagger, **dev)
    checkpoint = Checkpoint(tmp_path / "c", resume=True)
    with killed_after(2):
        fit(tagger, checkpoint, **dev)
    again = fit(tagger, checkpoint, **dev)
    assert content(again, tmp_path) == content(whole, tmp_path)
    assert len(again.history_) == len(whole.history_)


def test_a_torn_checkpoint_is_left_out_for_the_one_before(tmp_path):
    tagger = TAGGERS["without confidence"]
    whole = content(fit(tagger), tmp_path)
    checkpoint = Checkpoint(tmp_path / "c", resume=True)
    with killed_after(2):
        fit(tagger, checkpoint)
    older, newer = sorted((tmp_path / "c").glob("*.checkpoint"))
    kept = newer.read_bytes()
    for torn in (kept[: len(kept) // 2], kept[:-9] + b"!" + kept[-8:], b""):
        newer.write_bytes(torn)
        with pytest.warns(CheckpointWarning, match=f"{newer.name}.*the one before"):
            found = module._newest(tmp_path / "c", "model-1", _about(older))
        assert len(found[0]["history"]) == 1
    with pytest.warns(CheckpointWarning):
        assert content(fit(tagger, checkpoint), tmp_path) == whole


def _about(path):
    return module.read_model(path)[0]["about"]


OTHERS = {
    "phi was 'auto' and is 0.5": (CWSequenceTagger(phi=0.5, **SHORT), {}),
    "max_iter was 3 and is 4": (CWSequenceTagger(max_iter=4, random_state=0), {}),
    "the learner was CWSequenceTagger and is PA": (PASequenceTagger(**SHORT), {}),
    "the number of sequences was 60 and is 59": (
        CWSequenceTagger(**SHORT), {"X": X[:59], "y": Y[:59]},
    ),
    "the hash of the sequences was": (
        CWSequenceTagger(**SHORT), {"sample_weight": [2.0] + 59 * [1.0]},
    ),
    "the hash of the sequences to judge by was None": (
        CWSequenceTagger(**SHORT), {"X_dev": X[:5], "y_dev": Y[:5]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("words", OTHERS)
def test_a_checkpoint_of_another_training_is_refused(words, tmp_path):
    checkpoint = Checkpoint(tmp_path / "c", resume=True)
    fit(TAGGERS["CW"], checkpoint)
    before = files_in(tmp_path / "c")
    other, data = OTHERS[words]
    with pytest.raises(CheckpointError, match="of another training: .*" + words):
        fit(other, checkpoint, **data)
    assert files_in(tmp_path / "c") == before


def test_what_changes_no_bit_may_differ(tmp_path):
    checkpoint = Checkpoint(tmp_path / "c", resume=True)
    fit(TAGGERS["CW"], checkpoint)
    fit(CWSequenceTagger(n_jobs=2, **SHORT), checkpoint)


def test_an_earlier_training_is_not_written_over(tmp_path):
    fit(TAGGERS["CW"], Checkpoint(tmp_path / "c"))
    with pytest.raises(CheckpointError, match=r"of an earlier training.*resume=True"):
        fit(TAGGERS["CW"], Checkpoint(tmp_path / "c"))


def test_two_trainings_do_not_share_a_folder(tmp_path):
    checkpoint = Checkpoint(tmp_path / "c")
    with (
        checkpoint.opened({}),
        pytest.raises(CheckpointError, match="another training keeps"),
    ):
        fit(TAGGERS["CW"], checkpoint)


def test_clearing_removes_what_is_its_own_and_nothing_else(tmp_path):
    checkpoint = Checkpoint(tmp_path / "c")
    fit(TAGGERS["CW"], checkpoint)
    (tmp_path / "c" / "notes.txt").write_text("mine")
    checkpoint.clear()
    assert [path.name for path in (tmp_path / "c").iterdir()] == ["notes.txt"]
    (tmp_path / "c" / "notes.txt").unlink()
    checkpoint.clear()
    assert not (tmp_path / "c").exists()
    checkpoint.clear()


def test_it_keeps_the_newest_and_the_one_before(tmp_path):
    fit(TAGGERS["without confidence"], Checkpoint(tmp_path / "c"))
    names = sorted(path.name for path in (tmp_path / "c").glob("model*"))
    assert names == ["model-1.000002.checkpoint", "model-1.000003.checkpoint"]


def test_every_second_pass_and_the_last(tmp_path):
    tagger = CWSequenceTagger(max_iter=5, random_state=0, calibrate_confidence=False)
    with noted_saves() as seen:
        fit(tagger, Checkpoint(tmp_path / "c", every_passes=2))
    assert seen == [2, 4, 5]


FULL = """
from tests.tagging.test_checkpoints import fit, TAGGERS, Checkpoint
fit(TAGGERS["CW"], Checkpoint(sys.argv[1], resume=True))
"""


def test_on_a_full_disk_the_last_checkpoint_stays(tmp_path):
    whole = content(fit(TAGGERS["CW"]), tmp_path)
    checkpoint = Checkpoint(tmp_path / "c", resume=True)
    with killed_after(1):
        fit(TAGGERS["CW"], checkpoint)
    told = told_on_a_full_disk(FULL, 20_000, tmp_path / "c")
    assert "File too large The checkpoint could not be written" in told
    assert content(fit(TAGGERS["CW"], checkpoint), tmp_path) == whole


def test_a_fit_that_fails_leaves_the_tagger_as_it_was(tmp_path):
    tagger = fit(TAGGERS["CW"])
    before = content(tagger, tmp_path)
    checkpoint = Checkpoint(tmp_path / "c")
    fit(TAGGERS["CW"], checkpoint)
    with pytest.raises(CheckpointError):
        tagger.fit(X[:30], Y[:30], checkpoint=checkpoint)
    assert content(tagger, tmp_path) == before


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ("folder", TypeError, "must be a skcw.Checkpoint"),
        (Checkpoint(3), TypeError, "folder is 3"),
        (Checkpoint("c", every_passes=0), ValueError, "every_passes is 0"),
        (Checkpoint("c", every_passes=None), ValueError, "every_passes or every_min"),
        (Checkpoint("c", every_minutes=-1), ValueError, "every_minutes is -1"),
        (Checkpoint("c", every_minutes="1"), ValueError, "every_minutes is '1'"),
    ],
)
def test_what_is_no_checkpoint_is_refused(given, error, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=words):
        fit(TAGGERS["CW"], given)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("state", [None, np.random.RandomState(0)])
def test_a_training_without_a_seed_cannot_be_continued(state, tmp_path):
    tagger = CWSequenceTagger(random_state=state)
    with pytest.raises(ValueError, match=r"random_state is .* needs an integer"):
        fit(tagger, Checkpoint(tmp_path))


def test_a_file_in_the_place_of_the_folder(tmp_path):
    (tmp_path / "c").write_text("mine")
    with pytest.raises(FileExistsError):
        fit(TAGGERS["CW"], Checkpoint(tmp_path / "c"))


def test_a_pipeline_hands_it_to_its_tagger(tmp_path):
    pipeline = make_tagging_pipeline("ner", CWSequenceTagger(**SHORT))
    whole = content(pipeline.fit(CORPUS.tokens, Y), tmp_path)
    checkpoint = Checkpoint(tmp_path / "c")
    pipeline.fit(CORPUS.tokens, Y, tagger__checkpoint=checkpoint)
    assert content(pipeline, tmp_path) == whole
    assert list((tmp_path / "c").glob("model-1.*"))
