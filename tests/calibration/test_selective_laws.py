"""A selective tagger is a tagger: it obeys the laws of all of them."""

import pytest

from skcw import CWSequenceTagger, SelectiveTagger
from skcw.utils.checks import yield_tagger_checks

LEFT_OUT = {
    # Copies of a sentence get into another part than the sentence.
    "check_a_sample_weight_is_a_number_of_copies",
    # What calibrates is not learned from.
    "check_it_knows_what_it_has_learned_from",
}
# Of so few sentences a part may allow a single label at their beginning.
CW = CWSequenceTagger(
    max_iter=3, shuffle=False, averaging=False, constraints=None, random_state=0
)
TAGGER = SelectiveTagger(
    CW, risk=0.6, confidence_level=0.5, max_errors_per_group=1, calibration_size=0.1
)
CASES = [
    pytest.param(check, id=check.func.__name__)
    for check in yield_tagger_checks(TAGGER)
    if check.func.__name__ not in LEFT_OUT
]


@pytest.mark.parametrize("check", CASES)
@pytest.mark.filterwarnings("ignore::skcw.exceptions.NoThresholdWarning")
def test_selective_taggers_obey_the_laws(check):
    check()


def test_most_laws_speak_of_a_selective_tagger():
    names = {case.values[0].func.__name__ for case in CASES}
    assert {
        "check_every_token_has_a_confidence",
        "check_encoded_sequences_give_the_same_rows",
        "check_save_and_load_predict_the_same_bits",
        "check_the_best_labeling_is_the_predicted_one",
    } <= names
