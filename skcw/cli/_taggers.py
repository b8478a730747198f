"""The learners by the names they have on the command line."""

from skcw.cli._errors import UsageError

# What --model calls a learner -> its class, and parameters that are not its defaults.
TAGGERS = {
    "cw": ("CWSequenceTagger", {}),
    "arow": ("AROWSequenceTagger", {}),
    "pa": ("PASequenceTagger", {}),
    "perceptron": ("PerceptronSequenceTagger", {}),
    # The defaults of CRFsuite would flatter the others: these are good on most corpora.
    "crf": (
        "CRFSequenceTagger",
        {
            "c1": 0.05,
            "c2": 0.05,
            "max_iterations": 150,
            "all_possible_transitions": True,
        },
    ),
}

# What tables call them.
TITLES = {
    "cw": "CW",
    "arow": "AROW",
    "pa": "PA",
    "perceptron": "perceptron",
    "crf": "CRF",
}


def make_tagger(name, seed, given=()):
    """Return an unfitted tagger.

    Parameters
    ----------
    name : str
        One of ``TAGGERS``.
    seed : int
        Its ``random_state``.
    given : dict, default=()
        Further parameters.

    Returns
    -------
    tagger : BaseSequenceTagger
        The tagger.
    """
    import skcw

    class_name, params = TAGGERS[name]
    tagger = getattr(skcw, class_name)(**params)
    known = tagger.get_params()
    for parameter in given:
        if parameter not in known:
            raise UsageError(
                f"{name} has no parameter {parameter!r}; it has {', '.join(known)}"
            )
    tagger.set_params(**{"random_state": seed, **dict(given)})
    try:
        tagger._validate_params()
    except ValueError as error:
        raise UsageError(str(error)) from None
    return tagger


def passes_parameter(name):
    """Return what a learner calls the number of its passes."""
    return "max_iterations" if name == "crf" else "max_iter"
