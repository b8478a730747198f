"""Dask, Ray and Spark by name: ``joblib.parallel_config("ray")`` finds them.

joblib knows Dask itself, but waits for ever for what Dask gives up. The packages of Ray
and Spark have backends for joblib that somebody has to register, and of an engine that
is not installed joblib says only that it is unknown.
"""

from functools import partial
from importlib import import_module
from importlib.util import find_spec

from joblib import register_parallel_backend

# The package that must be there, and where its backend is.
ENGINES = {
    "dask": ("distributed", ("skcw._shards._dask", "WatchedDask")),
    "ray": ("ray", ("ray.util.joblib.ray_backend", "RayBackend")),
    "spark": ("joblibspark", ("joblibspark.backend", "SparkDistributedBackend")),
}


def offer_engines():
    """Let joblib open the engines that are installed, and say how to install others.

    Nothing of them is imported before somebody asks for one.

    Examples
    --------
    >>> from joblib import parallel_config
    >>> from skcw._shards._engines import offer_engines
    >>> offer_engines()
    >>> with parallel_config("threading"):
    ...     pass
    """
    for name, (package, place) in ENGINES.items():
        if find_spec(package) is None:
            register_parallel_backend(name, partial(_refuse, name))
        else:
            register_parallel_backend(name, partial(_open, *place))


def _refuse(name, **options):
    raise ImportError(
        f"the engine {name!r} is not installed; install it with: pip install "
        f"'skcw[{name}]'"
    )


def _open(module, backend, **options):
    return getattr(import_module(module), backend)(**options)
