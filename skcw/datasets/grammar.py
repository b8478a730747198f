"""A small grammar of news sentences whose slots are filled with names.

A rule is a weight and a list of parts. A part is ``word/TAG`` (taken as it is), a
symbol of the grammar, a symbol of the lexicon, or a slot: ``@kind`` is a name of that
kind and ``#kind`` a number. A symbol that starts with an entity type and a colon
labels all words below it as one mention of that type.
"""

import math

from skcw.datasets.lexicon import WORDS, chance, pick

RULES = {
    "SENTENCE": """
        9 CLAUSE ./.
        3 CLAUSE CONJ CLAUSE ./.
        2 CLAUSE ,/, SOURCE ./.
        2 OPENING ,/, CLAUSE ./.
        1 PLACE-PHRASE ,/, CLAUSE ./.
        1 TIME-PHRASE ,/, CLAUSE ./.
        2 ``/`` CLAUSE ,/, ''/'' SPEAKER SAID ./.
        3 REPORT ./.
        2 GAME ./.
        2 MARKET ./.
        1 LIFE ./.
        1 SINCE CLAUSE ,/, CLAUSE ./.
        2 HEADLINE
        2 ROW
    """,
    "CLAUSE": """
        6 SUBJECT VERB-PHRASE
        3 ACTOR VERB-PHRASE
        3 SPEAKER VERB-PHRASE
        3 SPEAKER SAID that/IN SUBJECT VERB-PHRASE
        2 SPEAKER SAYS SPEAKER MODAL DO OBJECT
        1 SUBJECT VERB-PHRASE TIME-PHRASE
        1 there/EX was/VBD DET NOUN PLACE-PHRASE
    """,
    "VERB-PHRASE": """
        5 DID OBJECT
        3 DID OBJECT PLACE-PHRASE
        3 MODAL DO OBJECT
        2 WENT PLACE-PHRASE
        2 WENT WITH ACTOR
        2 WENT WITH SPEAKER TIME-PHRASE
        2 was/VBD DONE PLACE-PHRASE
        1 was/VBD DONE by/IN ACTOR TIME-PHRASE
        1 had/VBD ADV DONE OBJECT
        1 is/VBZ ADJ ABOUT OBJECT
    """,
    "SUBJECT": """
        3 DET NOUN
        2 DET ADJ NOUN
        2 NOUNS
        2 ADJ NOUNS
        3 PRONOUN
        1 DET MISC:NATION THING
        1 DET NOUN of/IN ACTOR
        1 NUMBER NOUNS
    """,
    "OBJECT": """
        4 DET NOUN
        2 DET ADJ NOUN
        2 POSSESSIVE NOUN
        2 NOUNS
        2 ACTOR
        2 SPEAKER
        1 DET NOUN ABOUT ACTOR
        2 DET NOUN TIME-PHRASE
        1 DET MISC:NATION NOUN
        1 the/DT MISC:EVENT
        1 MISC:NATION NOUNS
        1 NUMBER UNIT
        1 ACTOR 's/POS NOUN
        1 SPEAKER 's/POS ADJ NOUN
    """,
    "SPEAKER": """
        5 PER:PERSON
        2 TITLE PER:SURNAME
        1 THING ROLE PER:PERSON
        2 PER:PERSON ,/, the/DT ROLE of/IN ORG:BODY-NAME ,/,
        1 PER:PERSON of/IN LOC:PLACE
        1 ROLE PER:PERSON
        1 the/DT MISC:NATION ROLE PER:PERSON
        1 PER:PERSON (/-LRB- MISC:NATION )/-RRB-
    """,
    "ACTOR": """
        3 ORG:COMPANY
        2 ORG:BODY-NAME
        2 LOC:PLACE
        2 PER:SURNAME
        1 ORG:TEAM
        1 DET LOC:PLACE THING
        1 DET ORG:COMPANY THING
        1 ORG:COMPANY and/CC ORG:COMPANY
        1 PER:SURNAME and/CC PER:SURNAME
        1 LOC:PLACE ,/, LOC:PLACE and/CC LOC:PLACE
    """,
    "SOURCE": """
        3 SPEAKER SAID
        2 according/VBG to/TO ACTOR
        1 ORG:COMPANY SAID
        1 SAID SPEAKER TIME-PHRASE
        1 a/DT ROLE for/IN ACTOR SAID
    """,
    "PLACE-PHRASE": """
        6 NEAR LOC:PLACE
        2 NEAR DET THING
        1 NEAR DET THING of/IN LOC:PLACE
        1 NEAR LOC:PLACE 's/POS ADJ THING
        1 NEAR LOC:PLACE ,/, LOC:PLACE ,/,
        1 at/IN the/DT MISC:EVENT
        1 at/IN ORG:COMPANY
    """,
    "TIME-PHRASE": """
        3 on/IN DATE:DAY
        2 in/IN DATE:PERIOD
        1 last/JJ DATE:WEEKDAY-NAME
        1 since/IN DATE:PERIOD
        1 ADV
        1 this/DT NOUN
    """,
    "REPORT": """
        2 SPEAKER ,/, #age ,/, was/VBD DONE ROLE of/IN ACTOR TIME-PHRASE
        2 ACTOR DID ACTOR TIME-PHRASE ,/, SPEAKER SAID
        1 POSSESSIVE ROLE ,/, SPEAKER ,/, WENT NEAR LOC:PLACE
        1 DET NOUN between/IN ACTOR and/CC ACTOR ROSE TIME-PHRASE
        1 PRONOUN SAID DET MISC:NATION NOUN MODAL DO ACTOR
    """,
    "GAME": """
        3 ORG:TEAM BEAT ORG:TEAM SCORE PLACE-PHRASE
        2 ORG:TEAM BEAT ORG:TEAM SCORE TIME-PHRASE
        1 PER:SURNAME BEAT PER:SURNAME SCORE PLACE-PHRASE
        1 ORG:TEAM ROLE PER:PERSON DID DET ORDINAL NOUN of/IN DET NOUN
        1 PER:SURNAME ,/, PLAYER ,/, DID the/DT MISC:EVENT
    """,
    "PLAYER": """
        1 the/DT MISC:NATION ROLE
        1 the/DT ORG:TEAM ROLE
        1 a/DT ADJ ROLE
    """,
    "MARKET": """
        2 shares/NNS of/IN ORG:COMPANY ROSE NUMBER UNIT PLACE-PHRASE
        2 ORG:COMPANY ROSE NUMBER percent/NN TIME-PHRASE
        1 ORG:COMPANY DID ORG:COMPANY for/IN NUMBER UNIT
        1 MISC:NATION NOUNS ROSE TIME-PHRASE
        1 NOUNS ROSE NUMBER percent/NN NEAR LOC:PLACE
    """,
    "LIFE": """
        2 PER:PERSON was/VBD born/VBN NEAR LOC:PLACE in/IN DATE:PERIOD
        1 PRONOUN WENT NEAR LOC:PLACE from/IN DATE:PERIOD to/TO DATE:PERIOD
        1 ORG:COMPANY was/VBD DONE by/IN PER:PERSON and/CC PER:PERSON
        1 PRONOUN SAYS MISC:NATION and/CC MISC:NATION
    """,
    "HEADLINE": """
        2 ACTOR DID OBJECT
        1 SPEAKER MODAL DO OBJECT
        2 LOC:PLACE DATE:STAMP
        1 MISC:NATION NOUN -/: ACTOR DID NOUNS
        1 GAME
    """,
    "ROW": """
        3 ORG:TEAM #small ORG:TEAM #small
        2 #small ./. PER:PERSON (/-LRB- LOC:PLACE )/-RRB- #decimal
        1 PER:SURNAME ,/, PER:SURNAME and/CC PER:SURNAME
        1 LOC:PLACE :/: ADJ ,/, #small UNIT
        1 ORG:COMPANY #decimal #decimal
        1 LOC:PLACE
        1 PER:PERSON
        1 no/RB ./.
        1 NOUN
    """,
    "SCORE": "2 #small -/: #small\n1 by/IN NUMBER UNIT\n1 CONJ DID DET NOUN",
    "NUMBER": "2 #small\n2 #decimal\n1 #year\n1 #large",
    "PERSON": """
        5 @first @last
        2 @last
        1 @first
        1 @initial @last
        1 @first @initial @last
    """,
    "SURNAME": "6 @last\n1 @first @last",
    "PLACE": """
        9 @place
        1 BEFORE_PLACE @place
        1 @place TERRAIN
        1 BEFORE_PLACE @last
        1 @last TERRAIN
    """,
    "COMPANY": """
        4 @firm
        2 @firm FIRM
        1 @last FIRM
        1 @last and/CC @last
        1 @place FIRM
        2 @acronym
        1 @last &/CC Sons/NNPS
    """,
    "BODY-NAME": """
        2 BODY of/IN FIELD
        1 @place BODY
        1 BODY of/IN @place
        1 FIELD BODY
        1 @acronym
        1 University/NNP of/IN @place
        1 @last BODY
    """,
    "TEAM": "4 @place\n2 @place CLUB\n1 @acronym @place\n1 @firm",
    "NATION": "1 @nation",
    "EVENT": """
        2 @place CONTEST
        1 @last CONTEST
        1 #year @place CONTEST
        1 @nation CONTEST
        1 @firm CONTEST
    """,
    "DAY": "3 WEEKDAY\n2 #day MONTH\n1 MONTH #day\n1 #day MONTH #year\n1 MONTH",
    "WEEKDAY-NAME": "1 WEEKDAY",
    "PERIOD": "3 #year\n2 MONTH\n2 MONTH #year",
    "STAMP": "1 #stamp",
}


def _read_rules(text):
    """Return the expansions of one symbol, each as often as its weight says."""
    expansions = []
    for line in text.strip().splitlines():
        weight, *parts = line.split()
        expansions.extend([parts] * int(weight))
    return expansions


EXPANSIONS = {symbol: _read_rules(text) for symbol, text in RULES.items()}


class Writer:
    """Writes one sentence after another as (word, tag, label) triples."""

    def __init__(self, rng, names):
        self.rng = rng
        self.names = names

    def sentence(self, max_length):
        """Return a sentence of at most `max_length` words."""
        while True:
            words = _tidy(self._expand("SENTENCE", None))
            if len(words) <= max_length:
                return words

    def _expand(self, symbol, entity):
        words = []
        for part in pick(self.rng, EXPANSIONS[symbol]):
            words.extend(self._part(part, entity))
        return words

    def _part(self, part, entity):
        if "/" in part:
            word, _, tag = part.rpartition("/")
            return [(word, tag, entity)]
        kind, colon, symbol = part.rpartition(":")
        if colon:
            return _as_mention(self._expand(symbol, kind), kind)
        if part[0] in "@#":
            return [(*self._slot(part), entity)]
        if part in WORDS:
            tag, words = WORDS[part]
            return [(pick(self.rng, words), tag, entity)]
        return self._expand(part, entity)

    def _slot(self, part):
        """Return the word and the tag that fill a slot."""
        if part[0] == "#":
            return self._number(part[1:]), "CD"
        if part == "@initial":
            return pick(self.rng, "ABCDEFGHJKLMNPRSTVW") + ".", "NNP"
        if part == "@acronym":
            return self._acronym(), "NNP"
        if part == "@nation":
            place = self.names.draw("place").rstrip("aeiou")
            return place + pick(self.rng, ["ian", "ese", "ish", "an", "i"]), "JJ"
        return self.names.draw(part[1:]), "NNP"

    def _acronym(self):
        name = self.names.draw("firm").upper()
        return "".join(name[i] for i in (0, len(name) // 2, -1))

    def _number(self, kind):
        draw = self.rng.random_sample
        if kind == "year":
            return str(1900 + int(110 * math.sqrt(draw())))
        if kind == "decimal":
            return f"{int(100 * draw())}.{int(10 * draw())}"
        if kind == "large":
            return f"{1 + int(99 * draw())},{int(1000 * draw()):03d}"
        if kind == "stamp":
            month, day = 1 + int(12 * draw()), 1 + int(28 * draw())
            return f"{1990 + int(20 * draw())}-{month:02d}-{day:02d}"
        top = {"day": 31, "age": 90, "small": 12}[kind]
        return str(1 + int(top * draw()))


def _tidy(words):
    """Leave out a comma that another mark follows, as "Ann, the coach," gives it."""
    following = [*words[1:], ("", "", None)]
    return [
        word
        for word, after in zip(words, following, strict=True)
        if not (word[1] == "," and after[1] in {",", ".", ""})
    ]


def _as_mention(words, kind):
    """Label words as one mention: ``B-`` on the first one, ``I-`` on the others."""
    return [
        (word, tag, f"{'I' if position else 'B'}-{kind}")
        for position, (word, tag, _) in enumerate(words)
    ]


def print_style(rng, words, capitals_rate=0.06):
    """Capitalize the first word; print a few sentences in capitals throughout."""
    if chance(rng, capitals_rate):
        return [(word.upper(), tag, label) for word, tag, label in words]
    for position, (word, tag, label) in enumerate(words):
        if word[0].isalpha():
            first = (word[0].upper() + word[1:], tag, label)
            return [*words[:position], first, *words[position + 1 :]]
    return words
