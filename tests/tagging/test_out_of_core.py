"""Learning in bounded memory: the model of a corpus in memory, or a clear error."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from skcw import (
    AROWSequenceTagger,
    Checkpoint,
    CRFSequenceTagger,
    CWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
    make_tagging_pipeline,
)
from skcw._model import spilling as _spilling
from skcw._model.checkpoint import Keeper
from skcw._model.spilling import Budget, Spiller
from skcw.data.encoder import encode_any
from skcw.datasets import make_tagged_corpus
from skcw.exceptions import CheckpointError, ColumnFileError, ConstraintWarning
from skcw.features.basic import basic_features
from skcw.io import write_columns
from skcw.tagging.out_of_core import bytes_of
from tests.processes import run_code

CORPUS = make_tagged_corpus(90, random_state=0)
X = [basic_features(sentence) for sentence in CORPUS.tokens]
Y = list(CORPUS.labels)
# In the order of the file.
SAME = {
    "shuffle": False, "max_iter": 5, "random_state": 0
}  # fmt: skip
TAGGERS = {
    "CW": CWSequenceTagger(**SAME),
    "without unknown tokens": CWSequenceTagger(learn_unknown_token=False, **SAME),
    "common features": CWSequenceTagger(min_count=2, **SAME),
    "mean of two": CWSequenceTagger(n_models=2, **SAME),
    "balanced": CWSequenceTagger(class_weight="balanced", **SAME),
    "in double": CWSequenceTagger(dtype="float64", **SAME),
    "AROW": AROWSequenceTagger(**SAME),
    "PA": PASequenceTagger(**SAME),
    "perceptron": PerceptronSequenceTagger(**SAME),
}


def parts(size=7, X=X, Y=Y):
    """Yield a corpus, some sequences at a time."""
    for first in range(0, len(X), size):
        yield X[first : first + size], Y[first : first + size]


@pytest.fixture
def small_blocks(monkeypatch):
    """Let a corpus of ninety sequences have about ten blocks."""
    monkeypatch.setattr(_spilling, "FEWEST_WORDS", 150)
    monkeypatch.setattr(_spilling, "MOST_WORDS", 150)


def content(tagger, folder):
    """Return the bytes of the file of a tagger, or of that in a pipeline.

    A pipeline also remembers how words are cut, and learns that from the first part.
    """
    getattr(tagger, "tagger", tagger).save(folder / "m.skcw")
    return (folder / "m.skcw").read_bytes()


@pytest.mark.parametrize("name", TAGGERS)
def test_the_model_is_that_of_a_corpus_in_memory(name, tmp_path, small_blocks):
    whole = clone(TAGGERS[name]).fit(X, Y)
    streamed = clone(TAGGERS[name]).fit_stream(parts)
    assert content(streamed, tmp_path) == content(whole, tmp_path)


def test_edges_and_constraints_too(tmp_path, small_blocks):
    features = ["word[-1..1]", "B01:%x[0,1]"]
    for constraints in ("auto", "BIO"):
        tagger = CWSequenceTagger(constraints=constraints, **SAME)
        whole = make_tagging_pipeline(features, tagger).fit(CORPUS.tokens, Y)
        streamed = make_tagging_pipeline(features, clone(tagger)).fit_stream(
            lambda: parts(X=CORPUS.tokens)
        )
        assert content(streamed, tmp_path) == content(whole, tmp_path)


def test_values_too(small_blocks):
    numbers = [[{"a": 0.5 * len(row[0]), "b": 1.0 + i} for i, row in enumerate(s)]
               for s in X]  # fmt: skip
    tagger = CWSequenceTagger(**SAME)
    whole = clone(tagger).fit(numbers, Y)
    streamed = clone(tagger).fit_stream(lambda: parts(X=numbers))
    np.testing.assert_array_equal(streamed.coef_, whole.coef_)
    assert streamed.token_norm_ == pytest.approx(whole.token_norm_, rel=1e-12)
    assert streamed.token_breadth_ == pytest.approx(whole.token_breadth_, rel=1e-12)


def test_with_a_dev_set_the_same_pass_is_kept(tmp_path, small_blocks):
    tagger = CWSequenceTagger(**SAME)
    dev = {"X_dev": X[:30], "y_dev": Y[:30]}
    whole = clone(tagger).fit(X, Y, **dev)
    streamed = clone(tagger).fit_stream(parts, **dev)
    assert streamed.confidence_source_ == "dev"
    assert content(streamed, tmp_path) == content(whole, tmp_path)


def test_shuffled_it_learns_as_well_and_the_seed_decides(tmp_path, small_blocks):
    tagger = CWSequenceTagger(random_state=0)
    streamed = clone(tagger).fit_stream(parts)
    assert streamed.confidence_source_ == "held-out"
    again = clone(tagger).fit_stream(parts)
    assert content(again, tmp_path) == content(streamed, tmp_path)
    other = clone(tagger).set_params(random_state=1).fit_stream(parts)
    assert content(other, tmp_path) != content(streamed, tmp_path)
    assert streamed.score(X, Y) > 0.98


@settings(max_examples=15, deadline=None)
@given(
    size=st.integers(1, 40),
    words=st.integers(20, 900),
    n=st.integers(2, 40),
    min_count=st.integers(1, 3),
)
def test_neither_parts_nor_blocks_change_the_result(size, words, n, min_count):
    tagger = CWSequenceTagger(**SAME | {"max_iter": 2, "min_count": min_count})
    whole = clone(tagger).fit(X[:n], Y[:n])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_spilling, "FEWEST_WORDS", words)
        patch.setattr(_spilling, "MOST_WORDS", words)
        streamed = clone(tagger).fit_stream(lambda: parts(size, X[:n], Y[:n]))
    assert streamed.vocabulary_.names() == whole.vocabulary_.names()
    np.testing.assert_array_equal(streamed.coef_, whole.coef_)
    np.testing.assert_array_equal(streamed.coef_variance_, whole.coef_variance_)


def test_files_are_read_as_they_are(tmp_path, small_blocks):
    names = [tmp_path / "a.conll", tmp_path / "b.conll.gz"]
    write_columns(names[0], CORPUS.tokens[:40], Y[:40])
    write_columns(tmp_path / "b.conll", CORPUS.tokens[40:], Y[40:])
    names[1].write_bytes(gzip.compress((tmp_path / "b.conll").read_bytes()))
    pipeline = make_tagging_pipeline("ner", CWSequenceTagger(**SAME))
    tokens = [list(map(tuple, sentence)) for sentence in CORPUS.tokens]
    whole = content(clone(pipeline).fit(tokens, Y), tmp_path)
    assert content(clone(pipeline).fit_stream(names), tmp_path) == whole


def test_the_source_is_read_once_so_that_an_iterator_will_do(tmp_path, small_blocks):
    calls = []

    def source():
        calls.append(1)
        return parts()

    tagger = CWSequenceTagger(**SAME)
    found = content(clone(tagger).fit_stream(source), tmp_path)
    assert calls == [1]
    assert content(clone(tagger).fit_stream(parts()), tmp_path) == found


def test_hashed_features_have_no_names(small_blocks):
    pipeline = make_tagging_pipeline("ner", CWSequenceTagger(**SAME), n_features=4096)
    whole = clone(pipeline).fit(CORPUS.tokens, Y)
    streamed = clone(pipeline).fit_stream(lambda: parts(X=CORPUS.tokens))
    np.testing.assert_array_equal(streamed.tagger.coef_, whole.tagger.coef_)
    assert streamed[0].vocabulary_ is None


def test_a_cap_keeps_the_most_frequent_features(small_blocks):
    counts = np.bincount(encode_any(X).indices)
    streamed = CWSequenceTagger(**SAME).fit_stream(parts, max_features=200)
    assert len(streamed.vocabulary_) == 200
    names = encode_any(X).vocabulary.names()
    often = {name for name, n in zip(names, counts, strict=True) if n >= 30}
    assert often <= set(streamed.vocabulary_.names())
    assert streamed.score(X, Y) > 0.8


def test_forgotten_features_are_gone_from_every_block(tmp_path, small_blocks):
    spiller = Spiller(str(tmp_path), Budget(1 << 30, 50), encode_any, "float32")
    for part in parts():
        spiller.add(*part)
    corpus = spiller.finish()
    assert len(spiller.renumberings) > 1
    assert corpus.n_features == len(corpus.vocabulary) == 50
    kept = set(corpus.vocabulary.names())
    rows = [row for batch, _ in corpus.opened() for row in batch.to_lists()]
    flat = [row for sentence in X for row in sentence]
    for found, given_ in zip([r for s in rows for r in s], flat, strict=True):
        assert set(found) <= kept & set(given_)
    # The blocks read last have lost nothing of what is kept.
    for found, given_ in zip(rows[-1], X[-1], strict=True):
        assert set(found) == kept & set(given_)
    assert len(list(tmp_path.iterdir())) == len(corpus.blocks)


def test_a_killed_stream_resumes_with_the_same_bits(tmp_path, small_blocks):
    tagger = CWSequenceTagger(max_iter=3, random_state=0)
    whole = content(clone(tagger).fit_stream(parts), tmp_path)
    checkpoint = Checkpoint(tmp_path / "c", every_minutes=0, resume=True)
    save, left = Keeper.save, [14]

    def dying(self, header, arrays):
        save(self, header, arrays)
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Keeper, "save", dying)
        with pytest.raises(KeyboardInterrupt):
            clone(tagger).fit_stream(parts, checkpoint=checkpoint)
    again = clone(tagger).fit_stream(parts, checkpoint=checkpoint)
    assert content(again, tmp_path) == whole
    with pytest.raises(
        CheckpointError, match="the number of sequences was 90 and is 7"
    ):
        clone(tagger).fit_stream(lambda: [(X[:7], Y[:7])], checkpoint=checkpoint)


def broken_file(folder):
    text = b"Ann O\nleft O\n\n" * 2000 + b"Ann\n" + b"Bob O\n\n"
    (folder / "bad.conll").write_bytes(text)
    return folder / "bad.conll"


def failing():
    yield X[:7], Y[:7]
    raise OSError(5, "Input/output error")


BAD = {
    "a text": ("text", TypeError, "the source gives a str"),
    "a number": (7, TypeError, "the source gives a int"),
    "no pair": (lambda: [X[:3]], TypeError, "part 0 of the source is a list"),
    "other lengths": (lambda: [(X[:2], Y[1:3])], ValueError, "sequence 0"),
    "more sequences": (lambda: [(X[:3], Y[:2])], ValueError, "3"),
    "nothing": (lambda: [], ValueError, "the source holds no words"),
    "empty parts": (lambda: [([], [])], ValueError, "the source holds no words"),
    "a failing source": (failing, OSError, "Input/output error"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_sources_leave_nothing_behind(name, tmp_path):
    source, error, words = BAD[name]
    tagger = CWSequenceTagger(**SAME).fit(X, Y)
    before = content(tagger, tmp_path)
    (tmp_path / "spill").mkdir()
    with pytest.raises(error, match=words):
        tagger.fit_stream(source, folder=tmp_path / "spill")
    assert not list((tmp_path / "spill").iterdir())
    assert content(tagger, tmp_path) == before


def test_a_bad_line_in_the_middle_of_a_file_is_told(tmp_path):
    pipeline = make_tagging_pipeline("ner", CWSequenceTagger(**SAME))
    (tmp_path / "spill").mkdir()
    with pytest.raises(ColumnFileError, match=r"bad\.conll, line 6001"):
        pipeline.fit_stream(broken_file(tmp_path), folder=tmp_path / "spill")
    assert not list((tmp_path / "spill").iterdir())


FULL = """
import resource, signal, sys
from tests.tagging.test_out_of_core import CWSequenceTagger, SAME, parts

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))
try:
    CWSequenceTagger(**SAME).fit_stream(parts, folder=sys.argv[1])
except OSError as error:
    print(error.strerror, error.filename)
"""


def test_a_full_disk_is_told_and_cleared(tmp_path):
    pytest.importorskip("resource")
    found = run_code(FULL, tmp_path)
    assert found.stdout.startswith(f"File too large {tmp_path}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("tagger", "options", "words"),
    [
        (CWSequenceTagger(), {"memory": "much"}, "memory is 'much'"),
        (CWSequenceTagger(), {"memory": -5}, "memory is -5"),
        (CWSequenceTagger(), {"memory": True}, "memory is True"),
        (CWSequenceTagger(), {"memory": "1K"}, "at least 1M is needed"),
        (CWSequenceTagger(), {"max_features": 0}, "max_features is 0"),
        (CWSequenceTagger(), {"X_dev": X}, "give both X_dev and y_dev"),
        (CWSequenceTagger(early_stopping=True), {}, "give X_dev and y_dev instead"),
        (CWSequenceTagger(warm_start=True), {}, "starts anew"),
    ],
)
def test_bad_parameters(tagger, options, words):
    with pytest.raises(ValueError, match=words):
        tagger.fit_stream(parts, **options)


def test_pipelines_that_cannot_stream_say_why():
    joined = make_tagging_pipeline(["ner", str.istitle], CWSequenceTagger())
    with pytest.raises(TypeError, match="a stream needs a pipeline of WindowFeatures"):
        joined.fit_stream(parts)
    rare = make_tagging_pipeline("ner", CWSequenceTagger(min_count=2))
    with pytest.raises(ValueError, match="set min_count on the features"):
        rare.fit_stream(parts)
    hashed = make_tagging_pipeline("ner", n_features=64, min_count=2)
    with pytest.raises(ValueError, match="hashing by n_features has none"):
        hashed.fit_stream(parts)
    assert not hasattr(make_tagging_pipeline("ner", CRFSequenceTagger()), "fit_stream")


def test_sequences_that_break_constraints_are_counted_over_blocks(small_blocks):
    y = [["I-PER"] * len(labels) if i in (50, 70) else labels
         for i, labels in enumerate(Y)]  # fmt: skip
    tagger = CWSequenceTagger(constraints="BIO", **SAME)
    with pytest.warns(ConstraintWarning, match=r"2 training .*, sequence 50 first"):
        tagger.fit_stream(lambda: parts(Y=y))


@pytest.mark.parametrize(
    ("said", "meant"),
    [("2G", 2 << 30), ("1.5m", 1572864), (1 << 20, 1 << 20), ("64 MiB", 64 << 20)],
)
def test_sizes(said, meant):
    assert bytes_of(said) == meant
