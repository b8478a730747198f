"""Checkpoints of classifiers: what was cut off ends with the bits of what was not."""

import signal

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from skcw import (
    Checkpoint,
    MultiClassAROW,
    MultiClassCW,
    MultiClassPA,
    MultiClassPerceptron,
)
from skcw._model import checkpoint as module
from skcw.exceptions import CheckpointError, CheckpointWarning
from skcw.io.model_files import read_model, write_model
from tests.killing import (
    content,
    files_in,
    killed_after,
    noted_saves,
    really_killed,
    told_on_a_full_disk,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 6))
# Some labels are wrong, so that every pass learns something.
Y = np.argmax(X[:, :3] + 0.5 * RNG.normal(size=(120, 3)), axis=1)
SHORT = {"max_iter": 4, "random_state": 0}
CLASSIFIERS = {
    "CW": MultiClassCW(**SHORT),
    "CW without": MultiClassCW(variance_scale=1.0, **SHORT),
    "in double, no average": MultiClassCW(dtype="float64", averaging=False, **SHORT),
    "in shards": MultiClassCW(**SHORT),
    "in shards as rows come": MultiClassPA(shuffle=False, **SHORT),
    "early stopping": MultiClassCW(
        early_stopping={"n_iter_no_change": 2}, max_iter=9, random_state=0
    ),
    "balanced classes": MultiClassCW(class_weight="balanced", **SHORT),
    "cross-validated": MultiClassCW(variance_scale="log_loss", scale_cv=2, **SHORT),
    "AROW": MultiClassAROW(**SHORT),
    "PA": MultiClassPA(**SHORT),
    "perceptron": MultiClassPerceptron(shuffle=False, **SHORT),
}


def fit(classifier, checkpoint=None, X=X, y=Y, **data):
    return clone(classifier).fit(X, y, checkpoint=checkpoint, **data)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("minutes", [None, 0])
def test_a_training_killed_again_and_again_ends_with_the_same_bits(
    name, minutes, tmp_path
):
    data = {"n_shards": 3} if name.startswith("in shards") else {}
    whole = content(fit(CLASSIFIERS[name], **data), tmp_path)
    passes = 1 if minutes is None else None
    options = {"every_passes": passes, "every_minutes": minutes, "resume": True}
    checkpoint = Checkpoint(tmp_path / "c", **options)
    # The second one dies two passes later, the third in another phase or a fold.
    for n in (1, 2, 4):
        with killed_after(n):
            fit(CLASSIFIERS[name], checkpoint, **data)
    assert content(fit(CLASSIFIERS[name], checkpoint, **data), tmp_path) == whole
    # What is finished is not trained again.
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(module.Keeper, "save")
        assert content(fit(CLASSIFIERS[name], checkpoint, **data), tmp_path) == whole
    checkpoint.clear()
    assert not (tmp_path / "c").exists()


def test_a_training_cut_off_at_every_single_checkpoint(tmp_path):
    classifier = CLASSIFIERS["CW"]
    whole = content(fit(classifier), tmp_path)
    checkpoint = Checkpoint(tmp_path / "c", resume=True)
    # Three passes over the rest, three over what was held out, and one over all.
    for _ in range(7):
        with killed_after(1):
            fit(classifier, checkpoint)
            pytest.fail("it was not cut off")
    assert content(fit(classifier, checkpoint), tmp_path) == whole
    models = {path.name.split(".")[0] for path in (tmp_path / "c").glob("*.checkpoint")}
    assert models == {"rest", "held", "model"}


def test_passes_that_were_made_are_not_made_again(tmp_path, monkeypatch):
    made = []

    class Counting(MultiClassPA):
        def _bound_kernel(self, n_classes):
            kernel = super()._bound_kernel(n_classes)

            def counted(*given):
                made.append(len(given[-1]))
                return kernel(*given)

            return counted

    checkpoint = Checkpoint(tmp_path / "c", resume=True)
    with killed_after(3):
        fit(Counting(**SHORT), checkpoint)
    assert len(made) == 3
    fit(Counting(**SHORT), checkpoint)
    assert len(made) == 4
    fit(Counting(**SHORT), checkpoint)
    assert len(made) == 4


KILLED = """
from tests.linear_model.test_checkpoints import CLASSIFIERS, Checkpoint, fit

fit(CLASSIFIERS["in shards"], Checkpoint(sys.argv[1], resume=True))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
@pytest.mark.parametrize(
    ("n", "left"),
    [
        (3, ["rest.000002.checkpoint", "rest.000003.checkpoint"]),
        (
            5,
            [
                "held.000001.checkpoint",
                "held.000002.checkpoint",
                "rest.000002.checkpoint",
                "rest.000003.checkpoint",
            ],
        ),
    ],
)
def test_a_process_that_is_really_killed_continues(n, left, tmp_path):
    classifier, folder = CLASSIFIERS["in shards"], tmp_path / "c"
    whole = content(fit(classifier), tmp_path)
    really_killed(KILLED, n, folder)
    # No draft is left over, and the lock went with the process.
    assert sorted(files_in(folder)) == [*left, "training.lock"]
    again = fit(classifier, Checkpoint(folder, resume=True))
    assert content(again, tmp_path) == whole


def test_the_best_pass_is_remembered(tmp_path):
    classifier = CLASSIFIERS["early stopping"]
    whole = fit(classifier)
    scores = [record["dev_score"] for record in whole.history_]
    # Or the best one could as well be the last.
    assert np.argmax(scores) < len(scores) - 1
    checkpoint = Checkpoint(tmp_path / "c", resume=True)
    with killed_after(len(scores) - 1):
        fit(classifier, checkpoint)
    again = fit(classifier, checkpoint)
    assert [record["dev_score"] for record in again.history_] == scores
    assert content(again, tmp_path) == content(whole, tmp_path)


def test_a_warm_start_continues_from_where_it_was(tmp_path):
    def more(checkpoint=None):
        model = fit(MultiClassCW(warm_start=True, **SHORT))
        return model.fit(X[:80], Y[:80], checkpoint=checkpoint)

    checkpoint = Checkpoint(tmp_path / "c", resume=True)
    with killed_after(2):
        more(checkpoint)
    with pytest.raises(CheckpointError, match="the hash of where it starts was"):
        fit(MultiClassCW(**SHORT), checkpoint, X=X[:80], y=Y[:80])
    assert content(more(checkpoint), tmp_path) == content(more(), tmp_path)


@pytest.mark.parametrize("name", ["belief.mean", "training.mean"])
def test_tables_of_another_shape_are_refused(name, tmp_path):
    classifier = CLASSIFIERS["early stopping"]
    checkpoint = Checkpoint(tmp_path, resume=True)
    with killed_after(2):
        fit(classifier, checkpoint)
    path = max(tmp_path.glob("*.checkpoint"))
    header, arrays = read_model(path)
    write_model(path, header, {**arrays, name: arrays[name][:2]})
    with pytest.raises(ValueError, match=name):
        fit(classifier, checkpoint)


def test_a_torn_checkpoint_is_left_out_for_the_one_before(tmp_path):
    classifier = CLASSIFIERS["CW"]
    whole = content(fit(classifier), tmp_path)
    checkpoint = Checkpoint(tmp_path / "c", resume=True)
    with killed_after(3):
        fit(classifier, checkpoint)
    *_, newest = sorted((tmp_path / "c").glob("*.checkpoint"))
    kept = newest.read_bytes()
    newest.write_bytes(kept[:-9] + b"!" + kept[-8:])
    with pytest.warns(CheckpointWarning, match=f"{newest.name}.*the one before"):
        assert content(fit(classifier, checkpoint), tmp_path) == whole


OTHER_ROW = X.copy()
OTHER_ROW[5, 2] += 1e-9
OTHERS = {
    "phi was 'auto' and is 0.5": (MultiClassCW(phi=0.5, **SHORT), {}),
    "max_iter was 4 and is 5": (MultiClassCW(max_iter=5, random_state=0), {}),
    "random_state was 0 and is 1": (MultiClassCW(max_iter=4, random_state=1), {}),
    "n_shards was 1 and is 2": (MultiClassCW(**SHORT), {"n_shards": 2}),
    "the learner was MultiClassCW and is MultiClassPA": (MultiClassPA(**SHORT), {}),
    "the number of rows was 120 and is 119": (
        MultiClassCW(**SHORT), {"X": X[1:], "y": Y[1:]},
    ),
    "the number of features was 6 and is 5": (MultiClassCW(**SHORT), {"X": X[:, :5]}),
    "the labels was": (MultiClassCW(**SHORT), {"y": Y + 1}),
    "the hash of the rows was": (MultiClassCW(**SHORT), {"y": np.roll(Y, 1)}),
    "the hash of the rows was ": (
        MultiClassCW(**SHORT), {"sample_weight": [2.0] + 119 * [1.0]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("words", OTHERS)
def test_a_checkpoint_of_another_training_is_refused(words, tmp_path):
    checkpoint = Checkpoint(tmp_path / "c", resume=True)
    fit(MultiClassCW(**SHORT), checkpoint)
    before = files_in(tmp_path / "c")
    other, data = OTHERS[words]
    with pytest.raises(CheckpointError, match="of another training: .*" + words):
        fit(other, checkpoint, **data)
    assert files_in(tmp_path / "c") == before


def test_the_smallest_difference_between_rows_is_seen(tmp_path):
    checkpoint = Checkpoint(tmp_path / "c", resume=True)
    double = MultiClassCW(dtype="float64", **SHORT)
    fit(double, checkpoint)
    with pytest.raises(CheckpointError, match="the hash of the rows was"):
        fit(double, checkpoint, X=OTHER_ROW)
    # The same rows in another form are the same.
    fit(double, checkpoint, X=sparse.csr_array(X))


def test_a_fit_that_fails_leaves_the_classifier_as_it_was(tmp_path):
    classifier = fit(CLASSIFIERS["CW"])
    before = content(classifier, tmp_path)
    fit(CLASSIFIERS["CW"], Checkpoint(tmp_path / "c"))
    with pytest.raises(CheckpointError, match=r"an earlier training.*resume=True"):
        classifier.fit(X, Y, checkpoint=Checkpoint(tmp_path / "c"))
    assert content(classifier, tmp_path) == before


FULL = """
from tests.linear_model.test_checkpoints import CLASSIFIERS, Checkpoint, fit
fit(CLASSIFIERS["CW"], Checkpoint(sys.argv[1], resume=True))
"""


@pytest.mark.parametrize("n", [1, 6])
def test_on_a_full_disk_the_last_checkpoint_stays(n, tmp_path):
    classifier = CLASSIFIERS["CW"]
    whole = content(fit(classifier), tmp_path)
    checkpoint = Checkpoint(tmp_path / "c", resume=True)
    # In the first phase, and in the second.
    with killed_after(n):
        fit(classifier, checkpoint)
    told = told_on_a_full_disk(FULL, 500, tmp_path / "c")
    assert "File too large The checkpoint could not be written" in told
    assert content(fit(classifier, checkpoint), tmp_path) == whole


@pytest.mark.parametrize("state", [None, np.random.RandomState(0)])
def test_a_training_without_a_seed_cannot_be_continued(state, tmp_path):
    with pytest.raises(ValueError, match=r"random_state is .* needs an integer"):
        fit(MultiClassCW(random_state=state), Checkpoint(tmp_path / "c"))
    assert not (tmp_path / "c").exists()


def test_what_is_no_checkpoint_is_refused():
    with pytest.raises(TypeError, match=r"must be a skcw.Checkpoint"):
        fit(MultiClassPA(random_state=0), "folder")


def test_every_second_pass_and_the_last(tmp_path):
    classifier = MultiClassPA(max_iter=5, random_state=0)
    with noted_saves() as seen:
        fit(classifier, Checkpoint(tmp_path / "c", every_passes=2))
    assert seen == [2, 4, 5]


def test_a_pipeline_hands_it_to_its_classifier(tmp_path):
    pipeline = make_pipeline(MaxAbsScaler(), MultiClassPA(**SHORT))
    checkpoint = Checkpoint(tmp_path / "c", resume=True)
    with killed_after(2):
        pipeline.fit(X, Y, multiclasspa__checkpoint=checkpoint)
    found = pipeline.fit(X, Y, multiclasspa__checkpoint=checkpoint)[-1]
    whole = fit(MultiClassPA(**SHORT), X=MaxAbsScaler().fit_transform(X))
    assert content(found, tmp_path) == content(whole, tmp_path)
