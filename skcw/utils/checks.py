"""The laws that every sequence tagger must obey, also one of your own.

Each law is a function ``check_…(tagger)`` that raises ``AssertionError`` and names the
law that was broken. Laws that do not apply to a tagger are left out: those about
``partial_fit``, ``save``, ``encode``, ``fit_confidence`` and ``train_overlap`` if it
lacks the method; those about seeds, workers, variances, ``phi`` and ``r`` if it lacks
the parameter or attribute; comparisons with all labelings if it does not show its
weights; and renamed labels if constraints or class weights name them.
"""

import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from skcw.utils import check_estimator as _check_estimator
from skcw.utils import check_learning as _check_learning
from skcw.utils import check_predictions as _check_predictions
from skcw.utils.laws import applies, laws_in, make_tagged, prepared

__all__ = ["check_tagger", "parametrize_with_tagger_checks", "yield_tagger_checks"]

LAWS = laws_in(
    _check_estimator,
    _check_learning,
    _check_predictions,
)


def yield_tagger_checks(tagger: Any) -> Iterator[Any]:
    """Yield the laws that apply to a tagger, as functions without arguments.

    Parameters
    ----------
    tagger : estimator
        An unfitted tagger; it is copied and never fitted itself. With ``constraints``
        of its own making it must allow the labels O, B-PER, I-PER, B-LOC and I-LOC in
        every order that BIO allows.

    Yields
    ------
    check : callable
        ``check()`` raises ``AssertionError`` if the law is broken; ``check.func`` is
        the law itself, explained by its docstring.

    Examples
    --------
    >>> from skcw import PerceptronSequenceTagger
    >>> from skcw.utils.checks import yield_tagger_checks
    >>> checks = list(yield_tagger_checks(PerceptronSequenceTagger(max_iter=2)))
    >>> checks[0].func.__name__
    'check_init_stores_parameters_and_nothing_else'
    >>> checks[0]()
    """
    example = prepared(tagger)
    try:
        example.fit(*make_tagged(tagger))
    except Exception:
        # The first law that fits will fail with the reason.
        example = tagger
    for check in LAWS:
        if applies(check, tagger, example):
            yield partial(check, tagger)


def check_tagger(tagger: Any) -> None:
    """Raise unless a tagger obeys every law that applies to it.

    Parameters
    ----------
    tagger : estimator
        An unfitted tagger.

    Raises
    ------
    AssertionError
        With the first law that was broken.

    Examples
    --------
    >>> from skcw import PerceptronSequenceTagger
    >>> from skcw.utils.checks import check_tagger
    >>> check_tagger(PerceptronSequenceTagger(max_iter=5))
    """
    for check in yield_tagger_checks(tagger):
        try:
            check()
        except Exception as error:
            name = check.func.__name__
            raise AssertionError(f"{tagger!r} breaks {name}: {error}") from error


def parametrize_with_tagger_checks(taggers: Iterable[Any]) -> Any:
    """Return a decorator that runs a test with every tagger and law; needs pytest.

    Parameters
    ----------
    taggers : iterable of estimators
        Unfitted taggers.

    Returns
    -------
    decorator : pytest.MarkDecorator
        It gives the test the arguments ``tagger`` and ``check``.

    Examples
    --------
    >>> from skcw import PerceptronSequenceTagger
    >>> from skcw.utils.checks import parametrize_with_tagger_checks
    >>> @parametrize_with_tagger_checks([PerceptronSequenceTagger()])
    ... def test_my_tagger_obeys_the_laws(tagger, check):
    ...     check(tagger)
    """
    import pytest

    cases = [
        pytest.param(tagger, check.func, id=f"{_brief(tagger)}-{check.func.__name__}")
        for tagger in taggers
        for check in yield_tagger_checks(tagger)
    ]
    return pytest.mark.parametrize(("tagger", "check"), cases)


def _brief(tagger):
    """Return the representation of a tagger in one line, the same in every process."""
    return re.sub(r"\s+", " ", re.sub(r" at 0x[0-9a-f]+", "", repr(tagger)))
