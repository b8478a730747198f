"""The tuned CRF of the grid; what it finds is kept on disk, for it never changes."""

import json
from itertools import product

from _measure import progress
from _travel_corpora import ALL, part_of, sizes_of, split
from _travel_measures import fit_and_measure

from skcw import CRFSequenceTagger
from skcw.metrics import span_f1_score, token_accuracy_score

CRF = "CRF"
C1, C2 = (0.0, 0.1), (0.01, 0.1, 1.0)
ITERATIONS, TUNING_ITERATIONS, QUICK_ITERATIONS = 100, 50, 10
TUNED_ON, FITTED = 1000, 750
# Subsets by size: fewer than our learners have, for a fit takes far longer.
SUBSETS = {100: 3, 1000: 2, ALL: 1}
MOST_SECONDS = 230


class CRFCells:
    """The figures of the CRF on one corpus with one feature set.

    Parameters
    ----------
    data : Encoded
        The corpus.
    settings : Settings
        With the folder of the cache, or None.
    """

    def __init__(self, data, settings):
        self.data, self.settings = data, settings

    def measure(self, size):
        """Return one record for every subset of a size, made or read."""
        n_subsets = 1 if self.settings.quick else SUBSETS[size]
        return [self._one(size, seed) for seed in range(n_subsets)]

    def _one(self, size, seed):
        return self._kept(f"{size}-{seed}", lambda: self._measure(size, seed))

    def _measure(self, size, seed):
        key = {"size": size, "seed": seed, "learner": CRF}
        key |= {"corpus": self.data.corpus, "features": self.data.features}
        seconds = self._expected_seconds(size)
        if seconds > MOST_SECONDS:
            return key | {"left_out": f"about {seconds:.0f} s"}
        progress(f"CRF: {self.data.corpus}, {self.data.features}, {size}, {seed}")
        part = part_of(self.data, size, seed)
        return key | fit_and_measure(self._tagger(), part, self.data.spans)

    def _expected_seconds(self, size):
        """Return how long a fit on all sentences will take, by that on a part."""
        if size != ALL or 1000 not in sizes_of(self.data, self.settings):
            return 0.0
        part = self._one(1000, 0)
        return part["seconds"] * len(self.data.train) / 1000

    def _tagger(self):
        c1, c2 = self.penalties()
        iterations = QUICK_ITERATIONS if self.settings.quick else ITERATIONS
        return _crf(c1, c2, iterations)

    def penalties(self):
        """Return c1 and c2, chosen once on a thousand sentences."""
        if self.settings.quick:
            return C1[0], C2[1]
        chosen = self._kept("penalties", self._tune)
        return chosen["c1"], chosen["c2"]

    def _tune(self):
        progress(f"CRF: penalties for {self.data.corpus}, {self.data.features}")
        part = split(part_of(self.data, TUNED_ON, 100), FITTED)
        score = span_f1_score if self.data.spans else token_accuracy_score

        found = []
        for c1, c2 in product(C1, C2):
            crf = _crf(c1, c2, TUNING_ITERATIONS).fit(part.X, part.y)
            reached = float(score(part.y_test, crf.predict(part.X_test)))
            found.append((reached, c1, c2))
        best, c1, c2 = max(found)
        return {"c1": c1, "c2": c2, "score": best, "tried": found}

    def _kept(self, name, work):
        """Return what the work finds, from the cache if it was done before."""
        if self.settings.cache is None:
            return work()
        name = f"{self.data.corpus}-{self.data.features}-{name}.json"
        path = self.settings.cache / "crf" / name.replace(" ", "-")
        if path.exists():
            return json.loads(path.read_text("utf-8"))
        found = work()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found), "utf-8")
        return found


def _crf(c1, c2, iterations):
    return CRFSequenceTagger(
        c1=c1, c2=c2, max_iter=iterations, all_possible_transitions=True
    )


def stored_records(cache):
    """Return all records of the CRF that a cache holds."""
    if cache is None:
        return []
    paths = sorted((cache / "crf").glob("*.json"))
    paths = [path for path in paths if not path.stem.endswith("-penalties")]
    return [json.loads(path.read_text("utf-8")) for path in paths]
