"""The two feature sets of the benchmarks, said in lines of `WindowFeatures`."""

# What `_features.chunking_features` builds.
LINES = [
    "bias",
    "word[-2..2]",
    "bigram(word)[-1..0]",
    "pos[-2..2]",
    "bigram(pos)[-2..1]",
    "trigram(pos)[-2..0]",
]
# The features of `_features.entity_features`: affixes of short words apart.
ENTITY_LINES = [
    "bias",
    "word[-2..2]",
    "lower[-2..2]",
    "pos[-2..2]",
    "short_shape[-2..2]",
    "bigram(word)[-1..0]",
    "bigram(pos)[-1..0]",
    "bigram(short_shape)[-1..0]",
    "trigram(short_shape)[-1]",
    "prefix(1..4)",
    "suffix(1..4)",
]


def lines_of(corpus):
    """Return the lines that suit a corpus."""
    return LINES if "chunking" in corpus.name else ENTITY_LINES
