"""
How is a large corpus tagged on a Dask cluster?
===============================================

A bag of sentences is tagged in parts. Each worker process opens the model once, mapped
into memory, so that the processes of a machine share one copy of it.
"""

import tempfile
from pathlib import Path

from skcw import CWSequenceTagger, InferenceModel, make_tagging_pipeline
from skcw.datasets import make_tagged_corpus

try:
    import dask.bag
    from dask.distributed import Client, LocalCluster
except ImportError:
    print("This example needs Dask: pip install 'skcw[dask]'")
    raise SystemExit from None


def tagged(sentences, path):
    """Return each sentence of a part with its labels and its least sure word."""
    answers = InferenceModel.open_once(path).predict_all(sentences)
    sure = [float(row.min()) for row in answers.confidence()]
    return list(zip(sentences, answers.labels(), sure, strict=True))


def main():
    corpus = make_tagged_corpus(400, random_state=0)
    words = [[word for word, _ in sentence] for sentence in corpus.tokens]
    tagger = CWSequenceTagger(random_state=0)
    model = make_tagging_pipeline("ner", tagger).fit(words[:300], corpus.labels[:300])
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as here,
        Client(here),
    ):
        path = str(Path(folder, "names.skcw"))
        model.save(path, mapped=True)
        # For text in files: dask.bag.read_text("corpus-*.txt").map(str.split).
        bag = dask.bag.from_sequence(words[300:], npartitions=4)
        found = bag.map_partitions(tagged, path).compute()
    print("first sentence:", *zip(*found[0][:2], strict=True))
    doubtful = min(found, key=lambda row: row[2])
    print(f"least sure: {' '.join(doubtful[0])} ({doubtful[2]:.2f})")
    same = [labels for _, labels, _ in found] == list(model.predict(words[300:]))
    print(f"{len(found)} sentences, in order, tagged as in one process: {same}")


# Worker processes import this file.
if __name__ == "__main__":
    main()
