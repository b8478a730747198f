"""Plain text to tokens with their places, by the conventions of a corpus."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from skcw.data.columns import TokenColumns
from skcw.data.saved import saved_kind

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
    # A sign that must be there is looked for first: most words need no pattern.
    stopped = {w for w in counts if w.endswith(".") and STOPPED.fullmatch(w)}
    whole = _count(INNER_HYPHEN, "-", counts)
    quoted = [w for w in counts if w.startswith("'") and CLITIC.fullmatch(w)]
    return {
        "abbreviations": _abbreviations(counts, stopped),
        "contractions": _contractions(counts),
        "clitics": sorted(quoted),
        "acronyms": any(map(ACRONYM.fullmatch, stopped)) or not stopped,
        "initials": any(len(word) == 2 for word in stopped) or not stopped,
        # A corpus that cuts at hyphens has them as words, and no word with one.
        "split_hyphens": whole < 0.1 * counts.get("-", 0),
        "percent": _count(PERCENT, "%", counts) > counts.get("%", 0),
        "forms": _forms(counts),
    }


def _count(pattern, sign, counts):
    """Return how many words match a pattern, all of which have a sign."""
    return sum(n for word, n in counts.items() if sign in word and pattern.search(word))


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
    """Return the contractions that the corpus splits off."""
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


CLOSING = frozenset("\"'”’»›)]}")
ENDS = (".", "!", "?", "…", "...", "。", "！", "？", "‽", "؟", "।")
# With what a word ends that may end a sentence.
LAST = CLOSING | {end[-1] for end in ENDS}
APOSTROPHES = "'’"
HYPHENS = "-‐‑"

# Scripts that are written without blanks: each character is a word by itself.
IDEOGRAPHS = "\u3040-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
JOINER = "\u200d"
# Skin tones and the marks of emoji.
MODIFIERS = "\U0001f3fb-\U0001f3ff\ufe0e\ufe0f\u20e3"

LETTERS = re.compile(r"[^\W\d_]+")
LETTER_FOLLOWS = re.compile(r"[ \t]*[^\W\d_]")
# No character below this one is a combining mark.
FIRST_MARK = "\u0300"
BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


class TextToken(NamedTuple):
    """A word of a text, and where it stands.

    Parameters
    ----------
    word : str
        The word as the model's corpus would write it.
    start : int
        The position of its first character in the text.
    end : int
        One past the position of its last character.

    Examples
    --------
    >>> from skcw.io import Tokenizer
    >>> Tokenizer().split("Ann left.")[0][-1]
    TextToken(word='.', start=8, end=9)
    """

    word: str
    start: int
    end: int


@lru_cache(maxsize=16)
def _pattern(marks, split_hyphens):
    """Return the regular expression of tokens of texts with these combining marks."""
    marked = f"[{re.escape(marks)}{MODIFIERS}]*"
    letter = rf"(?:[^\W_{IDEOGRAPHS}]{marked})"
    inner = re.escape(APOSTROPHES + ("" if split_hyphens else HYPHENS))
    word = rf"{letter}+(?:[{inner}&·_]{letter}+)*"
    return re.compile(
        rf"""
        (?P<address>(?:https?|ftp)://[^\s<>"»”]+|www\.[^\s<>"»”]+)
        | (?P<mail>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)
        | (?P<tag>[@#][^\W_]\w*)
        | (?P<acronym>(?:(?!\d){letter}\.){{2,}}|(?:(?!\d){letter}{{1,3}}\.){{2,}})
        | (?P<number>\d+(?:[.,:/]\d+)+%?|[.,]\d+(?:[.,:/]\d+)*|\d+%)
        | (?P<word>{word})
        | (?P<ideograph>[{IDEOGRAPHS}]{marked})
        | (?P<run>\.{{2,}}|-{{2,}}|``|'')
        | (?P<flag>[\U0001f1e6-\U0001f1ff]{{2}})
        | (?P<sign>\S{marked}(?:{JOINER}\S{marked})*)
        """,
        re.VERBOSE,
    )


def _marks_in(text):
    """Return the characters of a text that belong to the one before them."""
    if max(text, default="") < FIRST_MARK:
        return ""
    return "".join(sorted(c for c in set(text) if unicodedata.category(c)[0] == "M"))


class Tokenizer:
    """Cuts plain text into sentences and words, by rules.

    Words are runs of letters and digits of any script, with the marks on them. Web and
    mail addresses, numbers such as ``10.000,5``, abbreviations and acronyms stay in one
    piece. Whatever a corpus may do in one way or in another is a setting, and
    :meth:`from_corpus` finds the settings of a corpus.

    Parameters
    ----------
    abbreviations : iterable of str, default=None
        Words that keep their full stop, such as ``Mr.``; None is a list for several
        languages.
    contractions : iterable of str, default=None
        Parts that are split off at an apostrophe: endings such as ``n't`` and ``'s``,
        beginnings such as ``l'``. By default those of the Penn Treebank.
    clitics : iterable of str, default=()
        Words that begin with an apostrophe, such as ``'t`` in Dutch.
    acronyms : bool, default=True
        Whether ``U.S.`` is one word.
    initials : bool, default=True
        Whether ``J.`` in ``J. Smith`` is one word.
    split_hyphens : bool, default=False
        Whether ``well-known`` is three words.
    percent : bool, default=False
        Whether ``10%`` is one word.
    forms : dict of str to str, default=None
        How the corpus writes signs that texts write otherwise, such as typographic
        quotation marks: ``{"“": '"'}``. ``{'"': "``''"}`` writes quotation marks as the
        Penn Treebank does.

    See Also
    --------
    skcw.TaggingPipeline.predict_text : Finds entities in plain text.

    Examples
    --------
    >>> from skcw.io import Tokenizer
    >>> text = "Dr. Ann didn't call J. Smith. See www.example.net!"
    >>> for sentence in Tokenizer().split(text):
    ...     print([token.word for token in sentence])
    ['Dr.', 'Ann', 'did', "n't", 'call', 'J.', 'Smith', '.']
    ['See', 'www.example.net', '!']
    """

    def __init__(
        self,
        *,
        abbreviations: Iterable[Any] | None = None,
        contractions: Iterable[Any] | None = None,
        clitics: Iterable[Any] = (),
        acronyms: bool = True,
        initials: bool = True,
        split_hyphens: bool = False,
        percent: bool = False,
        forms: dict[str, str] | None = None,
    ) -> None:
        given = ABBREVIATIONS if abbreviations is None else abbreviations
        self.abbreviations = _texts("abbreviations", given)
        given = CONTRACTIONS if contractions is None else contractions
        self.contractions = _texts("contractions", given)
        self.clitics = _texts("clitics", clitics)
        self.acronyms = bool(acronyms)
        self.initials = bool(initials)
        self.split_hyphens = bool(split_hyphens)
        self.percent = bool(percent)
        self.forms = dict(sorted((forms or {}).items()))
        # A dict keeps its order in files, whatever the hashes are.
        self._known = dict.fromkeys(self.abbreviations)
        lowered = [text.lower() for text in self.contractions]
        # Longer ones first: n't before 't.
        ranked = sorted(lowered, key=len, reverse=True)
        self._endings = [text for text in ranked if text[-1] not in APOSTROPHES]
        self._beginnings = [text for text in ranked if text[-1] in APOSTROPHES]

    @classmethod
    def from_corpus(cls, X: Any) -> Self:
        """Return a tokenizer that cuts as a corpus is cut.

        Parameters
        ----------
        X : TokenColumns, or list of sequences
            Its sentences: lists of words, of tuples whose first item is the word, or of
            dicts with ``word``.

        Returns
        -------
        tokenizer : Tokenizer
            With the settings that the words show.
        """
        return cls(**conventions_of(word_counts(X)))

    def settings(self) -> dict[Any, Any]:
        """Return the settings as values that JSON can hold.

        Returns
        -------
        settings : dict
            Those of ``__init__``.
        """
        kept = {k: v for k, v in vars(self).items() if not k.startswith("_")}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in kept.items()}

    def __eq__(self, other):
        return isinstance(other, Tokenizer) and self.settings() == other.settings()

    __hash__ = None

    def __repr__(self):
        return (
            f"Tokenizer({len(self.abbreviations)} abbreviations, contractions: "
            f"{' '.join(self.contractions) or 'none'})"
        )

    def split(self, text: str) -> list[Any]:
        """Return the sentences of a text.

        Parameters
        ----------
        text : str
            The text. An empty line ends a sentence.

        Returns
        -------
        sentences : list of list of TextToken
            The words of each sentence. ``text[token.start:token.end]`` is the token
            in the text.
        """
        if not isinstance(text, str):
            raise TypeError(f"text must be a string, got {type(text).__name__}")
        sentences, begin = [], 0
        tokens = self._tokens(text)
        for at, (token, following) in enumerate(pairwise(tokens)):
            # Most words end no sentence, as one look tells.
            may_end = token.word[-1] in LAST or following.start - token.end > 1
            if may_end and self._ends(text, tokens, at, following):
                sentences.append(tokens[begin : at + 1])
                begin = at + 1
        sentences += [tokens[begin:]] if tokens else []
        return [self._written(text, sentence) for sentence in sentences]

    def _tokens(self, text):
        """Return the tokens as they stand in the text."""
        search = _pattern(_marks_in(text), self.split_hyphens).search
        tokens, at = [], 0
        while found := search(text, at):
            start, at = found.span()
            if found.lastgroup != "word":
                at = self._end(text, found)
            elif text[at : at + 1] == ".":
                at = self._abbreviated(text, start, at)
            word = text[start:at]
            # Most words have no apostrophe at which to cut them.
            if found.lastgroup == "word" and ("'" in word or "’" in word):
                tokens += self._cut(text, start, at)
            else:
                tokens.append(TextToken(word, start, at))
        return tokens

    def _end(self, text, found):
        """Return where a token ends that a rule has found."""
        start, end = found.span()
        kind = found.lastgroup
        if kind in ("address", "mail"):
            return start + len(_without_punctuation(found[0]))
        if kind == "acronym" and not self._is_acronym(found[0]):
            return self._abbreviated(text, start, start + found[0].index("."))
        if kind == "number" and found[0].endswith("%") and not self.percent:
            return end - 1
        if found[0] in APOSTROPHES and self.clitics:
            return self._end_of_clitic(text, start, end)
        return end

    def _end_of_clitic(self, text, start, end):
        """Return the end of a word that begins with this apostrophe, if one does."""
        word = LETTERS.match(text, end)
        inside = start and text[start - 1].isalnum()
        if word and not inside and f"'{word[0].lower()}" in self.clitics:
            return word.end()
        return end

    def _is_acronym(self, text):
        """Return whether this is an acronym, not two sentences without a blank."""
        if text in self._known:
            return True
        parts = text[:-1].split(".")
        short = all(len(part) == 1 for part in parts)
        return self.acronyms and (short or text.isupper())

    def _abbreviated(self, text, start, end):
        """Return the end of a word, with the full stop if it is an abbreviation."""
        if text[end : end + 1] != ".":
            return end
        word = text[start : end + 1]
        initial = self.initials and end - start == 1 and text[start].isupper()
        known = word in self._known or word.lower() in self._known
        # At the end of a paragraph, the full stop is that of the sentence.
        follows = initial and LETTER_FOLLOWS.match(text, end + 1)
        return end + 1 if known or follows else end

    def _cut(self, text, start, end):
        """Yield a word, with contractions cut off."""
        word = text[start:end]
        if "'" in word or "’" in word:
            plain = word.replace("’", "'").lower()
            for part in self._beginnings:
                if plain.startswith(part) and len(part) < len(plain):
                    middle = start + len(part)
                    yield TextToken(text[start:middle], start, middle)
                    yield from self._cut(text, middle, end)
                    return
            for part in self._endings:
                if plain.endswith(part) and len(part) < len(plain):
                    middle = end - len(part)
                    yield from self._cut(text, start, middle)
                    yield TextToken(text[middle:end], middle, end)
                    return
        yield TextToken(word, start, end)

    def _ends(self, text, tokens, at, following):
        """Return whether a sentence ends after a token."""
        between = text[tokens[at].end : following.start]
        if "\n" in between and BLANK_LINE.search(between.replace("\r\n", "\n")):
            return True
        last = at
        # A closing quotation mark belongs to the sentence inside it.
        while last and tokens[last].word in CLOSING and _touches(tokens, last):
            last -= 1
        word = tokens[last].word
        full_width = word in ("。", "！", "？")
        if not (between or full_width) or (last < at and word not in ENDS):
            return False
        if following.word in CLOSING and not between:
            return False
        if word in ENDS:
            # "Why?" she asked.
            asked = word in "!?" and last == at
            return not following.word[0].islower() or asked or full_width
        # An abbreviation ends a sentence only if it is one of small letters.
        stopped = word.endswith(".") and word[0].islower()
        return stopped and following.word[0].isupper()

    def _written(self, text, sentence):
        """Return a sentence in the words of the corpus."""
        if not self.forms:
            return sentence
        return [
            token._replace(word=self._form(text, token))
            if token.word in self.forms or "'" in token.word or "’" in token.word
            else token
            for token in sentence
        ]

    def _form(self, text, token):
        form = self.forms.get(token.word)
        if form is None:
            for sign in APOSTROPHES:
                if sign in token.word and sign in self.forms:
                    return token.word.replace(sign, self.forms[sign])
            return token.word
        if form != "``''":
            return form
        # The character before a quotation mark shows whether it opens.
        before = text[token.start - 1 : token.start] if token.start else " "
        return "``" if before.isspace() or before in "([{-–—" else "''"


def _touches(tokens, at):
    return tokens[at - 1].end == tokens[at].start


def _without_punctuation(address):
    """Return an address without the punctuation after it."""
    while address[-1] in ".,;:!?…" or address[-1] in CLOSING:
        if address[-1] == ")" and address.count("(") >= address.count(")"):
            break
        address = address[:-1]
    return address


def _texts(name, given):
    texts = () if isinstance(given, str) else tuple(given)
    if isinstance(given, str) or not all(isinstance(t, str) and t for t in texts):
        raise TypeError(f"{name} must be a list of texts, got {given!r}")
    return tuple(sorted(set(texts)))


def saved_tokenizer(state):
    """Return the tokenizer that the state of a saved pipeline describes.

    Parameters
    ----------
    state : dict
        The state; without settings of a tokenizer those of the class count.

    Returns
    -------
    tokenizer : Tokenizer
        The tokenizer.
    """
    return Tokenizer(**saved_kind(state.get("tokenizer", {}), "tokenizer", dict))


def places_of(text, tokenizer=None):
    """Return where the tokens of a text begin and end.

    Parameters
    ----------
    text : str
        The text.
    tokenizer : Tokenizer, default=None
        The tokenizer; the default one if None.

    Returns
    -------
    places : list of (int, int)
        Two positions for each token.
    """
    rows = (tokenizer or Tokenizer()).split(text)
    return [(token.start, token.end) for row in rows for token in row]
