"""
How is a large corpus tagged with Ray Data?
===========================================

A dataset of sentences is tagged in batches by actors. Each opens the model when it
starts, mapped into memory, so that the actors of a machine share one copy of it.
"""

import tempfile
from pathlib import Path

from skcw import CWSequenceTagger, InferenceModel, make_tagging_pipeline
from skcw.datasets import make_tagged_corpus

try:
    import ray
    import ray.data
except ImportError:
    print("This example needs Ray: pip install 'skcw[ray]'")
    raise SystemExit from None


class Tagger:
    """What an actor does with each batch."""

    def __init__(self, path):
        self.model = InferenceModel.open(path, mapped=True)

    def __call__(self, batch):
        sentences = [text.split() for text in batch["text"]]
        answers = self.model.predict_all(sentences)
        batch["labels"] = [" ".join(row) for row in answers.labels()]
        batch["least_sure"] = [float(row.min()) for row in answers.confidence()]
        return batch


def main():
    corpus = make_tagged_corpus(400, random_state=0)
    words = [[word for word, _ in sentence] for sentence in corpus.tokens]
    tagger = CWSequenceTagger(random_state=0)
    model = make_tagging_pipeline("ner", tagger).fit(words[:300], corpus.labels[:300])
    ray.init(num_cpus=2, include_dashboard=False, logging_level="error")
    ray.data.DataContext.get_current().enable_progress_bars = False
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "names.skcw"))
        model.save(path, mapped=True)
        # For text in files: ray.data.read_text("corpus/").
        rows = [{"id": i, "text": " ".join(row)} for i, row in enumerate(words[300:])]
        dataset = ray.data.from_items(rows).map_batches(
            Tagger, fn_constructor_args=(path,), batch_size=32, concurrency=1
        )
        found = dataset.sort("id").take_all()
    ray.shutdown()
    first = found[0]
    print(
        "first sentence:",
        *zip(first["text"].split(), first["labels"].split(), strict=True),
    )
    doubtful = min(found, key=lambda row: row["least_sure"])
    print(f"least sure: {doubtful['text']} ({doubtful['least_sure']:.2f})")
    same = [row["labels"].split() for row in found] == list(model.predict(words[300:]))
    print(f"{len(found)} sentences tagged as in one process: {same}")


if __name__ == "__main__":
    main()
