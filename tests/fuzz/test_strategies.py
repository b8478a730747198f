"""What hypothesis thinks of: it is refused with a documented error, or it works."""

import io
import json
import os
from contextlib import suppress
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import skcw
from skcw.exceptions import ModelFileError
from skcw.features import WindowFeatures
from skcw.io import read_columns, read_json_lines
from skcw.linear_model import MultiClassCW
from skcw.tagging import PerceptronSequenceTagger
from tests.fuzz import strategies
from tests.fuzz.command_lines import DATA, FINE, USAGE, run_command
from tests.fuzz.inputs import quick, rows
from tests.fuzz.inputs import sentences as usual_sentences
from tests.fuzz.isolation import DOCUMENTED, nan_within
from tests.fuzz.model_files import Pieces
from tests.fuzz.saved_models import ask, saved_model
from tests.fuzz.text_files import RECORDS

pytestmark = pytest.mark.filterwarnings("ignore")
few = settings(max_examples=40, suppress_health_check=list(HealthCheck))


# Documented errors may come of anything.
refused_or_used = partial(suppress, *DOCUMENTED)


@few
@given(st.lists(st.sampled_from(RECORDS).flatmap(strategies.altered), max_size=2))
def test_json_lines_hold_sentences_or_are_refused(records):
    text = "\n".join(map(json.dumps, [RECORDS[0], *records]))
    with refused_or_used():
        columns = read_json_lines(io.StringIO(text), names=["O", "B-PER"])
        assert len(columns) == len([line for line in text.split("\n") if line.strip()])


@few
@given(strategies.column_texts, st.sampled_from([None, "\t", " ", ","]))
def test_columns_are_read_or_refused(text, separator):
    with refused_or_used():
        columns = read_columns(io.StringIO(text), separator=separator)
        assert all(len(token) == len(columns.names) for row in columns for token in row)


@few
@given(st.lists(strategies.feature_lines, min_size=1, max_size=2))
def test_feature_lines_give_features_or_are_refused(lines):
    with refused_or_used():
        found = WindowFeatures(lines).fit_transform(usual_sentences()[0])
        assert len(found) == len(usual_sentences()[0])


@few
@given(strategies.sentences, strategies.labels)
def test_a_tagger_learns_from_any_sentences_or_refuses_them(X, y):
    with refused_or_used():
        tagger = quick(PerceptronSequenceTagger).fit(X, y)
        assert not nan_within([tagger.predict_confidence(X), vars(tagger)])


@few
@given(strategies.rows, strategies.weights)
def test_a_classifier_learns_from_any_rows_or_refuses_them(X, weight):
    with refused_or_used():
        model = quick(MultiClassCW).fit(X, rows()[1][:6], sample_weight=weight)
        assert not nan_within([model.predict_proba(X), vars(model)])


PIPELINE = Pieces(saved_model("pipeline")).header


@few
@given(strategies.altered(PIPELINE))
def test_a_model_with_another_header_is_refused_or_used(tmp_path_factory, header):
    path = tmp_path_factory.mktemp("models") / "model"
    pieces = Pieces(saved_model("pipeline"))
    pieces.header = header
    pieces.write(path)
    with suppress(ModelFileError):
        assert not nan_within(ask(path, skcw.load(path), learn=False))


@few
@given(strategies.command_lines, st.integers(0, 9))
def test_a_command_line_ends_in_a_code_that_its_help_tells(words, seed):
    before = os.getcwd()
    assert run_command(words, seed)[0] in (FINE, DATA, USAGE, None)
    assert os.getcwd() == before
