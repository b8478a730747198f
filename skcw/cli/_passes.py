"""Passes over a corpus: their progress, and which of them was kept."""

import io
import re
import sys
from contextlib import contextmanager, redirect_stderr

# What learners call things -> what the command calls them.
WORDS = {
    r"\bepoch\b": "pass",
    r"\bsequence(?=s?\b)": "sentence",
    r"\bfeature_norm\b": "norm of weights",
    r"\bactive_features\b": "weights",
    r"\bdev(?:_score)? (?=\d)": "dev accuracy ",
}
SHARE = re.compile(r"(?<=dev accuracy )[\d.]+")
SECONDS = re.compile(r"seconds ([\d.e+-]+)")


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
        # CRFsuite scores its passes and keeps the last one all the same.
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


def in_our_words(line):
    """Return a line of progress in the words of the command, shares in per cent.

    Parameters
    ----------
    line : str
        What a learner says of a pass.

    Returns
    -------
    line : str
        The same.

    Examples
    --------
    >>> from skcw.cli._passes import in_our_words
    >>> in_our_words("epoch 1/9: 7 wrong words in 2 sequences, dev 0.9125, 0.10 s")
    'pass 1/9: 7 wrong words in 2 sentences, dev accuracy 91.25 %, 0.10 s'
    """
    for theirs, ours in WORDS.items():
        line = re.sub(theirs, ours, line)
    line = SHARE.sub(lambda share: f"{100 * float(share[0]):.2f} %", line)
    return SECONDS.sub(lambda seconds: f"{float(seconds[1]):.2f} s", line)


class _Translated(io.TextIOBase):
    """Standard error, to which learners speak in their own words."""

    def __init__(self, file):
        self.file = file

    def write(self, text):
        """Write a text, whole lines of which are translated."""
        self.file.write(in_our_words(text))
        return len(text)

    def flush(self):
        """Write what is held back."""
        self.file.flush()


@contextmanager
def told_in_our_words():
    """Let learners show their progress in the words of the command."""
    with redirect_stderr(_Translated(sys.stderr)):
        yield
