"""Table 1 of Mejer & Crammer (2010): sentences, words and features of the sets."""

from _corpora import load_paper_set, paper_sets
from _measure import progress
from _tables import format_table, number

from skcw.data import SequenceEncoder

# Sentences, words and features, in thousands. English is not among the corpora here.
PAPER = {
    "NP chunking": (11, 259, 1350),
    "Spanish": (10.2, 317.6, 1850),
    "Dutch": (21, 271.5, 1760),
}
NOTE = """\
Features: distinct strings in the whole set; weights: one for each string and label, and
one for each pair of labels. The paper does not say which of the two it counts."""


def run(settings):
    """Return the size of every set."""
    sets = {}
    for name in paper_sets(settings.data_home):
        corpus = load_paper_set(name, settings.data_home, settings.quick)
        progress(f"table1: encoding {name}")
        batch = SequenceEncoder().fit_transform(corpus.features())
        n_labels = len({label for row in corpus.labels for label in row})
        sets[name] = {
            "sentences": len(batch),
            "words": batch.n_tokens,
            "labels": n_labels,
            "features": batch.n_features,
            "weights": batch.n_features * n_labels + n_labels**2,
            "paper": PAPER.get(name),
        }
    return {"quick": settings.quick, "sets": sets}


def render(found):
    """Return the results as text."""
    title = "Table 1: the sets, in thousands, beside the paper's"
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    header = ["", "sentences", "paper's", "words", "paper's", "features", "paper's"]
    rows = [_row(name, one) for name, one in found["sets"].items()]
    table = format_table([*header, "labels", "weights"], rows)
    return "\n\n".join([title, table, NOTE])


def _row(name, one):
    paper = one["paper"] or (None, None, None)
    cells = []
    for key, theirs in zip(("sentences", "words", "features"), paper, strict=True):
        cells += [f"{one[key] / 1000:.1f}", number(theirs, "g")]
    return [name, *cells, one["labels"], f"{one['weights'] / 1000:.0f}"]
