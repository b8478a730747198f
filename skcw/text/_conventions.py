"""What corpora do in different ways: what their words show of it."""

import re
from collections import Counter
from collections.abc import Mapping

import numpy as np

from skcw.data._token_columns import TokenColumns

# Endings that the Penn Treebank cuts off.
CONTRACTIONS = ("'d", "'ll", "'m", "'re", "'s", "'ve", "n't")

# Titles and the like, which do not end a sentence, in some languages.
TITLES = """
Adm. Ave. Bros. Capt. Co. Col. Corp. Dr. Drs. Gen. Gov. Hon. Inc. Jr. Lt. Ltd. Maj. Mr.
Mrs. Ms. Mt. Prof. Rep. Rev. Sen. Sgt. Sr. St. vs. etc. e.g. i.e. a.m. p.m.
Jan. Feb. Apr. Jul. Aug. Sept. Oct. Nov. Dec.
Sra. Sres. Srta. Dra. D. Dña. Ud. Uds. Excmo. Ilmo. pág. núm. aprox.
dhr. mevr. mw. ir. ing. drs. mr. prof. dr. nr. blz. o.a. m.a.w. d.w.z. enz. t.o.v.
Hr. Fr. Nr. bzw. z.B. d.h. usw. ca. Mio. Mrd. M. MM. Mme. Mlle. Sig. dott.
"""
ABBREVIATIONS = tuple(TITLES.split())

STOPPED = re.compile(r"[^\W\d_][\w.\-]*\.")
ACRONYM = re.compile(r"(?:[^\W\d_]{1,3}\.){2,}")
INNER_HYPHEN = re.compile(r"\w-\w")
PERCENT = re.compile(r"\d%")
ENDING = re.compile(r"n?['’][^\W\d_]{1,3}")
CLITIC = re.compile(r"'[^\W\d_]{1,3}")
BEGINNING = re.compile(r"[^\W\d_]{1,5}['’]")

# Signs that texts write in several ways, and how a corpus may write them.
TWINS = {
    "“": ('"', "``"),
    "”": ('"', "''"),
    "„": ('"', "``"),
    "«": ('"', "``"),
    "»": ('"', "''"),
    "‘": ("'", "`"),
    "’": ("'",),
    "–": ("-", "--"),
    "—": ("--", "-"),
    "…": ("...",),
    "(": ("-LRB-",),
    ")": ("-RRB-",),
    "[": ("-LSB-",),
    "]": ("-RSB-",),
    "{": ("-LCB-",),
    "}": ("-RCB-",),
}


def word_counts(X):
    """Return how often each word occurs; nothing where tokens are not words.

    Parameters
    ----------
    X : TokenColumns, or list of sequences
        Sentences: words, tuples whose first item is the word, or dicts with ``word``.

    Returns
    -------
    counts : dict of str to int
        By word.
    """
    if isinstance(X, TokenColumns):
        column = X.names.index("word") if X.names and "word" in X.names else 0
        if not X.n_columns:
            return {}
        values = X.values[column].names()
        counts = np.bincount(X.codes[column], minlength=len(values)).tolist()
        return {word: n for word, n in zip(values, counts, strict=True) if n}
    counts = Counter()
    for sequence in X:
        if not isinstance(sequence, (list, tuple)):
            return {}
        counts.update(map(_word, sequence))
    return {word: n for word, n in counts.items() if isinstance(word, str)}


def _word(token):
    """Return the word of a token, or None."""
    if isinstance(token, Mapping):
        word = token.get("word")
    else:
        word = token[0] if isinstance(token, tuple) and token else token
    return word if isinstance(word, str) else None


def conventions_of(counts):
    """Return the settings of a tokenizer that cuts as a corpus is cut.

    Parameters
    ----------
    counts : dict of str to int
        How often each word of the corpus occurs.

    Returns
    -------
    settings : dict
        Those of :class:`Tokenizer`; none if there are no words.
    """
    if not counts:
        return {}
    stopped = {word for word in counts if STOPPED.fullmatch(word)}
    whole = _count(INNER_HYPHEN, counts)
    return {
        "abbreviations": _abbreviations(counts, stopped),
        "contractions": _contractions(counts),
        "clitics": [word for word in sorted(counts) if CLITIC.fullmatch(word)],
        "acronyms": any(map(ACRONYM.fullmatch, stopped)) or not stopped,
        "initials": any(len(word) == 2 for word in stopped) or not stopped,
        # A corpus that cuts at hyphens has them as words, and no word with one.
        "split_hyphens": whole < 0.1 * counts.get("-", 0),
        "percent": _count(PERCENT, counts) > counts.get("%", 0),
        "forms": _forms(counts),
    }


def _count(pattern, counts):
    """Return how many words hold what a pattern describes."""
    return sum(n for word, n in counts.items() if pattern.search(word))


def _abbreviations(counts, stopped):
    """Return the words with a full stop, and usual ones the corpus does not cut."""
    lowered = {word.lower() for word in counts}
    usual = [word for word in ABBREVIATIONS if word[:-1].lower() not in lowered]
    # Initials and acronyms have rules of their own, and once may be a mistake.
    found = [word for word in stopped if len(word) > 2 or word[0].islower()]
    found = [word for word in found if not ACRONYM.fullmatch(word)]
    found = [word for word in found if counts[word] > max(1, counts.get(word[:-1], 0))]
    return sorted({*usual, *found})


def _cut(word):
    return ENDING.fullmatch(word) or BEGINNING.fullmatch(word)


def _contractions(counts):
    """Return what the corpus cuts off at apostrophes."""
    found, whole = Counter(), Counter()
    for word, n in counts.items():
        if "'" not in word and "’" not in word:
            continue
        word = word.replace("’", "'").lower()
        if _cut(word):
            found[word] += n
            continue
        first, _, last = word.partition("'")
        if first and last:
            # In Dutch, 's is a word, and an ending that is not cut off.
            whole.update({f"'{last}": n, f"{first}'": n, f"{first[-1]}'{last}": n})
    # Once may be a mistake.
    return sorted(word for word, n in found.items() if n > max(1, whole[word]))


def _forms(counts):
    """Return how the corpus writes signs that are not among its words."""
    forms = {}
    for sign, twins in TWINS.items():
        known = [twin for twin in twins if twin in counts]
        if sign not in counts and known:
            forms[sign] = known[0]
    if '"' not in counts and "``" in counts:
        forms['"'] = "``''"
    if "’" not in counts and not any("’" in word for word in counts):
        forms["’"] = "'"
    return forms
