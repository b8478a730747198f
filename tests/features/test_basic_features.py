import pytest

from skcw.datasets import make_tagged_corpus
from skcw.features.basic import basic_features


def test_every_token_gets_its_own_list_of_strings():
    for tokens in make_tagged_corpus(50, random_state=0).tokens:
        features = basic_features(tokens)
        assert len(features) == len(tokens)
        assert all(isinstance(name, str) for row in features for name in row)
        assert all(len(row) == len(set(row)) for row in features)


def test_empty_sequence_has_no_features():
    assert basic_features([]) == []


def test_plain_words_give_the_features_that_need_no_other_column():
    words = ["The", "Rose", "fell"]
    tagged = basic_features([(word, "X") for word in words])
    plain = basic_features(words)
    for with_tags, without in zip(tagged, plain, strict=True):
        assert without == [f for f in with_tags if not f.startswith("column")]


def test_neighbors_stay_inside_the_sequence():
    (features,) = basic_features(["Rose"])
    assert "word[0]=Rose" in features
    assert not any("[-" in name or "[1" in name or ",1]" in name for name in features)
    assert {"first", "last"} <= set(features)


def test_affixes_go_by_characters():
    (features,) = basic_features(["Åé"])
    affixes = [name for name in features if "fix=" in name]
    assert affixes == ["prefix=Å", "suffix=é", "prefix=Åé", "suffix=Åé"]


def test_rows_of_different_width_are_refused():
    with pytest.raises(ValueError, match="token 1 has 1 columns"):
        basic_features([("a", "X"), ("b",)])
