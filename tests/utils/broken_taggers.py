"""Taggers with one fault each, and the law that must notice it.

All but a few are the confidence-weighted tagger with one method spoilt.
"""

import numpy as np
from sklearn.base import BaseEstimator

from skcw import CWSequenceTagger
from skcw._model.gaussian import Belief
from skcw.confidence.predictions import Entity
from skcw.data import SequenceBatch
from tests.object_rows import object_rows

# (class, name of the law it breaks)
BROKEN = []


def breaks(law):
    """Return a decorator that lists a class under the law it breaks."""

    def register(cls):
        BROKEN.append((cls, law))
        return cls

    return register


@breaks("check_init_stores_parameters_and_nothing_else")
class PreparesInInit(CWSequenceTagger):
    def __init__(self, phi=1.0):
        super().__init__(phi)
        self.lock = None


@breaks("check_init_stores_parameters_and_nothing_else")
class ConvertsInInit(BaseEstimator):
    def __init__(self, phi=10**9):
        self.phi = float(phi)


@breaks("check_clone_has_the_same_parameters")
class HasABrokenRepr(CWSequenceTagger):
    def __repr__(self):
        return "tagger"


@breaks("check_clone_forgets_what_was_learned")
class RemembersAsClone(CWSequenceTagger):
    def __sklearn_clone__(self):
        copy = type(self)(**self.get_params())
        vars(copy).update(vars(self))
        return copy


@breaks("check_fit_overwrites_no_parameter")
class OverwritesItsSeed(CWSequenceTagger):
    def fit(self, X, y, sample_weight=None):
        self.random_state = np.random.RandomState(self.random_state)
        return super().fit(X, y, sample_weight)


@breaks("check_fit_overwrites_no_parameter")
class ReturnsNothingFromFit(CWSequenceTagger):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)


@breaks("check_predict_before_fit_is_refused")
class AnswersBeforeFit(CWSequenceTagger):
    def predict_marginals(self, X):
        return super().predict_marginals(X) if hasattr(self, "belief_") else None


@breaks("check_fitted_attributes_have_the_names_of_the_contract")
class SortsItsClasses(CWSequenceTagger):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.classes_ = np.sort(self.classes_)
        return self


@breaks("check_rows_have_one_type_whatever_the_lengths")
class GivesATableForEqualLengths(CWSequenceTagger):
    def predict(self, X):
        rows = super().predict(X).tolist()
        equal = len({len(row) for row in rows}) == 1
        return np.array(rows, dtype=object) if equal else object_rows(rows)


@breaks("check_rows_have_one_type_whatever_the_lengths")
class GivesLists(CWSequenceTagger):
    def predict(self, X):
        return super().predict(X).tolist()


@breaks("check_rows_have_one_type_whatever_the_lengths")
class GivesArraysOfLabels(CWSequenceTagger):
    def predict(self, X):
        return object_rows(np.array(row) for row in super().predict(X))


@breaks("check_rows_have_one_type_whatever_the_lengths")
class IsSureInSinglePrecision(CWSequenceTagger):
    def predict_confidence(self, X, method=None):
        rows = super().predict_confidence(X, method)
        return object_rows(row.astype(np.float32) for row in rows)


@breaks("check_rows_have_one_type_whatever_the_lengths")
class GivesEntitiesAsPlainTuples(CWSequenceTagger):
    def predict_entities(self, X):
        return object_rows(
            [tuple(e) for e in row] for row in super().predict_entities(X)
        )


@breaks("check_explanations_name_the_best_legal_rival")
class ComparesWithTheWorstRival(CWSequenceTagger):
    def explain(self, sequence):
        rows = super().explain(sequence)
        return [row._replace(margin=row.margin + 1.0) for row in rows]


@breaks("check_pickle_predicts_the_same_bits")
class LosesBitsInPickle(CWSequenceTagger):
    def __getstate__(self):
        state = dict(super().__getstate__())
        if "belief_" in state:
            belief = state["belief_"].as_dtype("float64", True)
            belief.average = belief.average * (1 + 1e-6)
            state["belief_"] = belief.as_dtype("float32", True)
        return state


@breaks("check_save_and_load_predict_the_same_bits")
class LosesBitsInFiles(CWSequenceTagger):
    def _saved_state(self):
        state, arrays = super()._saved_state()
        rounded = arrays["belief.average"].astype(np.float16).astype(np.float32)
        return state, {**arrays, "belief.average": rounded}


@breaks("check_predict_is_pure")
class CountsItsCalls(CWSequenceTagger):
    def predict(self, X):
        self.calls_ = getattr(self, "calls_", 0) + 1
        return super().predict(X)


@breaks("check_predict_is_pure")
class EatsItsInput(CWSequenceTagger):
    def predict(self, X):
        rows = super().predict(X)
        for sequence in X:
            for token in sequence:
                if isinstance(token, dict):
                    token.clear()
        return rows


@breaks("check_fit_leaves_its_input_as_it_was")
class ChangesLabelsInPlace(CWSequenceTagger):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        y[0][0] = "O" if y[0][0] != "O" else "B-PER"
        return self


@breaks("check_each_sequence_is_tagged_for_itself")
class LooksAtItsNeighbors(CWSequenceTagger):
    def predict_confidence(self, X, method=None):
        rows = super().predict_confidence(X, method)
        most = max((row.max() for row in rows if len(row)), default=1.0)
        return object_rows(row / most for row in rows)


@breaks("check_score_is_token_accuracy")
class ScoresWholeSequences(CWSequenceTagger):
    def score(self, X, y, sample_weight=None):
        right = [list(a) == list(b) for a, b in zip(self.predict(X), y, strict=True)]
        return float(np.average(right, weights=sample_weight))


@breaks("check_it_learns")
class LearnsNothing(CWSequenceTagger):
    def _bound_kernel(self, breadth):
        return lambda *given: (given[3][1], given[3][2] + 1, 1, 1)


@breaks("check_all_forms_of_features_mean_the_same")
class ReadsOnlyLists(CWSequenceTagger):
    def fit(self, X, y, sample_weight=None):
        if isinstance(X, np.ndarray):
            X = [sequence[:1] * len(sequence) for sequence in X]
        return super().fit(X, y, sample_weight)


@breaks("check_a_plain_string_is_one_feature")
class SpellsItsTokens(CWSequenceTagger):
    def fit(self, X, y, sample_weight=None):
        if isinstance(X[0][0], str):
            X = [[list(token) for token in sequence] for sequence in X]
        return super().fit(X, y, sample_weight)


@breaks("check_arrays_and_sparse_matrices_mean_the_same")
class ReadsOnlyNames(CWSequenceTagger):
    def fit(self, X, y, sample_weight=None):
        if isinstance(X[0], np.ndarray):
            X = [[["x"]] * len(sequence) for sequence in X]
        return super().fit(X, y, sample_weight)


@breaks("check_empty_sequences_are_legal")
class ChokesOnEmptySequences(CWSequenceTagger):
    def fit(self, X, y, sample_weight=None):
        if any(len(sequence) == 0 for sequence in X):
            raise ValueError("an empty sequence")
        return super().fit(X, y, sample_weight)


@breaks("check_what_was_never_seen_is_harmless")
class FearsTheUnknown(CWSequenceTagger):
    def predict(self, X):
        for sequence in X:
            for token in sequence:
                if "never" in token:
                    raise KeyError("never")
        return super().predict(X)


@breaks("check_bad_training_data_are_named_and_change_nothing")
class ForgetsBeforeItChecks(CWSequenceTagger):
    def fit(self, X, y, sample_weight=None):
        vars(self).pop("history_", None)
        return super().fit(X, y, sample_weight)


@breaks("check_bad_training_data_are_named_and_change_nothing")
class HidesWhereTheMistakeIs(CWSequenceTagger):
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        try:
            return super().partial_fit(X, y, classes, sample_weight)
        except (TypeError, ValueError):
            raise ValueError("bad input") from None


@breaks("check_bad_training_data_are_named_and_change_nothing")
class TakesAnyWeight(CWSequenceTagger):
    def fit(self, X, y, sample_weight=None):
        if sample_weight is not None:
            sample_weight = np.clip(np.nan_to_num(sample_weight), 0, 10)
        return super().fit(X, y, sample_weight)


@breaks("check_bad_sequences_are_named_in_prediction")
class PredictsAnything(CWSequenceTagger):
    def predict(self, X):
        try:
            return super().predict(X)
        except (TypeError, ValueError):
            return object_rows([])


@breaks("check_nothing_to_learn_from_is_refused")
class LearnsFromNothing(CWSequenceTagger):
    def fit(self, X, y, sample_weight=None):
        if len(X) == 0:
            X, y = [[["nothing"]]], [["O"]]
        return super().fit(X, y, sample_weight)


@breaks("check_fit_starts_afresh")
class NeverForgets(CWSequenceTagger):
    def fit(self, X, y, sample_weight=None):
        if hasattr(self, "belief_"):
            return self.partial_fit(X, y, sample_weight=sample_weight)
        return super().fit(X, y, sample_weight)


class Impulsive(CWSequenceTagger):
    """Adds a little noise to its weights after every fit."""

    def noise(self):
        return np.random.RandomState(None).rand()

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.belief_.average += np.float32(1e-3 * self.noise())
        return self


@breaks("check_same_seed_gives_same_bits")
class IgnoresItsSeed(Impulsive):
    pass


@breaks("check_n_jobs_changes_no_bit")
class DependsOnItsWorkers(Impulsive):
    def noise(self):
        return self.n_jobs or 1


@breaks("check_renaming_labels_changes_nothing")
class ReadsNamesOfLabels(Impulsive):
    def noise(self):
        return sum(map(ord, self.classes_[0]))


@breaks("check_renaming_features_changes_nothing")
class ReadsNamesOfFeatures(Impulsive):
    def noise(self):
        return sum(map(ord, self.feature_names_[1]))


@breaks("check_order_of_features_changes_nothing")
class LikesTheFirstFeature(CWSequenceTagger):
    def fit(self, X, y, sample_weight=None):
        X = [[dict([*token.items()][:2]) for token in sequence] for sequence in X]
        return super().fit(X, y, sample_weight)


@breaks("check_partial_fit_in_pieces_equals_one_pass")
class StartsAfreshWithEveryPiece(CWSequenceTagger):
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        classes = getattr(self, "classes_", classes)
        vars(self).pop("belief_", None)
        return super().partial_fit(X, y, classes, sample_weight)


@breaks("check_partial_fit_in_pieces_equals_one_pass")
class ShufflesEveryPiece(CWSequenceTagger):
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        return super().partial_fit(X[::-1], y[::-1], classes, sample_weight)


@breaks("check_partial_fit_knows_labels_before_and_after")
class SortsClassesGiven(CWSequenceTagger):
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        classes = None if classes is None else sorted(classes)
        return super().partial_fit(X, y, classes, sample_weight)


class Doubting(CWSequenceTagger):
    """Multiplies its variances after every piece."""

    factor = 1.0

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        super().partial_fit(X, y, classes, sample_weight)
        self.belief_.variance *= np.float32(self.factor)
        return self


@breaks("check_variance_is_positive_and_never_grows")
class GrowsDoubtful(Doubting):
    factor = 1.01


@breaks("check_variance_is_positive_and_never_grows")
class BecomesCertain(Doubting):
    factor = 0.0


@breaks("check_a_sample_weight_is_a_number_of_copies")
class IgnoresWeights(CWSequenceTagger):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)


@breaks("check_it_knows_what_it_has_learned_from")
class RecognizesEverything(CWSequenceTagger):
    def train_overlap(self, X):
        return 1.0


@breaks("check_it_knows_what_it_has_learned_from")
class RemembersTheLastBatchOnly(CWSequenceTagger):
    def _memory(self, data, fresh):
        return super()._memory(data, True)


class Ranking(CWSequenceTagger):
    """Spoils the rows of predict_nbest."""

    def predict_nbest(self, X, n):
        return object_rows(self.spoil(row) for row in super().predict_nbest(X, n))


@breaks("check_the_best_labeling_is_the_predicted_one")
class RanksTheWorstFirst(Ranking):
    def spoil(self, row):
        return row[::-1]


@breaks("check_the_best_labeling_is_the_predicted_one")
class RepeatsTheBest(Ranking):
    def spoil(self, row):
        return [row[0], *row[:-1]] if len(row) > 1 else row


@breaks("check_nbest_equals_brute_force")
class SkipsTheSecond(Ranking):
    def spoil(self, row):
        return [*row[:1], *row[2:]]


@breaks("check_nbest_equals_brute_force")
class InventsScores(Ranking):
    def spoil(self, row):
        return [(labels, score - 0.001 * i) for i, (labels, score) in enumerate(row)]


@breaks("check_predict_equals_brute_force")
class PredictsTheSecondBest(CWSequenceTagger):
    def predict(self, X):
        return object_rows(row[-1][0] for row in self.predict_nbest(X, 2))


@breaks("check_marginals_sum_to_one")
class GivesScoresForMarginals(CWSequenceTagger):
    def predict_marginals(self, X):
        rows = super().predict_marginals(X)
        return object_rows(
            [{k: 2 * p for k, p in t.items()} for t in row] for row in rows
        )


@breaks("check_marginals_equal_brute_force")
class GivesUniformMarginals(CWSequenceTagger):
    def predict_marginals(self, X):
        rows = super().predict_marginals(X)
        share = 1 / len(self.classes_)
        return object_rows([dict.fromkeys(t, share) for t in row] for row in rows)


@breaks("check_every_token_has_a_confidence")
class IsSureOfTheWrongThing(CWSequenceTagger):
    def predict_confidence(self, X, method=None):
        return object_rows(-row for row in super().predict_confidence(X, method))


@breaks("check_delta_max_is_the_distance_to_the_best_rival")
class ExaggeratesItsLead(CWSequenceTagger):
    def predict_confidence(self, X, method=None):
        return object_rows(1.01 * row for row in super().predict_confidence(X, method))


@breaks("check_every_token_has_a_confidence")
class IsMoreThanSure(CWSequenceTagger):
    def predict_confidence(self, X, method=None):
        return object_rows(2 * row for row in super().predict_confidence(X, method))


@breaks("check_every_token_has_a_confidence")
class IsSureOfTheFirstWord(CWSequenceTagger):
    def predict_confidence(self, X, method=None):
        return object_rows(row[:1] for row in super().predict_confidence(X, method))


@breaks("check_confidence_depends_on_the_sequence_alone")
class ComparesWithItsNeighbors(CWSequenceTagger):
    def predict_confidence(self, X, method=None):
        rows = super().predict_confidence(X, method)
        return object_rows(row / (1 + len(rows)) for row in rows)


@breaks("check_confidence_depends_on_the_sequence_alone")
class DrawsByPlace(CWSequenceTagger):
    def predict_confidence(self, X, method=None):
        rows = super().predict_confidence(X, method)
        return object_rows(row / (1 + s) for s, row in enumerate(rows))


@breaks("check_the_more_must_be_right_the_less_sure_it_is")
class TrustsTheWholeMost(CWSequenceTagger):
    def predict_sequence_confidence(self, X, method=None):
        return super().predict_sequence_confidence(X, method) ** 0.1


@breaks("check_the_more_must_be_right_the_less_sure_it_is")
class TrustsLongEntities(CWSequenceTagger):
    def predict_entities(self, X, entity_confidence=None):
        rows = super().predict_entities(X, entity_confidence)
        if entity_confidence != "all-words":
            return rows
        return object_rows([e._replace(confidence=1.0) for e in row] for row in rows)


@breaks("check_fitting_confidence_changes_confidence_alone")
class LearnsInSecret(CWSequenceTagger):
    def fit_confidence(self, X, y, metric):
        return super().fit_confidence(X, y, metric=metric).partial_fit(X, y)


@breaks("check_fitting_confidence_changes_confidence_alone")
class PaysNoAttention(CWSequenceTagger):
    def fit_confidence(self, X, y, metric):
        return self


@breaks("check_one_object_answers_what_single_calls_do")
class AnswersOnceThisOnceThat(CWSequenceTagger):
    def predict_confidence(self, X, method=None):
        return object_rows(row / 2 for row in super().predict_confidence(X, method))


@breaks("check_a_table_holds_the_confidence_of_every_label")
class DoubtsWhatItIsTold(CWSequenceTagger):
    def predict_label_confidence(self, X, y, method=None):
        return object_rows(
            row / 2 for row in super().predict_label_confidence(X, y, method)
        )


@breaks("check_what_is_not_served_is_named")
class ServesAnything(CWSequenceTagger):
    def predict_confidence(self, X, method=None):
        known = method in self.confidence_methods_
        return super().predict_confidence(X, method if known else None)


@breaks("check_entities_agree_with_labels")
class EndsInclusively(CWSequenceTagger):
    def predict_entities(self, X):
        rows = super().predict_entities(X)
        return object_rows([Entity(*e[:2], e.end - 1, e[3]) for e in r] for r in rows)


@breaks("check_without_transitions_tokens_are_independent")
class PrefersTheDiagonal(CWSequenceTagger):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        b = self.belief_
        average = b.average.copy()
        average[: b.width**2] += np.eye(b.width, dtype="f4").ravel()
        self.belief_ = Belief(
            b.n_labels, b.row_of, b.mean, b.variance, average, b.rounds
        )
        return self


@breaks("check_encoded_sequences_give_the_same_rows")
class ReadsBatchesBackwards(CWSequenceTagger):
    def predict(self, X):
        rows = super().predict(X)
        return rows[::-1] if isinstance(X, SequenceBatch) else rows


@breaks("check_explanations_name_the_best_legal_rival")
class ExplainsHalfOfTheMargin(CWSequenceTagger):
    def explain(self, *given, **options):
        found = super().explain(*given, **options)
        return [why._replace(margin=why.margin / 2) for why in found]
