"""Clusters and vectors of words: read, learned, used and kept."""

import pickle
from itertools import pairwise

import numpy as np
import pytest

from skcw.features import (
    WindowFeatures,
    WordClusters,
    WordVectors,
    learn_clusters,
    learn_vectors,
)

PATHS = {"red": "0110", "green": "0111", "Rome": "10", "ñandú": "111"}
# Nouns and verbs that can stand for each other.
TEXT = [
    [a, n, v, a, m]
    for a in ("the", "a")
    for n in ("cat", "dog", "fox")
    for v in ("sees", "hears")
    for m in ("cat", "dog", "fox")
]


def test_brown_clusters_are_read(tmp_path):
    file = tmp_path / "paths"
    lines = [f"{path}\t{word}\t{i}" for i, (word, path) in enumerate(PATHS.items())]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert dict(WordClusters.read(file)) == PATHS


@pytest.mark.parametrize("separator", [" ", "\t"])
def test_clusters_of_vectors_are_read(tmp_path, separator):
    file = tmp_path / "clusters"
    lines = [f"{word}{separator}{path}\n" for word, path in PATHS.items()]
    file.write_text("".join(lines), encoding="utf-8")
    assert dict(WordClusters.read(file)) == PATHS


def test_a_line_that_is_no_cluster_is_named(tmp_path):
    file = tmp_path / "clusters"
    file.write_text("red 0110\nalone\n")
    with pytest.raises(ValueError, match="line 2: 'alone'"):
        WordClusters.read(file)


def test_paths_are_cut_at_their_lengths():
    window = WindowFeatures(["cluster(c, 2,3)", "cluster(c)"], clusters={"c": PATHS})
    assert window.fit_transform([["red", "Rome", "blue"]]).to_lists() == [
        [
            ["cluster(c,2)[0]=01", "cluster(c,3)[0]=011", "cluster(c)[0]=0110"],
            ["cluster(c,2)[0]=10", "cluster(c,3)[0]=10", "cluster(c)[0]=10"],
            [],
        ]
    ]


def test_a_word_without_cluster_is_looked_up_in_small_letters():
    clusters = WordClusters.from_words(PATHS)
    assert clusters.of("RED") == "0110"
    # The other way round would be a guess.
    assert clusters.of("rome") is None
    assert "RED" not in clusters and clusters["red"] == "0110"


def test_clusters_of_a_neighbor_are_absent_beyond_the_end():
    window = WindowFeatures(["cluster(c)[-1]"], clusters={"c": PATHS})
    found = window.fit_transform([["red", "Rome"]]).to_lists()
    assert found == [[[], ["cluster(c)[-1]=0110"]]]


@pytest.mark.parametrize(
    ("line", "trouble"),
    [
        ("cluster(d)", "there is no cluster 'd' (clusters: c)"),
        ("cluster(c, 0)", "the size 0 is not positive"),
        ("cluster", "cluster needs a name"),
        ("cluster(c, 2", "')' is missing"),
    ],
)
def test_a_line_that_names_no_cluster_is_refused(line, trouble):
    with pytest.raises(ValueError) as caught:
        WindowFeatures([line], clusters={"c": PATHS}).fit([["red"]])
    assert trouble in str(caught.value)


def test_clusters_survive_pickle_and_arrays():
    clusters = WordClusters.from_words(PATHS)
    clusters.of("red")  # makes a compiled table, which does not pickle
    assert dict(pickle.loads(pickle.dumps(clusters))) == PATHS
    assert dict(WordClusters.from_arrays(clusters.arrays("x"), "x")) == PATHS


def test_damaged_arrays_of_clusters_are_refused():
    arrays = WordClusters.from_words(PATHS).arrays("x")
    with pytest.raises(ValueError, match="do not fit"):
        WordClusters.from_arrays(
            {**arrays, "x.numbers": np.array([0, 1, 2, 9], dtype=np.int32)}, "x"
        )
    with pytest.raises(ValueError, match="missing"):
        WordClusters.from_arrays({}, "x")


def test_words_that_stand_for_each_other_share_a_cluster():
    clusters = learn_clusters(TEXT, 4, n_dimensions=4, random_state=0)
    assert clusters["cat"] == clusters["dog"] == clusters["fox"]
    assert clusters["sees"] == clusters["hears"] != clusters["cat"]
    # Articles, nouns and verbs: there is no fourth to be found.
    assert len(set(clusters.values())) == 3


def test_no_path_is_the_beginning_of_another():
    clusters = learn_clusters(TEXT, 4, n_dimensions=4, random_state=0)
    paths = sorted(set(clusters.values()))
    assert set("".join(paths)) == {"0", "1"}
    assert not any(later.startswith(path) for path, later in pairwise(paths))


def test_vectors_are_the_singular_vectors_of_the_weights():
    vectors = learn_vectors(TEXT, 3, window=1, random_state=0)
    words = vectors.words.names()
    number = {word: i for i, word in enumerate(words)}
    counts = np.zeros((len(words), 2, len(words) + 1))
    for sentence in TEXT:
        for i, word in enumerate(sentence):
            for side, at in enumerate((i - 1, i + 1)):
                inside = 0 <= at < len(sentence)
                context = number[sentence[at]] if inside else len(words)
                counts[number[word], side, context] += 1
    counts = counts.reshape(len(words), -1)
    context = counts.sum(axis=0) ** 0.75
    expected = counts.sum(axis=1, keepdims=True) * context / context.sum()
    with np.errstate(divide="ignore"):
        weights = np.maximum(np.log(counts / expected), 0)
    left, size, _ = np.linalg.svd(weights)
    # The signs of singular vectors are free; products of vectors are not.
    exact = left[:, :3] * size[:3] @ left[:, :3].T
    np.testing.assert_allclose(
        vectors.vectors @ vectors.vectors.T, exact, rtol=1e-4, atol=1e-4
    )


def test_rare_words_have_no_vector():
    vectors = learn_vectors([*TEXT, ["once"]], 2, random_state=0)
    assert vectors.words.find("once") == -1
    with pytest.raises(ValueError, match="nothing to learn"):
        learn_vectors([["once", "upon"]], 2)


def test_clusters_do_not_depend_on_the_form_of_tokens():
    tuples = [[(word, "X") for word in s] for s in TEXT]
    dicts = [[{"word": word} for word in s] for s in TEXT]
    first, *others = [
        dict(learn_clusters(X, 3, n_dimensions=3, random_state=1))
        for X in (TEXT, tuples, dicts)
    ]
    assert others == [first, first]


def test_vectors_are_read_with_and_without_a_first_line(tmp_path):
    file = tmp_path / "vectors.txt"
    for head in ("", "2 3\n"):
        file.write_text(head + "red 1 0 .5\nnew york -1 2e-1 3\n")
        vectors = WordVectors.read(file)
        assert vectors.words.names() == ["red", "new york"]
        np.testing.assert_allclose(vectors.vectors, [[1, 0, 0.5], [-1, 0.2, 3]])


@pytest.mark.parametrize("text", ["red 1 0\nbig 1 x\n", "red\n", "red 1 2\nbig 1\n"])
def test_a_line_that_is_no_vector_is_named(tmp_path, text):
    file = tmp_path / "vectors.txt"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"line \d: "):
        WordVectors.read(file)


def test_a_table_of_vectors_checks_its_arrays():
    with pytest.raises(ValueError, match="a row for each of the 2 words"):
        WordVectors(["a", "b"], np.ones((3, 2)))
    with pytest.raises(ValueError, match="the vector of 'b' is not finite"):
        WordVectors(["a", "b"], [[1.0], [np.nan]])
    with pytest.raises(ValueError, match="twice"):
        WordVectors(["a", "a"], np.ones((2, 2)))


def test_a_smaller_table_has_the_same_vectors():
    table = WordVectors(["a", "b", "c"], np.arange(6).reshape(3, 2))
    small = table.select(["c", "a", "z"])
    assert len(small) == 2
    np.testing.assert_array_equal(small.of(["c", "b"]), [[4, 5], [0, 0]])
