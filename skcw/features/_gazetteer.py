"""Gazetteers: lists of names of several words, found in sentences."""

import re

# Some words of column files hold no-break spaces, which separate nothing.
BLANKS = re.compile(r"[ \t\r\n]+")

FIRST, FURTHER, OUTSIDE = "B", "I", ""


def words_of(entry):
    """Return the words of an entry of a lexicon.

    Parameters
    ----------
    entry : str
        Words with blanks between them.

    Returns
    -------
    words : list of str
        The words; none for an entry that is blank.

    Examples
    --------
    >>> from skcw.features._gazetteer import words_of
    >>> words_of("Rio de  Janeiro")
    ['Rio', 'de', 'Janeiro']
    """
    return [word for word in BLANKS.split(entry) if word]


def is_of_several_words(lexicon):
    """Tell whether some entry of a lexicon has more than one word."""
    return any(BLANKS.search(entry) for entry in lexicon)


class Gazetteer:
    """Finds the entries of a list in sentences, from left to right, the longest first.

    Parameters
    ----------
    entries : collection of str
        Names, each a word or several with blanks between them.

    Examples
    --------
    >>> from skcw.features._gazetteer import Gazetteer
    >>> towns = Gazetteer(["New York", "New York City", "York"])
    >>> towns.marks(["from", "New", "York", "City", "to", "York"])
    ['', 'B', 'I', 'I', '', 'B']
    """

    def __init__(self, entries):
        # The entries by their first word, the longest first.
        self._begun = {}
        for entry in entries:
            first, *others = words_of(entry)
            self._begun.setdefault(first, set()).add(tuple(others))
        for first, rests in self._begun.items():
            self._begun[first] = sorted(rests, key=len, reverse=True)

    def marks(self, words):
        """Return where entries stand in a sentence.

        Parameters
        ----------
        words : list of str
            The sentence.

        Returns
        -------
        marks : list of str
            ``"B"`` at the first word of an entry, ``"I"`` at its other words, and an
            empty text elsewhere.
        """
        marks, at = [OUTSIDE] * len(words), 0
        while at < len(words):
            length = self._longest(words, at)
            if length:
                marks[at] = FIRST
                marks[at + 1 : at + length] = [FURTHER] * (length - 1)
            at += max(length, 1)
        return marks

    def _longest(self, words, at):
        """Return the length of the longest entry that begins here; 0 if none does."""
        for rest in self._begun.get(words[at], ()):
            if tuple(words[at + 1 : at + 1 + len(rest)]) == rest:
                return 1 + len(rest)
        return 0
