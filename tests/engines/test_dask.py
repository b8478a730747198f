"""joblib hears of what Dask gives up, by the name under which it has Dask."""

import pytest
from joblib import Parallel, delayed, parallel_config

from skcw._util.compat import get_active_backend, watched_dask

distributed = pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.engine,
    # Dask's own.
    pytest.mark.filterwarnings("ignore"),
]


class Torn:
    """What no worker can open: Dask fails before the task begins."""

    def __reduce__(self):
        return int, ("torn",)


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": None}
    with (
        distributed.LocalCluster(processes=False, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def by_dask(client):
    with parallel_config("dask"):
        backend, _ = get_active_backend()
        with parallel_config(watched_dask(backend)):
            yield


@pytest.mark.parametrize("kind", ["list", "generator", "generator_unordered"])
def test_a_task_that_dask_cannot_even_begin_is_an_error(by_dask, kind):
    tasks = [delayed(abs)(-1), delayed(abs)(Torn())]
    # Without the word to joblib this never ends.
    with pytest.raises(RuntimeError, match=r"(?i)deserial"):
        list(Parallel(return_as=kind)(tasks))


def test_afterwards_it_works_as_before(by_dask):
    with Parallel() as parallel:
        with pytest.raises(RuntimeError):
            parallel([delayed(abs)(Torn())])
        assert parallel(delayed(abs)(-k) for k in range(5)) == [0, 1, 2, 3, 4]


def test_an_error_of_the_task_itself_is_that_error(by_dask):
    with pytest.raises(ValueError, match="invalid literal"):
        Parallel()(delayed(int)(text) for text in ("1", "x"))
