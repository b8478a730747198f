"""Templates of global features: whole entities, their borders, and quotations."""

from itertools import pairwise

from skcw.data._schemes import extract_spans
from skcw.reranking._words import NULL, shape_of

# The templates of the paper, and those that we add to them.
PAPER_TEMPLATES = ("entities", "quotations")
TEMPLATES = (*PAPER_TEMPLATES, "types")

QUOTES = frozenset(['"', "``", "''", "“", "”", "„", "«", "»"])
# Longer quotations make no Q features: their strings would hardly come twice.
LONGEST_QUOTATION = 10
# How many letters of a word, and how many words around an entity, tell its type.
LETTERS, AROUND = (2, 3, 4), (1, 2, 3)
MOST_WORDS = 5


class SentenceView:
    """One sentence as the templates see it; NULL stands outside of it.

    Parameters
    ----------
    words : sequence of str
        The words.
    lexicon : set of str
        Words that are mostly written with a small letter.

    Attributes
    ----------
    word, shape, flagged : list of str
        w, f and g of the paper for positions from -2 to n + 1, shifted by 2.
    """

    def __init__(self, words, lexicon):
        pad = [NULL, NULL]
        shapes = [shape_of(word) for word in words]
        flags = [
            f"{shape}{int(word.lower() in lexicon)}"
            for word, shape in zip(words, shapes, strict=True)
        ]
        self.words = words
        self.word = [*pad, *words, *pad]
        self.shape = [*pad, *shapes, *pad]
        self.flagged = [*pad, *flags, *pad]

    def bigrams(self, name, first):
        """Return two words from a position on, each as itself or by its shape."""
        a, b = self.word[first + 2 : first + 4]
        c, d = self.flagged[first + 2 : first + 4]
        return [
            f"{name}00={a} {b}",
            f"{name}01={a} {d}",
            f"{name}10={c} {b}",
            f"{name}11={c} {d}",
        ]

    def trigrams(self, name, first):
        """Return three words from a position on, each as itself or by its shape."""
        a, b, c = self.word[first + 2 : first + 5]
        d, e, f = self.flagged[first + 2 : first + 5]
        return [
            f"{name}000={a} {b} {c}",
            f"{name}001={a} {b} {f}",
            f"{name}010={a} {e} {c}",
            f"{name}011={a} {e} {f}",
            f"{name}100={d} {b} {c}",
            f"{name}101={d} {b} {f}",
            f"{name}110={d} {e} {c}",
            f"{name}111={d} {e} {f}",
        ]


def entity_strings(view, start, stop):
    """Return the features anchored on an entity; Collins (2002), figure 1.

    Parameters
    ----------
    view : SentenceView
        The sentence.
    start, stop : int
        Where the entity begins, and one past its last word.

    Returns
    -------
    features : list of str
        The features.
    """
    last = stop - 1
    words = view.words[start:stop]
    shapes, flagged = (
        view.shape[start + 2 : stop + 2],
        view.flagged[start + 2 : stop + 2],
    )
    found = [
        f"WE={' '.join(words)}",
        f"FF={' '.join(shapes)}",
        f"GF={' '.join(flagged)}",
        f"LW={words[-1]}",
        f"LWLC={int(words[-1][:1].islower())}",
        *view.bigrams("BO", start - 1),
        *view.bigrams("BE", last),
        *view.trigrams("TO", start - 2),
        *view.trigrams("TO2", start - 1),
        *view.trigrams("TE", last - 1),
        *view.trigrams("TE2", last - 2),
    ]
    for name, parts in (("", shapes), ("2", flagged)):
        back = parts[::-1]
        for n in range(1, len(parts) + 1):
            found.append(f"PF{name}={' '.join(parts[:n])}")
            found.append(f"SF{name}={' '.join(back[:n])}")
    return found


def type_strings(words, start, stop):
    """Return features that tell the type of an entity.

    Those of the paper see its borders. These see its first word and each of its words,
    beginnings and ends of the first and the last one, words around it at their distance
    and at any, and how many words it has.

    Parameters
    ----------
    words : sequence of str
        The sentence.
    start, stop : int
        Where the entity begins, and one past its last word.

    Returns
    -------
    features : list of str
        The features.
    """
    found = [f"FW={words[start]}", f"N={min(stop - start, MOST_WORDS)}"]
    found += [f"IW={word}" for word in words[start:stop]]
    for name, word in (("F", words[start].lower()), ("L", words[stop - 1].lower())):
        for n in LETTERS:
            found += [f"{name}P{n}={word[:n]}", f"{name}S{n}={word[-n:]}"]
    for distance in AROUND:
        if start >= distance:
            before = words[start - distance].lower()
            found += [f"B{distance}={before}", f"B={before}"]
        if stop - 1 + distance < len(words):
            after = words[stop - 1 + distance].lower()
            found += [f"A{distance}={after}", f"A={after}"]
    return found


def neighbour_strings(spans):
    """Return the types of entities that follow each other."""
    return [f"TT={one.label} {other.label}" for one, other in pairwise(spans)]


def quotations(words):
    """Return (opening, closing) positions of the quotation marks that match."""
    marks = [t for t, word in enumerate(words) if word in QUOTES]
    return list(zip(marks[::2], marks[1::2], strict=False))


def quotation_strings(view, labels, spans):
    """Return the features anchored on quotations; Collins (2002), section 3.2.

    Parameters
    ----------
    view : SentenceView
        The sentence.
    labels : sequence of str
        The labels of a candidate.
    spans : list of Span
        Its entities.

    Returns
    -------
    features : list of str
        The features.
    """
    found, whole = [], {(span.start, span.end): span.label for span in spans}
    for start, end in quotations(view.words):
        if end - start <= LONGEST_QUOTATION:
            found.append(f"Q={_tagged(view, labels, start, end)}")
            found.append(f"Q2={_tagged(view, labels, start - 1, end + 1)}")
        inside = view.words[start + 1 : end]
        telling = [t for t, word in enumerate(inside) if word[:1].isalnum()]
        # The last word that begins with a letter or a digit ends the name.
        last = start + 1 + telling[-1] if telling else None
        one = whole.get((start + 1, -1 if last is None else last + 1), 0)
        upper = sum(word[:1].isupper() for word in inside)
        lower = sum(word[:1].islower() for word in inside)
        ends = [
            view.flagged[start + 3],
            NULL if last is None else view.flagged[last + 2],
        ]
        found.append(f"QF={one} {upper} {lower} {' '.join(ends)}")
        found.append(f"QF2={one} {int(upper >= lower)} {' '.join(ends)}")
    return found


def _tagged(view, labels, first, last):
    """Return flagged shapes and labels of the positions from first to last."""
    padded = [NULL, *labels, NULL]
    return " ".join(
        f"{view.flagged[t + 2]} {padded[t + 1]}" for t in range(first, last + 1)
    )


class SentenceReader:
    """The features of the candidates of one sentence, each part made once.

    Parameters
    ----------
    place : int
        The number of the sentence, for messages.
    tokens : sequence
        Its tokens, for functions.
    view : SentenceView
        Its words.
    templates : sequence of str
        Names of templates.
    functions : sequence of callables
        Functions of tokens and labels.
    number : callable
        Gives the number of a feature, or -1 where it has none.
    """

    def __init__(self, place, tokens, view, templates, functions, number):
        self.place, self.tokens, self.view = place, tokens, view
        self.functions, self.number = functions, number
        self.has_entities = "entities" in templates
        self.has_types = "types" in templates
        self.has_quotations = "quotations" in templates and bool(quotations(view.words))
        self._of_entity = {}

    def features_of(self, labels):
        """Return the numbers of the features of a labeling, in growing order."""
        found = set()
        if self.has_entities or self.has_types or self.has_quotations:
            spans = extract_spans(labels)
            for span in spans:
                found.update(self._entity(span))
            if self.has_types:
                found.update(map(self.number, neighbour_strings(spans)))
            if self.has_quotations:
                names = quotation_strings(self.view, labels, spans)
                found.update(map(self.number, names))
        for function in self.functions:
            found.update(map(self.number, self._ask(function, labels)))
        found.discard(-1)
        return sorted(found)

    def _entity(self, span):
        known = self._of_entity.get(span)
        if known is None:
            names = []
            if self.has_entities:
                names += entity_strings(self.view, span.start, span.end)
            if self.has_types:
                names += type_strings(self.view.words, span.start, span.end)
            known = {self.number(f"{span.label} {name}") for name in names}
            self._of_entity[span] = known
        return known

    def _ask(self, function, labels):
        """Return the strings of a function of the user."""
        called = getattr(function, "__name__", repr(function))
        try:
            names = function(self.tokens, list(labels))
            names = [] if names is None else names
            names = [names] if isinstance(names, str) else list(names)
        except Exception as error:
            raise ValueError(
                f"the feature function {called} failed on sentence {self.place} with "
                f"the labels {list(labels)}: {error!r}"
            ) from error
        strange = [name for name in names if not isinstance(name, str)]
        if strange:
            raise TypeError(
                f"the feature function {called} returned {strange[0]!r} for sentence "
                f"{self.place}; features are strings"
            )
        return names
