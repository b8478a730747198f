"""A text with its entities marked, as HTML that stands by itself."""

from html import escape
from itertools import repeat
from typing import NamedTuple
from zlib import crc32

# Translucent, so that they suit a light and a dark page.
BLOCK = "white-space:pre-wrap;line-height:2;max-width:60em"
MARKED = (
    "background:hsla({hue},75%,50%,{alpha:.2f});border-bottom:2px solid "
    "hsl({hue},75%,50%);border-radius:4px;padding:1px 4px;color:inherit"
)
UNSURE = "background:hsla(0,85%,50%,{alpha:.2f});border-radius:4px"
TAG = "opacity:.75;margin-left:4px"
# A word that is surer than this is not shaded.
SURE = 0.95
# How many sentences a page of a notebook shows.
SHOWN = 50


class Mark(NamedTuple):
    """A part of a text with a label, or a word without one.

    Parameters
    ----------
    start, end : int
        Its first character, and one past its last.
    label : str or None
        Its label.
    confidence : float
        The confidence in it.

    Examples
    --------
    >>> from skcw._util.marked_text import Mark
    >>> Mark(0, 3, "PER", 0.9).label
    'PER'
    """

    start: int
    end: int
    label: str | None
    confidence: float


def marked_html(text, marks, more=""):
    """Return a text as HTML: labels highlighted, and shaded by their confidence.

    Parameters
    ----------
    text : str
        The text.
    marks : iterable of Mark
        Its labeled parts, which do not overlap, and its words without labels.
    more : str, default=""
        What follows the text, such as what was left out.

    Returns
    -------
    html : str
        One element with its own style.

    Examples
    --------
    >>> from skcw._util.marked_text import Mark, marked_html
    >>> html = marked_html("Ann < Bob", [Mark(0, 3, "PER", 0.9)])
    >>> "PER 0.90</small></mark> &lt; Bob</div>" in html
    True
    """
    parts, at = [], 0
    for mark in sorted(marks):
        parts += [escape(text[at : mark.start]), _marked(text, mark)]
        at = mark.end
    parts += [escape(text[at:]), escape(more)]
    return f'<div style="{BLOCK}">{"".join(parts)}</div>'


def _marked(text, mark):
    sure = min(max(mark.confidence, 0.0), 1.0)
    inside = escape(text[mark.start : mark.end])
    if mark.label is None:
        if sure >= SURE:
            return inside
        style = UNSURE.format(alpha=0.5 * (1 - sure))
        return f'<span title="{sure:.2f}" style="{style}">{inside}</span>'
    # The same color for a label on every page.
    hue = crc32(mark.label.encode("utf-8", "surrogatepass")) % 360
    style = MARKED.format(hue=hue, alpha=0.1 + 0.4 * sure)
    tag = f'<small style="{TAG}">{escape(mark.label)} {sure:.2f}</small>'
    return f'<mark style="{style}">{inside}{tag}</mark>'


def sentences_html(text, places, answers, has_spans):
    """Return the first sentences of a text as HTML, with what is predicted for them.

    Parameters
    ----------
    text : str
        The text of these sentences.
    places : list of list of (int, int)
        Where each of their tokens begins and ends in it.
    answers : Predictions
        Those for all sentences.
    has_spans : bool
        Whether labels stand for entities; others are of single tokens.

    Returns
    -------
    html : str
        One element with its own style.
    """
    entities = answers.entities() if has_spans else repeat(())
    rows = zip(places, answers.labels(), answers.confidence(), entities, strict=False)
    marks = [mark for row in rows for mark in _sentence_marks(*row)]
    left_out = len(answers) - len(places)
    more = f"\n… and {left_out} more sentences" if left_out else ""
    return marked_html(text, marks, more)


def _sentence_marks(places, labels, confidence, entities):
    inside = set()
    for label, start, end, sure in entities:
        inside.update(range(start, end))
        yield Mark(places[start][0], places[end - 1][1], label, sure)
    for t, (start, end) in enumerate(places):
        if t not in inside:
            label = None if labels[t] == "O" else labels[t]
            yield Mark(start, end, label, float(confidence[t]))


def joined_words(rows):
    """Return a text of sentences, one in a line, and the places of their words.

    Parameters
    ----------
    rows : iterable of list of str
        The words of each sentence.

    Returns
    -------
    text : str
        The text.
    places : list of list of (int, int)
        Where each word begins and ends in it.
    """
    lines, places, at = [], [], 0
    for words in rows:
        places.append([])
        for word in words:
            places[-1].append((at, at + len(word)))
            at += len(word) + 1
        # A sentence without words has a line, too.
        at += not words
        lines.append(" ".join(words))
    return "\n".join(lines), places
