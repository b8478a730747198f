"""Fitted state that changes in one step: others see the old model, or the new one.

A method that learns works on a draft, a shallow copy of its estimator. Only when it is
done does the estimator take over what the draft holds, all at once. So an error, a
lack of memory or Ctrl-C leaves the estimator as it was, and another thread that asks
in the meantime gets the answer of one model and never of a mixture.
"""

import os
from copy import deepcopy
from functools import wraps
from threading import RLock

# Held for the moment in which state is taken over or copied, never while learning.
_moment = RLock()
if hasattr(os, "register_at_fork"):
    # A child must not inherit it from a thread that it does not have.
    os.register_at_fork(
        before=_moment.acquire,
        after_in_parent=_moment.release,
        after_in_child=_moment.release,
    )


def changes_at_once(method):
    """Let a method that learns change its estimator in one step, when it succeeds.

    Examples
    --------
    >>> from skcw._util.one_step import changes_at_once
    >>> class Learner:
    ...     @changes_at_once
    ...     def fit(self, x):
    ...         self.first_ = x
    ...         self.second_ = 1 / x
    ...         return self
    >>> learner = Learner().fit(2)
    >>> learner.fit(0)
    Traceback (most recent call last):
        ...
    ZeroDivisionError: division by zero
    >>> learner.first_, learner.second_
    (2, 0.5)
    """

    @wraps(method)
    def learn(self, *args, **kwargs):
        drafts = {}
        draft = _copy(self, _deep, drafts)
        result = method(draft, *args, **kwargs)
        _take_over(drafts)
        return self if result is draft else result

    return learn


def reads_at_once(method):
    """Let a method read the state that its estimator has at one moment.

    Examples
    --------
    >>> from skcw._util.one_step import reads_at_once
    >>> class Learner:
    ...     @reads_at_once
    ...     def predict(self):
    ...         return self
    >>> learner = Learner()
    >>> learner.predict() is learner
    False
    """

    @wraps(method)
    def read(self, *args, **kwargs):
        with _moment:
            seen = _copy(self, lambda step: step, {})
        return method(seen, *args, **kwargs)

    return read


def _copy(estimator, foreign, copies):
    """Return a copy with those of its steps, and note each beside its original.

    Ours are copied in their first layer, others as `foreign` copies them.
    """
    if not _is_ours(estimator):
        copy = foreign(estimator)
    else:
        copy = object.__new__(type(estimator))
        copy.__dict__ = dict(vars(estimator))
    if copy is not estimator:
        steps = _steps_of(estimator)
        if steps is not None:
            copy.steps = [(name, _copy(step, foreign, copies)) for name, step in steps]
        copies[id(copy)] = estimator, copy
    return copy


def _take_over(drafts):
    """Give all estimators the state of their drafts in one step."""
    for _, draft in drafts.values():
        if _steps_of(draft) is not None:
            # The drafts of steps were made to be thrown away.
            draft.steps = [
                (name, drafts.get(id(step), [step])[0]) for name, step in draft.steps
            ]
    estimators = [estimator for estimator, _ in drafts.values()]
    states = [dict(vars(draft)) for _, draft in drafts.values()]
    before = [vars(estimator) for estimator in estimators]
    with _moment:
        # One call of compiled code: no signal comes between two of them.
        list(map(setattr, estimators, ["__dict__"] * len(states), states))
    # What is forgotten is cleared when nobody waits for it.
    del before


def _deep(estimator):
    """Return a copy of an estimator that may change its arrays in place."""
    if isinstance(estimator, str) or estimator is None:
        return estimator
    try:
        return deepcopy(estimator)
    except Exception:
        # What cannot be copied learns where it is.
        return estimator


def _steps_of(estimator):
    """Return the steps of a pipeline, or None."""
    steps = getattr(estimator, "__dict__", {}).get("steps")
    pairs = isinstance(steps, list) and all(
        isinstance(step, tuple) and len(step) == 2 for step in steps
    )
    return steps if pairs else None


def _is_ours(estimator):
    """Tell whether a class of ours made it, which replaces what it has learned."""
    return any(
        base.__module__.partition(".")[0] == "skcw" for base in type(estimator).__mro__
    )
