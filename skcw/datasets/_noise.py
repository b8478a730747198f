"""Errors of annotators and of part-of-speech taggers."""

from skcw.datasets._names import chance, pick

TYPES = ("PER", "LOC", "ORG", "MISC", "DATE")
CONFUSED_TAGS = {
    "NNP": ("NN", "JJ", "NNPS"),
    "NN": ("NNP", "JJ", "VB"),
    "JJ": ("NNP", "NN"),
    "VBD": ("VBN", "VBN", "NNP"),
    "VBN": ("VBD", "JJ"),
    "NNS": ("NNPS", "VBZ"),
}


def blur_tags(rng, words, rate):
    """Return the words with some tags confused, as a tagger would do it."""
    return [
        (word, pick(rng, CONFUSED_TAGS[tag]), label)
        if tag in CONFUSED_TAGS and chance(rng, rate)
        else (word, tag, label)
        for word, tag, label in words
    ]


def annotate_badly(rng, words, labels, rate):
    """Return labels as a careless annotator would give them, still legal IOB2."""
    labels = list(labels)
    start = 0
    while start < len(labels):
        end = start + 1
        while end < len(labels) and labels[end].startswith("I-"):
            end += 1
        if chance(rng, rate):
            _spoil(rng, words, labels, start, end)
        start = end
    return labels


def _spoil(rng, words, labels, start, end):
    """Miss, mistype or cut the mention in place; or take a capital for a name."""
    if labels[start] == "O":
        if words[start][0].isupper():
            labels[start] = "B-" + pick(rng, TYPES)
        return
    kind = labels[start][2:]
    error = pick(
        rng,
        ("missed", "mistyped", "cut") if end - start > 1 else ("missed", "mistyped"),
    )
    if error == "missed":
        labels[start:end] = ["O"] * (end - start)
    elif error == "cut":
        labels[end - 1] = "O"
    else:
        wrong = pick(rng, [other for other in TYPES if other != kind])
        labels[start:end] = [label[:2] + wrong for label in labels[start:end]]
