"""The laws themselves: who obeys them, who is caught, who is spared."""

import pytest

from skcw import (
    CRFSequenceTagger,
    CWSequenceTagger,
    HMMSequenceTagger,
    MaxEntSequenceTagger,
    PerceptronSequenceTagger,
)
from skcw.utils import checks
from skcw.utils.checks import (
    LAWS,
    check_tagger,
    parametrize_with_tagger_checks,
    yield_tagger_checks,
)
from tests.utils.broken_taggers import BROKEN

LAW_OF = {law.__name__: law for law in LAWS}


def laws_of(tagger):
    return [check.func.__name__ for check in yield_tagger_checks(tagger)]


@pytest.mark.parametrize(
    ("broken", "law"), BROKEN, ids=lambda x: getattr(x, "__name__", x)
)
def test_a_broken_tagger_is_caught_by_the_law_it_breaks(broken, law):
    # An error of the tagger's own breaks a law as well.
    errors = (AssertionError, AttributeError, KeyError, TypeError, ValueError)
    with pytest.raises(errors):
        LAW_OF[law](broken())


def test_every_law_can_fail():
    assert {law for _, law in BROKEN} == set(LAW_OF)


def test_every_law_says_what_it_demands():
    assert all(law.__doc__ for law in LAWS)


def test_check_tagger_names_the_law_that_was_broken():
    broken, law = BROKEN[0]
    with pytest.raises(AssertionError, match=f"{broken.__name__}.*breaks {law}"):
        check_tagger(broken())


def test_check_tagger_reports_a_tagger_that_cannot_even_fit():
    class Unable(CWSequenceTagger):
        def fit(self, X, y, sample_weight=None):
            raise RuntimeError("no")

    with pytest.raises(AssertionError, match=r"Unable.*breaks check_"):
        check_tagger(Unable())


def test_laws_leave_the_tagger_they_are_given_alone():
    tagger = PerceptronSequenceTagger(max_iter=3)
    before = dict(vars(tagger))
    check_tagger(tagger)
    assert vars(tagger) == before


def test_all_laws_speak_of_a_confidence_weighted_tagger():
    assert set(LAW_OF) == set(laws_of(CWSequenceTagger()))


OF_VARIANCES = {
    "check_variance_is_positive_and_never_grows",
}
OF_LATTICES = {
    "check_explanations_name_the_best_legal_rival",
    "check_nbest_equals_brute_force",
    "check_predict_equals_brute_force",
    "check_marginals_equal_brute_force",
    "check_without_transitions_tokens_are_independent",
    "check_delta_max_is_the_distance_to_the_best_rival",
}
OF_MORE_DATA = {law for law in LAW_OF if "partial_fit" in law}
OF_DEFINITIONS = {
    "check_the_more_must_be_right_the_less_sure_it_is",
    "check_fitting_confidence_changes_confidence_alone",
}


def test_laws_of_seeds_and_variances_alone_are_silent_on_counts():
    left_out = set(LAW_OF) - set(laws_of(HMMSequenceTagger()))
    assert left_out == OF_VARIANCES | {"check_same_seed_gives_same_bits"}


def test_laws_of_lattices_are_silent_on_a_tagger_that_has_none():
    left_out = set(LAW_OF) - set(laws_of(MaxEntSequenceTagger()))
    assert left_out == OF_VARIANCES | OF_LATTICES | OF_MORE_DATA | OF_DEFINITIONS


@pytest.mark.parametrize(
    "word",
    ["partial_fit", "variance"],
)
def test_laws_of_what_a_crf_lacks_are_left_out(word):
    assert any(word in law for law in laws_of(CWSequenceTagger()))
    assert not any(word in law for law in laws_of(CRFSequenceTagger()))


def test_laws_that_rename_labels_are_left_out_where_constraints_name_them():
    free, bound = CWSequenceTagger(), CWSequenceTagger(constraints="BIO")
    assert "check_renaming_labels_changes_nothing" in laws_of(free)
    assert "check_renaming_labels_changes_nothing" not in laws_of(bound)


def test_parametrization_names_tagger_and_law():
    mark = parametrize_with_tagger_checks([CWSequenceTagger(phi=2)]).mark
    names, cases = mark.args
    assert names == ("tagger", "check")
    assert cases[0].id.startswith("CWSequenceTagger(phi=2)-check_")
    assert len(cases) == len(laws_of(CWSequenceTagger()))


def test_the_public_names_are_the_three():
    assert set(checks.__all__) == {
        "check_tagger",
        "parametrize_with_tagger_checks",
        "yield_tagger_checks",
    }
