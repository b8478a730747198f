"""How often promises are broken and how much is accepted, beside word-level methods."""

import json

import numpy as np
from _guarantee_pools import real_pools, synthetic_pools
from _tables import at_least, format_goals, format_table

from skcw.calibration import risk_threshold
from skcw.calibration.risk_control import MOST_WRONG, Steps

N_REPEATS, QUICK_REPEATS = 1000, 10
ALPHAS, DELTAS, SIZES = (0.01, 0.05), (0.05, 0.2), (500, 2000)
MAIN = (0.01, 0.05, 2000)
GOAL = 0.9
OURS, WORDS, MAPIE = "sentences", "words as if independent", "MAPIE"
# MAPIE tests each threshold for itself: a hundred, evenly spread over the words.
N_THRESHOLDS = 100
# Word-level methods take longer than all that is asked of ours.
PEER_REPEATS = 200


def run(settings):
    """Draw calibration sets from every pool, and look at what was promised."""
    repeats = QUICK_REPEATS if settings.quick else N_REPEATS
    rows = []
    pools = [*real_pools(settings), *synthetic_pools(settings.quick)]
    for pool in pools:
        rows += _kept_rows(pool, repeats, settings)
    real = {pool.name for pool in pools[: len(pools) - 4]}
    return {
        "quick": settings.quick,
        "repeats": repeats,
        "max_errors_per_group": MOST_WRONG,
        "real": sorted(real),
        "rows": rows,
        "goals": _goals(rows, real),
    }


def _kept_rows(pool, repeats, settings):
    """Return the rows of a pool; a folder keeps those that were made before."""
    name = f"guarantee-{pool.name.replace(' ', '-')}-{repeats}.json"
    path = settings.cache and settings.cache / name
    if path and path.exists():
        return json.loads(path.read_text("utf-8"))
    rows = [row for size in SIZES for row in _of_size(pool, size, repeats)]
    if path:
        path.write_text(json.dumps(rows), "utf-8")
    return rows


def _of_size(pool, size, repeats):
    cells = {}
    for repeat in range(repeats):
        rng = np.random.RandomState(repeat)
        drawn = pool.draw(size, rng)
        for key, threshold in _thresholds(drawn, size, repeat < PEER_REPEATS):
            cells.setdefault(key, []).append(pool.judged(threshold))
    rows = []
    for (method, alpha, delta), judged in cells.items():
        risk, share = np.transpose(judged)
        rows.append(
            {
                "pool": pool.name,
                "draws": len(judged),
                "method": method,
                "alpha": alpha,
                "delta": delta,
                "sentences": size,
                "violations": float((risk > alpha).mean()),
                "refused": float((share == 0).mean()),
                "share": float(share.mean()),
                "oracle": pool.oracle(alpha),
                "risk": float(risk.mean()),
            }
        )
    return rows


def _thresholds(drawn, size, with_peers):
    """Yield the threshold of every method, risk and level for one calibration set."""
    sure, wrong, sentence = drawn
    order = np.argsort(-sure, kind="stable")
    steps = Steps(sure[order], wrong[order], sentence[order])
    for alpha in ALPHAS:
        for delta in DELTAS:
            made = steps.threshold(alpha, delta, MOST_WRONG, 1 - delta, "words")
            yield (OURS, alpha, delta), made.threshold
    alpha, delta, main_size = MAIN
    if size == main_size and with_peers:
        (made,) = risk_threshold(1 - wrong, sure, alpha, confidence_level=1 - delta)
        yield (WORDS, alpha, delta), made.threshold
        threshold = mapie_threshold(sure, wrong, alpha, delta)
        if threshold is not None:
            yield (MAPIE, alpha, delta), threshold


def mapie_threshold(sure, wrong, alpha, delta):
    """Return what MAPIE finds if each word is a row; None if it is not installed."""
    try:
        from mapie.risk_control import BinaryClassificationController
    except ImportError:
        return None
    grid = np.unique(np.quantile(sure, np.linspace(0, 1, N_THRESHOLDS + 1)[:-1]))
    controller = BinaryClassificationController(
        predict_function=lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]),
        risk="precision",
        target_level=1 - alpha,
        confidence_level=1 - delta,
        list_predict_params=grid,
    )
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        controller.calibrate(sure[:, None], (1 - wrong).astype(int))
    valid = np.ravel(controller.valid_predict_params)
    return float(valid.min()) if len(valid) else np.inf


def _goals(rows, real):
    goals = []
    for row in rows:
        settled = (row["alpha"], row["delta"], row["sentences"]) == MAIN
        if row["method"] == OURS and settled and row["pool"] in real:
            share = row["share"] / row["oracle"] if row["oracle"] else 0.0
            what = f"{row['pool']}: accepted, of what an oracle accepts"
            goals.append(at_least(what, share, GOAL, ".3f"))
    return goals


def render(found):
    """Return the tables."""
    repeats = found["repeats"]
    title = (
        f"Broken promises in {repeats} draws of calibration sentences (of word-level "
        f"methods in {min(repeats, PEER_REPEATS)}),\nwith the largest share that "
        "chance allows (delta and three standard errors; * is above\nit), and accepted "
        "shares beside an oracle's."
    )
    header = ["pool", "method", "alpha", "delta", "sentences", "broken", "allowed"]
    header += ["refused", "accepted", "oracle", "ratio", "mean risk"]
    rows = [_cells(row, row["draws"]) for row in found["rows"]]
    goals = format_goals(found["goals"], found["quick"])
    return "\n\n".join([title, format_table(header, rows), goals])


def allowed(delta, repeats):
    """Return the share of broken promises that chance allows."""
    return delta + 3 * np.sqrt(delta * (1 - delta) / repeats)


def _cells(row, repeats):
    ratio = row["share"] / row["oracle"] if row["oracle"] else None
    most = allowed(row["delta"], repeats)
    return [
        row["pool"],
        row["method"],
        f"{row['alpha']:g}",
        f"{row['delta']:g}",
        row["sentences"],
        f"{row['violations']:.3f}" + ("*" if row["violations"] > most else ""),
        f"{most:.3f}",
        f"{row['refused']:.3f}",
        f"{row['share']:.3f}",
        f"{row['oracle']:.3f}",
        "-" if ratio is None else f"{ratio:.3f}",
        f"{row['risk']:.4f}",
    ]
