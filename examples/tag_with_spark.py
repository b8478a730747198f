"""
How is a large corpus tagged with Spark?
========================================

``mapInPandas`` gives a function the rows of a partition in frames. Each Python worker
opens the model once, mapped into memory, so that those of a machine share one copy.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from skcw import CWSequenceTagger, InferenceModel, make_tagging_pipeline
from skcw.datasets import make_tagged_corpus

try:
    from pyspark.sql import SparkSession
except ImportError:
    print("This example needs Spark: pip install 'skcw[spark]', and Java 17")
    raise SystemExit from None
if shutil.which("java") is None:
    print("This example needs Java 17 beside pyspark")
    raise SystemExit


def tagging_by(path):
    """Return what tags the frames of a partition."""

    def tagged(frames):
        model = InferenceModel.open_once(path)
        for frame in frames:
            answers = model.predict_all(frame["text"].str.split().tolist())
            sure = [float(row.min()) for row in answers.confidence()]
            labels = [" ".join(row) for row in answers.labels()]
            yield frame.assign(labels=labels, least_sure=sure)

    return tagged


def main():
    # Workers need the packages of this Python.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    corpus = make_tagged_corpus(400, random_state=0)
    words = [[word for word, _ in sentence] for sentence in corpus.tokens]
    tagger = CWSequenceTagger(random_state=0)
    model = make_tagging_pipeline("ner", tagger).fit(words[:300], corpus.labels[:300])
    settings = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False)
    spark = settings.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        # On a cluster: a path that all workers see.
        path = str(Path(folder, "names.skcw"))
        model.save(path, mapped=True)
        # For text in files: spark.read.text("corpus/").
        rows = [(i, " ".join(row)) for i, row in enumerate(words[300:])]
        frame = spark.createDataFrame(rows, "id long, text string").repartition(4)
        schema = "id long, text string, labels string, least_sure double"
        found = frame.mapInPandas(tagging_by(path), schema).orderBy("id").collect()
    spark.stop()
    first = found[0]
    print(
        "first sentence:", *zip(first.text.split(), first.labels.split(), strict=True)
    )
    doubtful = min(found, key=lambda row: row.least_sure)
    print(f"least sure: {doubtful.text} ({doubtful.least_sure:.2f})")
    same = [row.labels.split() for row in found] == list(model.predict(words[300:]))
    print(f"{len(found)} sentences tagged as in one process: {same}")


if __name__ == "__main__":
    main()
