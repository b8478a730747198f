"""Ready sets of features, chosen by measurement."""

WORDS = [
    "bias",
    "word[-2..2]",
    "bigram(word)[-1..0]",
]

AFFIXES = ["prefix(1..4)", "suffix(1..4)"]

# Sha and Pereira (2003) without the labels' own conjunctions.
CHUNKING = [
    *WORDS,
    "pos[-2..2]",
    "bigram(pos)[-2..1]",
    "trigram(pos)[-2..0]",
]

NER = [
    *WORDS,
    "lower[-2..2]",
    "short_shape[-2..2]",
    "bigram(short_shape)[-1..0]",
    "trigram(short_shape)[-1]",
    *AFFIXES,
    "pos[-2..2]",
    "bigram(pos)[-1..0]",
]

POS = [
    *WORDS,
    "lower[-2..2]",
    "short_shape[-1..1]",
    *AFFIXES,
]

READY_SETS = {"chunking": CHUNKING, "ner": NER, "pos": POS}
