"""The learners of the command line, and the pass that each has kept.

A new learner is a file with its class and a line in `LEARNERS`: from then on
``skcw train`` and ``skcw check`` offer it, ``skcw compare`` trains it beside the rest,
and the laws of all taggers in the tests hold for it.
"""

from importlib import import_module
from typing import NamedTuple

from skcw.cli.messages import UsageError


class Learner(NamedTuple):
    """A learner of the command line.

    Parameters
    ----------
    path : str
        Where its class is: ``"module:Class"``. It is imported when it is needed.
    title : str
        Its name in tables.
    about : str
        Its description in the help.
    params : dict, default={}
        Parameters of the class that are not its defaults.
    commands : tuple of str, default=("train", "compare")
        "train" where ``--model`` offers it, "compare" where ``skcw compare`` trains it
        unless ``--learners`` names others.
    """

    path: str
    title: str
    about: str
    params: dict = {}
    commands: tuple = ("train", "compare")

    def load(self):
        """Return the class."""
        module, _, name = self.path.partition(":")
        return getattr(import_module(module), name)


# The defaults of CRFsuite would flatter the others: these are good on most corpora.
TUNED_CRF = {"c1": 0.05, "c2": 0.05, "max_iter": 150, "all_possible_transitions": True}
# By the name on the command line, in the order of tables.
LEARNERS = {
    "cw": Learner("skcw.tagging.cw:CWSequenceTagger", "CW", "confidence-weighted"),
    "cw8": Learner(
        "skcw.tagging.cw:CWSequenceTagger",
        "mean of 8 CW",
        "the mean of eight",
        {"n_models": 8},
        ("compare",),
    ),
    "arow": Learner("skcw.tagging.arow:AROWSequenceTagger", "AROW", "AROW"),
    "pa": Learner("skcw.tagging.pa:PASequenceTagger", "PA", "passive-aggressive"),
    "perceptron": Learner(
        "skcw.tagging.perceptron:PerceptronSequenceTagger",
        "perceptron",
        "averaged perceptron",
    ),
    "crf": Learner(
        "skcw.tagging.crf:CRFSequenceTagger", "CRF", "CRFsuite's CRF", TUNED_CRF
    ),
    "hmm": Learner(
        "skcw.tagging.hmm:HMMSequenceTagger",
        "HMM",
        "hidden Markov model",
        {"word_prefix": "word[0]="},
        (),
    ),
    "maxent": Learner(
        "skcw.tagging.maxent:MaxEntSequenceTagger", "MaxEnt", "maximum entropy", {}, ()
    ),
}


def names_of(command):
    """Return the names of the learners that a command offers."""
    return [name for name, found in LEARNERS.items() if command in found.commands]


def make_tagger(name, seed, given=()):
    """Return an unfitted tagger.

    Parameters
    ----------
    name : str
        One of ``LEARNERS``.
    seed : int
        Its ``random_state``, if it has one.
    given : dict, default=()
        Further parameters.

    Returns
    -------
    tagger : BaseSequenceTagger
        The tagger.
    """
    tagger = LEARNERS[name].load()(**LEARNERS[name].params)
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
        # CRFsuite scores its passes, but always keeps the last one; and passes that
        # leave something out to judge confidence by are not scored.
        if "dev_score" not in record or "model" not in record:
            continue
        found = best.setdefault(record["model"], record)
        if record["dev_score"] > found["dev_score"]:
            best[record["model"]] = record
    kept = [record["epoch"] for record in best.values()]
    return kept[0] if len(kept) == 1 else kept or None


def kept_text(kept, passes):
    """Return in words which of how many passes was kept."""
    numbers = [kept] if isinstance(kept, int) else kept
    return f"{', '.join(map(str, numbers))} of {passes}"
