"""Made-up words, and the lists that they are made from."""

import re
from functools import cache
from numbers import Integral, Real

import numpy as np


def _words(text):
    return tuple(text.split())


# Symbol of the grammar: its part of speech, then the words that it may become.
_LEXICON = """
NOUN NN: agreement anchor budget campaign case contract crisis decision deal
    election film forest fund game grant harbour hope hospital inquiry letter match
    measure meeting merger minister mission novel offer orchard plan plant police
    press project proposal protest reed report result rose season stone strike
    summit talk team treaty trial victory vote winter
NOUNS NNS: analysts banks critics delegates doctors farmers fans figures goals jobs
    judges lawyers losses miners officials parents plans points police prices
    profits reporters sales shares soldiers students talks voters workers
ROLE NN: actor adviser captain chairman coach chief director economist editor
    founder goalkeeper governor judge lawyer mayor minister president professor
    secretary singer spokesman striker winger writer
THING NN: airport base border bridge bureau capital church city club coast company
    court district factory firm government group hotel market museum office paper
    party port prison region school side stadium store team town union village
ADJ JJ: angry big bitter brief central close common early final foreign former free
    further general good grand great heavy joint late local long main major national
    new northern old open public quiet recent royal senior sharp slow southern
    strong sudden unusual weak young
ADV RB: again already also clearly finally later nearly now often only quickly
    quietly recently still then together twice
SAID VBD: added admitted announced argued claimed confirmed declared denied
    explained insisted promised replied said said said suggested told warned wrote
SAYS VBZ: argues believes expects fears hopes knows says thinks wants
DID VBD: accepted attacked backed bought built changed closed criticized delayed
    ended faced found held joined kept left lost opened paid planned rejected
    reported saved signed sold started supported visited welcomed won
BEAT VBD: beat crushed defeated edged hosted stunned thrashed visited
WENT VBD: arrived came died lived met played returned stayed worked
DONE VBN: approved arrested asked born bought closed expected founded held killed
    made named opened planned sold struck won
DO VB: accept buy cancel change close face help join leave open play raise reject
    sell sign start support visit win
ROSE VBD: climbed closed dropped fell gained jumped lost rose slipped
MODAL MD: can could may might must should will would
DET DT: a a any each every no that the the the the this
POSSESSIVE PRP$: her his its my our their
PRONOUN PRP: he he I it she she they they we you
ABOUT IN: about after against before despite during for over since with
NEAR IN: at from in in in in near through
WITH IN: against by for from to with
CONJ CC: and and but or
SINCE IN: although as because if while
OPENING RB: However Meanwhile Nevertheless Still Today Yesterday
TITLE NNP: Captain Doctor Dr. General Judge Lady Miss Mr. Mr. Mr. Mrs. Mrs.
    President Prince Professor Senator Sir
ORDINAL JJ: eighth fifth first fourth second sixth third
UNIT NNS: crowns deaths degrees dollars jobs kilometres metres minutes people points
    shares tonnes votes years
WEEKDAY NNP: Monday Tuesday Wednesday Thursday Friday Saturday Sunday
MONTH NNP: January February March April May June July August September October
    November December
FIELD NNP: Agriculture Art Commerce Education Finance Health Justice Labour Music
    Science Trade Transport
BODY NNP: Academy Agency Association Bank Board Commission Committee Council Court
    Federation Foundation Institute League Library Ministry Museum Party Union
FIRM NNP: Airlines Bank Brothers Corp. Electric Group Holdings Inc. Industries
    Insurance Ltd. Motors Partners Press Steel Systems
CLUB NNP: Athletic City Rovers Sporting United Wanderers
TERRAIN NNP: Bay Beach Bridge Falls Hills Island Park Square Street Valley
BEFORE_PLACE NNP: Cape East Fort Lake Mount New North Port River South West
CONTEST NNP: Classic Cup Festival Games Marathon Open Prize Trophy
"""


def _read_lexicon(text):
    """Return a tuple (part of speech, words) for every symbol."""
    entries = {}
    for line in text.replace("\n    ", " ").strip().splitlines():
        head, words = line.split(": ")
        symbol, tag = head.split()
        entries[symbol] = (tag, _words(words))
    return entries


WORDS = _read_lexicon(_LEXICON)

# Common words that also serve as names: their other use is in the lexicon above.
WORD_NAMES = _words(
    "Anchor April August Forest Grant Hope June May Mission Orchard Press Reed Rose "
    "Stone Summit Winter Young Long Sharp Victory"
)

ONSETS = _words(
    "b br c ch d dr f fl g gr h j k kl l m n p pl r s sh sk st t th tr v w y z"
)
VOWELS = _words("a a a e e e i i o o u ai au ea ei ie oa ou")
CODAS = _words("b ck d l ll m n n nd ng r r rn rt s ss t v x")

# Endings that speak for one kind of name, and those that every kind may have.
ENDINGS = {
    "first": _words("a a e elle ette ia ico ina io ius o olf us y"),
    "last": _words("aux berg escu ez ic ini kov man ov sen son ski wood"),
    "place": _words("bad borough bury dam furt grad ham ia mouth polis stad ville"),
    "firm": _words("co dyne ex gen ix lux max net tec tel tron ware"),
}
SHARED_ENDINGS = _words("a an ar berg el en er es ey ford in is ley on or ton")

# How many names of a kind are well known, that is, return in every corpus.
KNOWN = {"first": 120, "last": 400, "place": 250, "firm": 150}
N_SHARED = 120
# Share of names whose ending speaks for their kind.
TELLING_RATE = {"known": 0.6, "new": 0.25}
WORD_NAME_RATE = 0.2
_TRIPLE = re.compile(r"(.)\1\1")


def check_count(name, count):
    """Raise unless `count` is an integer and not negative."""
    if not isinstance(count, Integral) or count < 0:
        raise ValueError(f"{name} must be a non-negative integer, got {count!r}")


def check_rates(**rates):
    """Raise unless every rate is a number from zero to one."""
    for name, rate in rates.items():
        if not isinstance(rate, Real) or not 0 <= rate <= 1:
            raise ValueError(f"{name} must be a number in [0, 1], got {rate!r}")


def pick(rng, items, *, skewed=False):
    """Return one of `items`; if `skewed`, the first ones come oftener.

    Only ``random_sample`` and exact arithmetic are used: their results are the same
    on every platform, whereas integer types and ``pow`` differ.
    """
    u = rng.random_sample()
    return items[int(len(items) * (u * u if skewed else u))]


def chance(rng, probability):
    """Return True with the given probability."""
    return rng.random_sample() < probability


def invent(rng, kind, telling_rate):
    """Return a name of a kind; its ending hints at the kind or does not."""
    parts = [pick(rng, ONSETS), pick(rng, VOWELS), pick(rng, CODAS)]
    if chance(rng, 0.35):
        parts[2:] = [pick(rng, ONSETS), pick(rng, VOWELS), pick(rng, CODAS)]
    telling = chance(rng, telling_rate)
    parts.append(pick(rng, ENDINGS[kind] if telling else SHARED_ENDINGS))
    return _TRIPLE.sub(r"\1\1", "".join(parts)).capitalize()


@cache
def known_names():
    """Return the well-known names of every kind, and those of several kinds.

    They depend on nothing, so that corpora of different seeds speak of one world.
    """
    rng = np.random.RandomState(20100)
    telling = TELLING_RATE["known"]
    names = {
        kind: [invent(rng, kind, telling) for _ in range(count)]
        for kind, count in KNOWN.items()
    }
    kinds = list(KNOWN)
    names["shared"] = [invent(rng, pick(rng, kinds), telling) for _ in range(N_SHARED)]
    return names


class NameSource:
    """A stream of names for one corpus.

    Parameters
    ----------
    rng : RandomState
    ambiguity : float
        Probability that a name is one of several kinds, or a common word.
    unseen_rate : float
        Probability that another name is invented on the spot.
    """

    def __init__(self, rng, ambiguity, unseen_rate):
        self.rng = rng
        self.ambiguity = ambiguity
        self.unseen_rate = unseen_rate

    def draw(self, kind):
        """Return a name of the given kind."""
        if chance(self.rng, self.ambiguity):
            if chance(self.rng, WORD_NAME_RATE):
                return pick(self.rng, WORD_NAMES)
            return pick(self.rng, known_names()["shared"], skewed=True)
        if chance(self.rng, self.unseen_rate):
            return invent(self.rng, kind, TELLING_RATE["new"])
        return pick(self.rng, known_names()[kind], skewed=True)
