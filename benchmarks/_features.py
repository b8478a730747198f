"""The two feature sets of the benchmarks, as lists of strings.

They are richer than those of Mejer & Crammer (2010), who followed Sha & Pereira
(2003): scores are above theirs, and the ranking of the methods is what compares.
"""

WINDOW = (-2, -1, 0, 1, 2)
AFFIXES = (1, 2, 3, 4)


def chunking_features(sentence):
    """Return the 20 features of every (word, part of speech) token.

    Bias; words -2..2; word bigrams -1|0 and 0|1; parts of speech -2..2, their four
    bigrams and three trigrams.
    """
    words = _padded([word for word, _ in sentence])
    tags = _padded([tag for _, tag in sentence])
    return [
        [
            "bias",
            *_unigrams("w", words, i),
            *_ngrams("w", words, i, 2, (-1, 0)),
            *_unigrams("p", tags, i),
            *_ngrams("p", tags, i, 2, (-2, -1, 0, 1)),
            *_ngrams("p", tags, i, 3, (-2, -1, 0)),
        ]
        for i in range(2, len(sentence) + 2)
    ]


def entity_features(sentence):
    """Return the 36 features of every (word, part of speech) token.

    Bias; word, lower-cased word, part of speech and collapsed shape at -2..2; word,
    part-of-speech and shape bigrams -1|0 and 0|1; the shape trigram; prefixes and
    suffixes of one to four characters.
    """
    plain = [word for word, _ in sentence]
    words = _padded(plain)
    lower = _padded([word.lower() for word in plain])
    tags = _padded([tag for _, tag in sentence])
    shapes = _padded([collapsed_shape(word) for word in plain])
    return [
        [
            "bias",
            *_unigrams("w", words, i),
            *_unigrams("l", lower, i),
            *_unigrams("p", tags, i),
            *_unigrams("s", shapes, i),
            *_ngrams("w", words, i, 2, (-1, 0)),
            *_ngrams("p", tags, i, 2, (-1, 0)),
            *_ngrams("s", shapes, i, 2, (-1, 0)),
            *_ngrams("s", shapes, i, 3, (-1,)),
            *[f"prefix{k}={words[i][:k]}" for k in AFFIXES],
            *[f"suffix{k}={words[i][-k:]}" for k in AFFIXES],
        ]
        for i in range(2, len(sentence) + 2)
    ]


def collapsed_shape(word):
    """Return the kinds of characters, runs shortened to one: McLeod-73 -> AaAa-0."""
    shape = []
    for c in word:
        kind = "A" if c.isupper() else "a" if c.islower() else "0" if c.isdigit() else c
        if not shape or shape[-1] != kind:
            shape.append(kind)
    return "".join(shape)


def _padded(column):
    return ["<s>", "<s>", *column, "</s>", "</s>"]


def _unigrams(name, column, i):
    return [f"{name}[{k}]={column[i + k]}" for k in WINDOW]


def _ngrams(name, column, i, n, starts):
    return [f"{name}{n}[{k}]={'|'.join(column[i + k : i + k + n])}" for k in starts]
