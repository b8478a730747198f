"""A training is judged by what it learns only afterwards, as often as the rest."""

import pytest

from skcw import CWSequenceTagger
from skcw._model import sequence_training
from skcw._model.sequence_training import SequenceTraining
from skcw.datasets import make_tagged_corpus
from skcw.features.basic import basic_features

CORPUS = make_tagged_corpus(200, random_state=0)
X, Y = [basic_features(sentence) for sentence in CORPUS.tokens], CORPUS.labels


@pytest.mark.parametrize("n_models", [1, 5])
def test_models_are_judged_by_what_they_learn_only_afterwards(n_models, monkeypatch):
    trainings, judged = [], SequenceTraining.judged

    class Watching(SequenceTraining):
        def __init__(self, *given):
            super().__init__(*given)
            self.presented, self.found = [], None
            trainings.append(self)

        def pieces(self, *given):
            for size, arguments in super().pieces(*given):
                self.presented.append(set(arguments[-1].order.tolist()))
                yield size, arguments

        def judged(self):
            self.found = len(self.presented)
            return judged(self)

    monkeypatch.setattr(sequence_training, "SequenceTraining", Watching)
    CWSequenceTagger(random_state=0, n_models=n_models, max_iter=6).fit(X, Y)
    held_out = [t.held_out for t in trainings]
    assert [h is not None for h in held_out] == [True] * min(n_models, 4) + [False] * (
        n_models - min(n_models, 4)
    )
    everything = set(range(len(Y)))
    for training, own in zip(trainings[:4], map(set, held_out[:4]), strict=True):
        assert training.found == 3
        assert training.presented[:3] == [everything - own] * 3
        assert training.presented[3:6] == [own] * 3
        assert training.presented[6:] == [everything] * 3
    if n_models > 1:
        assert sum(map(len, held_out[:4])) == len(set().union(*map(set, held_out[:4])))
