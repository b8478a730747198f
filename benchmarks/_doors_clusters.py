"""Names in Spanish and Dutch with what the training text shows of words."""

import numpy as np
from _corpora import MADE, TaggedCorpus, has_corpora, load_entities
from _measure import progress
from _scores import span_scores
from _tables import format_table, number

from skcw import CWSequenceTagger
from skcw.features import VectorFeatures, WindowFeatures, learn_clusters, learn_vectors
from skcw.features.joined_features import join_features

LANGUAGES = {"Spanish": "conll2002-es", "Dutch": "conll2002-nl"}
N_CLUSTERS = 100
N_DIMENSIONS = 50
NORMS = (0.5, 1.0, 2.0)
PLAIN, CLUSTERS, VECTORS = "ner", "ner + clusters", "ner + vectors"
NOTE = f"""\
Span F1 of CW with the ready set "ner", mean over the seeds; clusters ({N_CLUSTERS}) and
vectors ({N_DIMENSIONS} dimensions) are learned from the words of the training set alone,
with a window of one word. Clusters: `cluster(c)[-1..1]`. Vectors: those of the word,
brought to the length that the row says. Chosen on the development sets."""


def run(settings):
    """Return the scores of each language, set and kind of features."""
    found = []
    for language, corpora in _corpora(settings).items():
        train = corpora["train"]
        clusters = learn_clusters(train.tokens, N_CLUSTERS, window=1, random_state=0)
        vectors = learn_vectors(train.tokens, N_DIMENSIONS, window=1, random_state=0)
        lines = ["ner", "cluster(c)[-1..1]"]
        kinds = {
            PLAIN: WindowFeatures("ner"),
            CLUSTERS: WindowFeatures(lines, clusters={"c": clusters}),
        }
        for norm in NORMS:
            part = VectorFeatures(vectors, norm=norm)
            kinds[f"{VECTORS} of length {norm:g}"] = join_features("ner", part)
        for kind, features in kinds.items():
            progress(f"{language}: {kind}")
            scores = _scores(features, corpora, settings.seeds)
            found.append({"language": language, "features": kind, **scores})
    return {"rows": found, "seeds": settings.seeds}


def _corpora(settings):
    if has_corpora(settings.data_home):
        return {
            language: load_entities(settings.data_home, folder, settings.quick)
            for language, folder in LANGUAGES.items()
        }
    from skcw.datasets import make_tagged_corpus

    made = {}
    for seed, part in enumerate(("train", "dev", "test")):
        tokens, labels = make_tagged_corpus(200, random_state=seed, return_X_y=True)
        made[part] = TaggedCorpus(MADE, tokens, labels, None)
    return {MADE: made}


def _scores(features, corpora, n_seeds):
    """Return the mean span F1 on the development and on the test set."""
    train = corpora["train"]
    batch = features.fit_transform(train.tokens)
    others = {p: features.transform(corpora[p].tokens) for p in ("dev", "test")}
    scores = {"dev": [], "test": []}
    for seed in range(n_seeds):
        tagger = CWSequenceTagger(calibrate_confidence=False, random_state=seed)
        tagger.fit(batch, train.labels)
        for part, encoded in others.items():
            score = span_scores(corpora[part].labels, tagger.predict(encoded))
            scores[part].append(score["f1"])
    return {part: float(np.mean(values)) for part, values in scores.items()}


def render(found):
    """Return the table."""
    rows = [
        (
            f"{row['language']}, {row['features']}",
            *(number(row[part], ".4f") for part in ("dev", "test")),
        )
        for row in found["rows"]
    ]
    table = format_table(("corpus, features", "dev", "test"), rows)
    return f"Clusters and vectors ({found['seeds']} seeds)\n\n{table}\n\n{NOTE}"
