"""A calibrated tagger is a tagger: it obeys the laws of all of them."""

import pytest

from skcw import CRFSequenceTagger, CWSequenceTagger
from skcw.calibration import CalibratedTagger
from skcw.utils.checks import yield_tagger_checks

LEFT_OUT = {
    # Copies of a sentence get into other folds than the sentence.
    "CWSequenceTagger": {"check_a_sample_weight_is_a_number_of_copies"},
    # CRFsuite trains one model at a time: workers change nothing, and take time.
    "CRFSequenceTagger": {
        "check_a_sample_weight_is_a_number_of_copies",
        "check_n_jobs_changes_no_bit",
    },
}

CW = CWSequenceTagger(max_iter=3, shuffle=False, averaging=False, random_state=0)
CRF = CRFSequenceTagger(max_iter=10)
TAGGERS = [
    CalibratedTagger(CW, cv=2, per_label=True, min_words=5),
    CalibratedTagger(CRF, cv=2, method="temperature", ensemble=False),
]
CASES = [
    pytest.param(check, id=f"{i}-{check.func.__name__}")
    for i, tagger in enumerate(TAGGERS)
    for check in yield_tagger_checks(tagger)
    if check.func.__name__ not in LEFT_OUT[type(tagger.estimator).__name__]
]


@pytest.mark.parametrize("check", CASES)
def test_calibrated_taggers_obey_the_laws(check):
    check()


def test_most_laws_speak_of_a_calibrated_tagger():
    names = {check.values[0].func.__name__ for check in CASES}
    assert {
        "check_every_token_has_a_confidence",
        "check_encoded_sequences_give_the_same_rows",
        "check_entities_agree_with_labels",
        "check_it_knows_what_it_has_learned_from",
        "check_marginals_sum_to_one",
        "check_n_jobs_changes_no_bit",
        "check_save_and_load_predict_the_same_bits",
        "check_the_best_labeling_is_the_predicted_one",
    } <= names
