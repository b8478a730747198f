"""What a labeling is judged by."""

import ctypes
import gc
import multiprocessing
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path

from skcw.metrics import root_calibration_mse, token_accuracy_score
from skcw.metrics.label_scores import span_precision_recall_fscore_support

# ---- Time and memory of a piece of work ----

STATUS = Path("/proc/self/status")
CLEAR_REFS = Path("/proc/self/clear_refs")
MB = 2**20


def progress(*words):
    """Show what is being done, on the standard error stream."""
    print("...", *words, file=sys.stderr, flush=True)


def timed(work, repeats=1, clock=time.perf_counter):
    """Return what the work returns, and its seconds (median of the repeats).

    With ``time.process_time`` as the clock these are seconds of computing, of all
    threads together, which other work on the machine hardly changes.
    """
    seconds = []
    for _ in range(repeats):
        gc.collect()
        start = clock()
        result = work()
        seconds.append(clock() - start)
    return result, statistics.median(seconds)


def in_fresh_process(function, *arguments):
    """Return ``function(*arguments)``, computed by a new Python process."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(function, *arguments).result()


def added_memory(work):
    """Return the megabytes by which the work raises the process at its peak.

    Call it in a fresh process: there is no free memory left over from other work
    that could be used again unnoticed.
    """
    gc.collect()
    _return_free_memory()
    _reset_peak()
    before = _resident()
    # Kept until the peak is read: the result is part of what the work adds.
    result = work()
    added = _peak() - before
    del result
    return max(added, 0) / MB


def peak_memory():
    """Return the most memory that this process has ever held, in megabytes."""
    return _peak() / MB


def _return_free_memory():
    """Ask the allocator to give freed memory back to the system, where it can."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def _reset_peak():
    """Start the peak anew, where the system allows it; Linux does.

    The building of features only allocates, so that the two are nearly the same.
    """
    with suppress(OSError):
        CLEAR_REFS.write_text("5")


def _resident():
    return _status("VmRSS")


def _peak():
    return _status("VmHWM")


def _status(name):
    line = next(x for x in STATUS.read_text().splitlines() if x.startswith(name))
    return int(line.split()[1]) * 1024


# ---- What a labeling is judged by ----


def span_scores(y, y_pred):
    """Return precision, recall and F of the spans, as conlleval counts them."""
    *scores, _ = span_precision_recall_fscore_support(y, y_pred, average="micro")
    return dict(zip(("precision", "recall", "f1"), map(float, scores), strict=True))


def all_scores(y, y_pred):
    """Return precision, recall, F and the share of mislabeled words."""
    error = 1.0 - float(token_accuracy_score(y, y_pred))
    return {**span_scores(y, y_pred), "token_error": error}


def centerd_rmse(correct, confidence):
    """Return the RMSE over 20 bins that claim their centers, as in EMNLP 2010."""
    return root_calibration_mse(correct, confidence, strategy="uniform", claim="center")
