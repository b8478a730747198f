"""``Study``: the scores of a simulation, as a table and as curves."""

import numpy as np
from tabulate import tabulate

COLUMNS = ("strategy", "repeat", "n_labels", "n_words", "score", "seconds", "stopped")


class Study:
    """What :func:`simulate` found: one record for each time that a run was scored.

    Parameters
    ----------
    records : list of dict
        With ``strategy``, ``repeat``, ``n_labels``, ``n_words``, ``score``,
        ``seconds`` (since the run began) and ``stopped`` (why a criterion would have
        stopped by then, or None).
    names : list of str
        The strategies, in the order in which they were given.

    Examples
    --------
    >>> from skcw.active import Study
    >>> common = {"strategy": "random", "repeat": 0, "seconds": 0.1, "stopped": None}
    >>> records = [
    ...     {**common, "n_labels": 10, "n_words": 100, "score": 0.5},
    ...     {**common, "n_labels": 20, "n_words": 200, "score": 0.9},
    ... ]
    >>> study = Study(records, ["random"])
    >>> study.needed("random", 0.7)
    array([150.])
    """

    def __init__(self, records, names):
        self.records = list(records)
        self.names = list(names)

    def column(self, name):
        """Return one column of the records as a list."""
        if name not in COLUMNS:
            raise ValueError(f"there is no column {name!r}, but {', '.join(COLUMNS)}")
        return [record[name] for record in self.records]

    def to_frame(self):
        """Return the records as a DataFrame of pandas, which must be installed."""
        from pandas import DataFrame

        return DataFrame(self.records, columns=list(COLUMNS))

    def runs(self, name, by="n_words"):
        """Return the curve of each repetition of a strategy: (sizes, scores)."""
        if name not in self.names:
            raise ValueError(
                f"there is no strategy {name!r}, but {', '.join(self.names)}"
            )
        if by not in ("n_words", "n_labels"):
            raise ValueError(f"by is {by!r}; it must be 'n_words' or 'n_labels'")
        own = [record for record in self.records if record["strategy"] == name]
        if not own:
            raise ValueError(f"there are no records of the strategy {name!r}")
        repeats = sorted({record["repeat"] for record in own})
        return [
            tuple(
                np.array([r[key] for r in own if r["repeat"] == repeat], dtype=float)
                for key in (by, "score")
            )
            for repeat in repeats
        ]

    def curve(self, name, by="n_words", sizes=None):
        """Return the mean learning curve of a strategy and how its runs spread.

        Parameters
        ----------
        name : str
            The strategy.
        by : {"n_words", "n_labels"}, default="n_words"
            What its cost is counted in.
        sizes : array-like, default=None
            Where to read the curves, by straight lines between scores; by default
            wherever a run was scored, as far as all runs go.

        Returns
        -------
        sizes, mean, low, high : ndarray of float64
            The mean score of the runs, the lowest and the highest.
        """
        runs = self.runs(name, by)
        if sizes is None:
            least, most = max(x[0] for x, _ in runs), min(x[-1] for x, _ in runs)
            sizes = np.unique(np.concatenate([x for x, _ in runs]))
            sizes = sizes[(sizes >= least) & (sizes <= most)]
        sizes = np.asarray(sizes, dtype=np.float64)
        table = np.array(
            [np.interp(sizes, x, y, left=np.nan, right=np.nan) for x, y in runs]
        )
        return sizes, table.mean(axis=0), table.min(axis=0), table.max(axis=0)

    def needed(self, name, score, by="n_words"):
        """Return the size at which each run of a strategy first reached a score.

        Parameters
        ----------
        name : str
            The strategy.
        score : float
            The score.
        by : {"n_words", "n_labels"}, default="n_words"
            What size is counted in.

        Returns
        -------
        sizes : ndarray of float64, shape (n_repeats,)
            Between two scores by a straight line; not a number for a run that never
            got there.
        """
        return np.array([_first_reaching(*run, score) for run in self.runs(name, by)])

    def __str__(self):
        rows = []
        for name in self.names:
            last = [(x[-1], y[-1]) for x, y in self.runs(name)]
            first = [y[0] for _, y in self.runs(name)]
            sizes, scores = zip(*last, strict=True)
            labels = [x[-1] for x, _ in self.runs(name, "n_labels")]
            means = map(np.mean, (first, labels, sizes, scores))
            rows.append([name, len(last), *means])
        header = ["strategy", "runs", "first score", "items", "words", "last score"]
        form = ["", "d", ".4f", ".0f", ".0f", ".4f"]
        return tabulate(rows, header, floatfmt=form, disable_numparse=[0])

    def __repr__(self):
        return f"Study({len(self.names)} strategies, {len(self.records)} records)"


def _first_reaching(sizes, scores, wanted):
    there = np.flatnonzero(scores >= wanted)
    if not len(there):
        return np.nan
    k = there[0]
    if k == 0:
        return sizes[0]
    step = (wanted - scores[k - 1]) / (scores[k] - scores[k - 1])
    return sizes[k - 1] + step * (sizes[k] - sizes[k - 1])
