"""The same bits wherever shards are learned: a digest of the weights by engine."""

import hashlib
import os
import sys
from contextlib import ExitStack
from importlib.util import find_spec

import joblib
from _corpora import load_chunking
from _measure import progress
from _tables import format_table

from skcw import CWSequenceTagger
from skcw.data import SequenceEncoder

SHARDS, PASSES = 4, 3
NOTE = """\
CoNLL-2000, CW with 4 shards and 3 passes. The digest is that of all weights and
variances; Dask, Ray and Spark are clusters of two worker processes on this machine. A
dash stands for an engine that is not installed."""


def fitted_digest(data):
    """Return the digest of a tagger trained in shards, and what its passes moved."""
    tagger = CWSequenceTagger(
        max_iter=PASSES, calibrate_confidence=False, random_state=0
    )
    tagger.fit(*data, n_shards=SHARDS)
    parts = (tagger.coef_, tagger.coef_variance_, tagger.transition_coef_)
    digest = hashlib.sha256(b"".join(part.tobytes() for part in parts))
    return digest.hexdigest()[:16]


def dask(stack):
    """Start a cluster of Dask."""
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    cluster = stack.enter_context(LocalCluster(processes=True, **options))
    stack.enter_context(Client(cluster))


def ray(stack):
    """Start a cluster of Ray."""
    import ray
    from ray.util.joblib import register_ray

    register_ray()
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    stack.callback(ray.shutdown)


def spark(stack):
    """Start a cluster of Spark."""
    from joblibspark import register_spark
    from pyspark.sql import SparkSession

    register_spark()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local-cluster[2,1,512]")
    builder = builder.config("spark.executor.memory", "512m")
    session = builder.config("spark.ui.enabled", "false").getOrCreate()
    stack.callback(session.stop)


ENGINES = {
    "here": ("sequential", None, None),
    "threads": ("threading", None, None),
    "loky": ("loky", None, None),
    "Dask": ("dask", "distributed", dask),
    "Ray": ("ray", "ray", ray),
    "Spark": ("spark", "joblibspark", spark),
}
QUICK = ("here", "threads", "loky")


def run(settings):
    """Return the digest by engine."""
    train, _ = load_chunking(settings.data_home, settings.quick)
    data = SequenceEncoder().fit_transform(train.features()), train.labels
    found = {}
    for name in QUICK if settings.quick else ENGINES:
        backend, package, start = ENGINES[name]
        if package is not None and find_spec(package) is None:
            found[name] = None
            continue
        progress(f"the digest by {name}")
        with ExitStack() as stack:
            if start is not None:
                start(stack)
            stack.enter_context(joblib.parallel_config(backend, n_jobs=2))
            found[name] = fitted_digest(data)
    if len(set(found.values()) - {None}) > 1:
        raise AssertionError(f"engines disagree: {found}")
    return {"digests": found}


def render(found):
    """Return the table."""
    rows = [(name, digest or "-") for name, digest in found["digests"].items()]
    table = format_table(("shards learned by", "digest"), rows)
    return f"One result, whoever computes it\n\n{table}\n\n{NOTE}"
