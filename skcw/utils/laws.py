"""Laws: checks of taggers, and what a tagger must have for a check to apply."""

import re
from typing import NamedTuple

import joblib
import numpy as np
from sklearn.base import clone

# Words that tell the kind of the span they lie in, words that do not, and filler.
WORDS = {
    "PER": ["anna", "bo", "carl", "dora"],
    "LOC": ["rome", "oslo", "lima", "bern"],
    None: ["the", "a", "went", "to", "saw", "in"],
}
SHARED = ["paris", "new", "van", "san"]


class Tagged(NamedTuple):
    """Sequences and their labels."""

    X: list
    y: list


def make_tagged(
    tagger, seed=0, n_sequences=24, shortest=1, longest=6, valued=False, noise=0.1
):
    """Return a corpus whose labels obey the BIO or IOBES constraints of a tagger.

    Parameters
    ----------
    tagger : estimator
        Labels are written in IOBES if its ``constraints`` are, in BIO otherwise.
    seed : int, default=0
        Controls all random choices.
    n_sequences : int, default=24
        The number of sequences.
    shortest, longest : int
        The least and the largest number of tokens.
    valued : bool, default=False
        Whether tokens are dicts with real values, not lists of strings. No two
        labelings then have the same score but by accident.
    noise : float, default=0.1
        The share of words drawn from those that say nothing.

    Returns
    -------
    corpus : Tagged
        The sequences and their labels.
    """
    rng = np.random.RandomState(seed)
    iobes = tagger.get_params(deep=False).get("constraints") == "IOBES"
    X, y = [], []
    for s in range(n_sequences):
        # The first sequences have the extreme lengths, so that both do occur.
        length = {0: longest, 1: shortest}.get(s, rng.randint(shortest, longest + 1))
        kinds, labels = _spans(rng, length, iobes)
        words = [_word(rng, kind, noise) for kind in kinds]
        X.append([_token(rng, words, t, valued) for t in range(length)])
        y.append(labels)
    return Tagged(X, y)


def _spans(rng, length, iobes):
    """Return the kind of span and the label of every token."""
    kinds, labels = [], []
    while len(kinds) < length:
        kind = rng.choice(["PER", "LOC", ""])
        size = min(rng.randint(1, 4), length - len(kinds))
        if not kind:
            kinds += [None] * size
            labels += ["O"] * size
            continue
        prefixes = ["B"] + ["I"] * (size - 1)
        if iobes:
            prefixes[-1] = "S" if size == 1 else "E"
        kinds += [str(kind)] * size
        labels += [f"{prefix}-{kind}" for prefix in prefixes]
    return kinds, labels


def _word(rng, kind, noise):
    return str(rng.choice(SHARED if rng.rand() < noise else WORDS[kind]))


def _token(rng, words, t, valued):
    before = words[t - 1] if t else "^"
    after = words[t + 1] if t + 1 < len(words) else "$"
    names = ["bias", f"w={words[t]}", f"before={before}", f"after={after}"]
    if not valued:
        return names
    return {name: float(rng.uniform(0.5, 1.5)) for name in names}


def one_token_each(corpus):
    """Return the corpus with every token as a sequence of its own."""
    return Tagged(
        [[token] for sequence in corpus.X for token in sequence],
        [[label] for labels in corpus.y for label in labels],
    )


# Set on every copy that is checked, where the tagger has the parameter: no law speaks
# of printing, and without a seed two fits need not agree.
QUIET = {"random_state": 0, "verbose": 0, "warm_start": False}

# What keeps a fit from being a plain sequence of passes over all of the data, or from
# taking all of the data at once.
PLAIN = {
    "shuffle": False,
    "n_models": 1,
    "early_stopping": False,
    "min_count": 1,
    "class_weight": None,
    "solver": "lbfgs",
}


def law(*, methods=(), parameters=(), fitted=(), when=None):
    """Return a decorator that makes a check one of the laws.

    Parameters
    ----------
    methods, parameters, fitted : tuple of str, default=()
        Methods, constructor parameters and fitted attributes that a tagger must have
        for the check to apply.
    when : callable, default=None
        Further condition, a function of the tagger and of a fitted copy of it.

    Returns
    -------
    register : callable
        The decorator.
    """

    def register(check):
        check.methods, check.parameters, check.fitted = methods, parameters, fitted
        check.when, check.is_law = when, True
        return check

    return register


def laws_in(*modules):
    """Return the laws of modules in the order in which they are written."""
    things = [thing for module in modules for thing in vars(module).values()]
    return [thing for thing in things if getattr(thing, "is_law", False) is True]


def applies(check, tagger, example):
    """Tell whether a law applies to a tagger; `example` is a fitted copy of it."""
    params = tagger.get_params(deep=False)
    return (
        all(hasattr(tagger, name) for name in check.methods)
        and all(name in params for name in check.parameters)
        and all(hasattr(example, name) for name in check.fitted)
        and (check.when is None or check.when(tagger, example))
    )


def prepared(tagger, **settings):
    """Return an unfitted copy, with those of the settings that the tagger has."""
    known = tagger.get_params(deep=False)
    settings = {**QUIET, **settings}
    return clone(tagger).set_params(
        **{name: value for name, value in settings.items() if name in known}
    )


def fitted(tagger, corpus=None, **settings):
    """Return a prepared copy that has learned a corpus, and the X and y of that."""
    X, y = make_tagged(tagger) if corpus is None else corpus
    return prepared(tagger, **settings).fit(X, y), X, y


def unlimited(tagger, **settings):
    """Return a prepared copy that looks for no scheme in the labels, wrapped or not."""
    copy = prepared(tagger, **settings)
    found = [name for name in copy.get_params() if name.endswith("constraints")]
    copy.set_params(**dict.fromkeys(found))
    if "templates" in copy.get_params(deep=False):
        # Templates of global features read the entities that labels mark.
        copy.set_params(templates=(), loss="labels")
    return copy


def has_free_labels(tagger, example=None):
    """Tell whether labels may have any name, and any order if ``unlimited``."""
    params = tagger.get_params(deep=False)
    costs = params.get("class_weight")
    asked = params.get("constraints")
    free = asked is None or (isinstance(asked, str) and asked == "auto")
    return free and not isinstance(costs, dict)


def is_linear(tagger, example):
    """Tell whether a fitted tagger shows weights from which labelings are scored."""
    return hasattr(example, "transition_coef_")


def require(condition, message):
    """Raise an AssertionError unless the condition holds, even under ``python -O``."""
    if not condition:
        raise AssertionError(message)


def require_error(pattern, what, call, *args, types=(TypeError, ValueError), **options):
    """Raise an AssertionError unless the call raises an error with such a message."""
    try:
        call(*args, **options)
    except types as error:
        found = re.search(pattern, str(error), re.DOTALL)
        require(found, f"{what}: the message {str(error)!r} lacks {pattern!r}")
    except Exception as error:
        raise AssertionError(f"{what} raised {error!r} instead of {types}") from error
    else:
        raise AssertionError(f"{what} raised no error")


def state_of(tagger):
    """Return a hash of everything that a tagger holds."""
    return joblib.hash(vars(tagger))


def outputs(tagger, X):
    """Return all that a tagger says about X, as plain lists."""
    found = {
        "predict": [list(row) for row in tagger.predict(X)],
        "predict_confidence": [row.tolist() for row in tagger.predict_confidence(X)],
        "predict_marginals": [list(row) for row in tagger.predict_marginals(X)],
    }
    if hasattr(tagger, "predict_nbest"):
        found["predict_nbest"] = [list(row) for row in tagger.predict_nbest(X, 3)]
    return found


def weights(tagger):
    """Return the arrays of weights that a fitted tagger shows."""
    names = ("coef_", "transition_coef_", "coef_variance_", "transition_variance_")
    return {
        name: np.asarray(getattr(tagger, name))
        for name in names
        if hasattr(tagger, name)
    }


def require_same_bits(one, other, X, what):
    """Raise unless two fitted taggers have the same weights and say the same."""
    theirs = weights(other)
    for name, array in weights(one).items():
        require(np.array_equal(array, theirs[name]), f"{what} changed {name}")
    theirs = outputs(other, X)
    for name, rows in outputs(one, X).items():
        require(rows == theirs[name], f"{what} changed {name}")


def require_close(one, other, X, rtol, what):
    """Raise unless two fitted taggers give equal labels and close confidence."""
    mine, theirs = ([list(row) for row in tagger.predict(X)] for tagger in (one, other))
    require(mine == theirs, f"{what} changed predict")
    rows = zip(one.predict_confidence(X), other.predict_confidence(X), strict=True)
    for s, (mine, theirs) in enumerate(rows):
        require(
            np.allclose(mine, theirs, rtol=rtol, atol=rtol),
            f"{what} changed predict_confidence of sequence {s} by more than {rtol}: "
            f"{mine} and {theirs}",
        )
