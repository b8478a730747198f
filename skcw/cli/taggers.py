"""The learners by their names on the command line, and the pass that each has kept."""

from skcw.cli.messages import UsageError

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
            "max_iter": 150,
            "all_possible_transitions": True,
        },
    ),
}

# Older learners that `skcw compare` sets beside them when asked to.
OLDER = {
    "hmm": ("HMMSequenceTagger", {"word_prefix": "word[0]="}),
    "maxent": ("MaxEntSequenceTagger", {}),
}

# What `skcw compare` sets beside single models: the mean of several.
MEANS = {"cw8": ("CWSequenceTagger", {"n_models": 8})}

# What tables call them.
TITLES = {
    "cw": "CW",
    "cw8": "mean of 8 CW",
    "arow": "AROW",
    "pa": "PA",
    "perceptron": "perceptron",
    "crf": "CRF",
    "hmm": "HMM",
    "maxent": "MaxEnt",
}


def make_tagger(name, seed, given=()):
    """Return an unfitted tagger.

    Parameters
    ----------
    name : str
        One of ``TAGGERS``, of ``MEANS`` or of ``OLDER``.
    seed : int
        Its ``random_state``, if it has one.
    given : dict, default=()
        Further parameters.

    Returns
    -------
    tagger : BaseSequenceTagger
        The tagger.
    """
    import skcw

    class_name, params = (TAGGERS | MEANS | OLDER)[name]
    tagger = getattr(skcw, class_name)(**params)
    known = tagger.get_params()
    for parameter in given:
        if parameter not in known:
            raise UsageError(
                f"{name} has no parameter {parameter!r}; it has {', '.join(known)}"
            )
    if "random_state" in known:
        tagger.set_params(random_state=seed)
    tagger.set_params(**dict(given))
    try:
        tagger._validate_params()
    except ValueError as error:
        raise UsageError(str(error)) from None
    return tagger


def kept_passes(tagger):
    """Return which pass a tagger has kept by its score on a dev file.

    Parameters
    ----------
    tagger : BaseSequenceTagger
        A fitted tagger.

    Returns
    -------
    kept : int, list of int or None
        The pass, from 1 on; one for each of several models; None if nothing was
        judged, or if the last pass is always kept.
    """
    best = {}
    for record in tagger.history_:
        # CRFsuite scores its passes, but always keeps the last one.
        if "dev_score" not in record or "model" not in record:
            return None
        found = best.setdefault(record["model"], record)
        if record["dev_score"] > found["dev_score"]:
            best[record["model"]] = record
    kept = [record["epoch"] for record in best.values()]
    return kept[0] if len(kept) == 1 else kept or None


def kept_text(kept, passes):
    """Return in words which of how many passes was kept."""
    numbers = [kept] if isinstance(kept, int) else kept
    return f"{', '.join(map(str, numbers))} of {passes}"
