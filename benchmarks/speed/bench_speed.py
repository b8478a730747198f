"""Speed: what is run again before a release; what counts are ratios in one run.

Parts, each of which can be run by itself; results are merged into one JSON file:

one_core     CPU seconds of training beside CRFsuite's
taggers      CoNLL-2000: CW beside CRFsuite and Vowpal Wabbit (extra "benchmark")
features     columns to features, to a fitted model, to labels; peak memory
certainty    what confidence adds to fit and predict, over the grid; CRFsuite beside
confidence   methods of confidence beside the marginals of CRFsuite
memory       a corpus made on the fly, of up to 100 million words: memory and speed
files        model files of taggers: size, opening; the memory that `fit` adds
start        `import skcw`, and commands that only have something to complain of
command      `skcw tag`: its start, the test columns, with confidence
asking       `confidence_pairs` of one and of ten labels beside one question
sentence     one sentence at a time: milliseconds, and threads beside sklearn-crfsuite
reranking    a tagger and the same with reranking, as both come
classifiers  20 Newsgroups: CW beside tuned peers that converge, and Vowpal Wabbit
defaults     every cell of the travel grid: CW beside linear peers, all as they come
predictions  20 Newsgroups: probabilities beside scores

    OMP_NUM_THREADS=1 python benchmarks/speed/bench_speed.py --data-home DIR
    python benchmarks/speed/bench_speed.py --quick

``--quick`` shows on small subsets that every part works; without the corpora it uses
some that are made. Its figures are no measurement.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # benchmarks

from common.corpora import CONLL
from common.rows import FOLDERS
from common.runner import Part, main
from common.tagged import TAGGED
from speed import (
    asking,
    certainty,
    classifiers,
    confidence,
    features,
    files,
    memory,
    one_core,
    reranking,
    taggers,
)

PARTS = {
    "one_core": Part(one_core.run, one_core.render),
    "taggers": Part(taggers.run, taggers.render),
    "features": Part(features.run, features.render),
    "certainty": Part(certainty.run, certainty.render),
    "confidence": Part(confidence.run, confidence.render),
    "memory": Part(memory.run, memory.render),
    "files": Part(files.run, files.render),
    "start": Part(files.run_start, files.render_start),
    "command": Part(asking.run_command, asking.render_command),
    "asking": Part(asking.run_asking, asking.render_asking),
    "sentence": Part(asking.run_sentence, asking.render_sentence),
    "reranking": Part(reranking.run, reranking.render),
    "classifiers": Part(classifiers.run, classifiers.render),
    "defaults": Part(classifiers.run_defaults, classifiers.render_defaults),
    "predictions": Part(classifiers.run_predictions, classifiers.render_predictions),
}


if __name__ == "__main__":
    main(__file__, PARTS, (*CONLL, *TAGGED, *FOLDERS))
