"""How the time of a pass grows with the number of non-zeros."""

import statistics

import numpy as np
from _measure import progress
from _tables import format_table

from skcw import MultiClassCW

SHARES, QUICK_SHARES = (0.25, 0.5, 1.0), (0.6, 1.0)
PASSES = 5


def scaling_of(X, y, settings):
    """Return non-zeros and seconds per pass of some shares of the rows."""
    shares = QUICK_SHARES if settings.quick else SHARES
    runs = settings.seeds
    order = np.random.RandomState(0).permutation(len(y))
    parts = [order[: round(share * len(y))] for share in shares]
    problems = [(X[part], y[part]) for part in parts]
    seconds = [[] for _ in problems]
    for run in range(runs):
        progress(f"speed: scaling, run {run + 1} of {runs}")
        for found, (rows, labels) in zip(seconds, problems, strict=True):
            model = MultiClassCW(max_iter=PASSES, random_state=run).fit(rows, labels)
            found.append(statistics.mean(r["seconds"] for r in model.history_))
    sizes = [[int(rows.nnz), len(labels)] for rows, labels in problems]
    times = [statistics.median(found) for found in seconds]
    slope, _ = np.polyfit(np.log([size for size, _ in sizes]), np.log(times), 1)
    return {"sizes": sizes, "seconds": times, "exponent": float(slope)}


def scaling_table(found):
    """Return it as text."""
    (first, _), start = found["sizes"][0], found["seconds"][0]
    rows = [
        [n, f"{s:.4f}", f"{n / first:.2f}", f"{s / start:.2f}", f"{1e9 * s / n:.1f}"]
        for (n, _), s in zip(found["sizes"], found["seconds"], strict=True)
    ]
    header = ["non-zeros", "s per pass", "size x", "time x", "ns each"]
    return format_table(header, rows)
