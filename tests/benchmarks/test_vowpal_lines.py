"""The lines that Vowpal Wabbit reads: what stands in them, and what must not."""

import numpy as np

from tests.benchmarks.modules import benchmark_module

vowpal = benchmark_module("common.vowpal")


def test_a_token_is_its_label_and_its_features():
    assert vowpal.token_line(["w=a", "p=DT"], 3) == "3 | w=a p=DT\n"
    assert vowpal.token_line(["w=a"]) == " | w=a\n"


def test_signs_of_the_format_do_not_reach_the_names():
    line = vowpal.token_line(["w=a b", "t=10:30", "p2=DT|NN", "w=\n"], 1)
    head, names = line.rstrip("\n").split(" | ")
    assert head == "1"
    assert len(names.split(" ")) == 4
    assert not set(":|\n") & set(names)


def test_features_that_differ_by_a_sign_stay_apart():
    names = ["w=:", "w=|", "w=_", "w=."]
    shown = vowpal.token_line(names, 1).rstrip("\n").split(" | ")[1].split(" ")
    assert len(set(shown)) == len(names)


def test_a_row_gives_values_only_if_one_of_them_is_not_one():
    names = np.array(["4", "7"], dtype=object)
    assert vowpal.row_line(names, np.array([1.0, 1.0]), 2) == "2 | 4 7\n"
    assert vowpal.row_line(names, np.array([1.0, 0.25]), 2) == "2 | 4:1 7:0.25\n"


def test_rows_are_shuffled_to_be_learned_from_but_not_to_be_told(tmp_path):
    from scipy import sparse

    X = sparse.csr_matrix(np.eye(50))
    told, learned = tmp_path / "told", tmp_path / "learned"
    vowpal.VowpalClassifier._write(told, X)
    vowpal.VowpalClassifier._write(learned, X, list(range(1, 51)))
    assert told.read_text().split("\n")[:-1] == [f" | {i}" for i in range(50)]
    lines = learned.read_text().split("\n")[:-1]
    assert lines != sorted(lines, key=lambda line: int(line.split()[0]))
    assert {tuple(line.split(" | ")) for line in lines} == {
        (str(i + 1), str(i)) for i in range(50)
    }
