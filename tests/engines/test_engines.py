"""Dask, Ray and Spark on this machine: the same bits, even if a worker is killed.

Each cluster has worker processes of its own. They find the shards by their files, and
what is under test in the folder of the package that is imported here.
"""

import os
import shutil
import sys
from contextlib import chdir, contextmanager
from importlib.util import find_spec
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal
from sklearn.model_selection import cross_val_score

from skcw import CWSequenceTagger, MultiClassCW
from skcw.datasets import make_tagged_corpus
from skcw.exceptions import ShardError
from skcw.features.basic import basic_features
from skcw.io.loading import without_seconds

pytestmark = [
    pytest.mark.engine,
    # These are the engines' own.
    pytest.mark.filterwarnings("ignore"),
]

CORPUS = make_tagged_corpus(80, random_state=0)
X, Y = [basic_features(sentence) for sentence in CORPUS.tokens], CORPUS.labels
ROWS = np.random.default_rng(0).normal(size=(60, 5))
CLASSES = np.argmax(ROWS[:, :3], axis=1)
OPTIONS = {
    "random_state": 0,
    "max_iter": 3,
    "calibrate_confidence": False,
}


@contextmanager
def dask_cluster():
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(processes=True, **options) as cluster, Client(cluster) as client:
        # Those killed in a test are back before the next one.
        yield {}, lambda: client.wait_for_workers(2)


@contextmanager
def ray_cluster():
    import ray
    from ray.util.joblib import register_ray

    os.environ.setdefault("RAY_AUTH_MODE", "disabled")
    # Its workers import from the current folder, where sources would hide the package.
    with TemporaryDirectory() as elsewhere, chdir(elsewhere):
        register_ray()
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        try:
            yield {"n_jobs": 2}, lambda: None
        finally:
            ray.shutdown()


@contextmanager
def spark_cluster():
    from joblibspark import register_spark
    from pyspark.sql import SparkSession

    register_spark()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local-cluster[2,1,512]")
        .config("spark.executor.memory", "512m")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    try:
        yield {"n_jobs": 2}, lambda: None
    finally:
        session.stop()


CLUSTERS = {
    "dask": (dask_cluster, "distributed"),
    "ray": (ray_cluster, "ray"),
    "spark": (spark_cluster, "joblibspark"),
}


@pytest.fixture(scope="module", params=CLUSTERS)
def cluster(request):
    """Yield the name of an engine that runs, how to ask joblib for it, and to wait."""
    start, package = CLUSTERS[request.param]
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed; pip install skcw[{request.param}]")
    if request.param == "spark" and shutil.which("java") is None:
        pytest.skip("Spark needs Java 17, which is not installed")
    with start() as running:
        yield request.param, *running


@pytest.fixture
def engine(cluster):
    name, options, wait = cluster
    wait()
    return name, options


def killing(marker, once=True):
    """Return a class of taggers that kills the worker which learns shard 2."""

    class Killing(CWSequenceTagger):
        def _bound_kernel(self, breadth):
            driver, killed, once = self.driver, self.killed, self.once
            marker, kernel = self.marker, super()._bound_kernel(breadth)

            def killing(*given):
                import os
                import signal
                from pathlib import Path

                here = os.getpid() != driver and given[4].gold.sum() == killed
                if here and not (once and Path(marker).exists()):
                    Path(marker).touch()
                    os.kill(os.getpid(), signal.SIGKILL)
                return kernel(*given)

            return killing

    Killing.__module__ = "__main__"
    tagger = Killing(**OPTIONS)
    tagger.driver, tagger.marker, tagger.once = os.getpid(), str(marker), once
    return tagger


def same(one, other):
    assert_array_equal(one.coef_, other.coef_)
    assert_array_equal(one.coef_variance_, other.coef_variance_)
    assert without_seconds(one.history_) == without_seconds(other.history_)


def test_the_bits_are_those_of_this_process(engine, tmp_path, monkeypatch):
    name, options = engine
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    tagger = CWSequenceTagger(**OPTIONS).fit(X, Y, n_shards=4)
    classifier = MultiClassCW(random_state=0).fit(ROWS, CLASSES, n_shards=4)
    with parallel_config(name, **options):
        same(CWSequenceTagger(**OPTIONS).fit(X, Y, n_shards=4), tagger)
        found = MultiClassCW(random_state=0).fit(ROWS, CLASSES, n_shards=4)
    same(found, classifier)
    assert not list(tmp_path.glob("skcw-shards-*"))


def test_models_folds_and_predictions_use_it_too(engine):
    name, options = engine
    several = {"n_models": 2, "max_iter": 2, "random_state": 0}
    expected = CWSequenceTagger(**several).fit(X, Y)
    scores = cross_val_score(CWSequenceTagger(**several), X, Y, cv=2)
    with parallel_config(name, **options):
        found = CWSequenceTagger(**several).fit(X, Y)
        same(found, expected)
        assert found.predict(X).tolist() == expected.predict(X).tolist()
        again = cross_val_score(CWSequenceTagger(**several), X, Y, cv=2)
    assert_array_equal(again, scores)


def test_a_worker_that_is_killed_changes_nothing(engine, tmp_path):
    name, options = engine
    expected = CWSequenceTagger(**OPTIONS).fit(X, Y, n_shards=4)
    tagger = killing(tmp_path / "killed")
    tagger.killed = shard_sums()[1]
    with parallel_config(name, **options):
        tagger.fit(X, Y, n_shards=4)
    assert (tmp_path / "killed").exists()
    same(tagger, expected)


def test_a_shard_that_no_worker_survives_is_named(engine, tmp_path):
    name, options = engine
    tagger = killing(tmp_path / "killed", once=False)
    tagger.killed = shard_sums()[1]
    tagger.set_params(max_iter=1)
    with parallel_config(name, **options), pytest.raises(ShardError, match="shard 2"):
        tagger.fit(X, Y, n_shards=4)
    assert not hasattr(tagger, "belief_")


def shard_sums():
    """Return a number that tells each shard: the sum of the codes of its labels."""
    found = []

    class Watching(CWSequenceTagger):
        def _bound_kernel(self, breadth):
            kernel = super()._bound_kernel(breadth)

            def watching(*given):
                found.append(int(given[4].gold.sum()))
                return kernel(*given)

            return watching

    Watching(**OPTIONS).set_params(max_iter=1).fit(X, Y, n_shards=4)
    assert len(set(found)) == 4
    return found
