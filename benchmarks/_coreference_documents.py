"""Documents with mentions and clusters: LitBank in the shape of CoNLL-2012, or made."""

import gzip
import re
from typing import NamedTuple

import numpy as np

LITBANK = "litbank-coref"
FILE = "documents.conll.gz"
QUICK_DOCUMENTS = 10
BEGIN, END = "#begin document", "#end document"
WORD, CLUSTERS = 3, -1
_MARK = re.compile(r"\((\d+)\)|\((\d+)|(\d+)\)")


class Mention(NamedTuple):
    """Words that stand for somebody or something."""

    start: int  # its first word, counted over the document
    end: int  # past its last word
    sentence: int  # the number of its sentence
    words: tuple


class Document(NamedTuple):
    """The mentions of a document in order, and the cluster of each."""

    name: str
    mentions: list
    clusters: np.ndarray


def load_documents(data_home, quick):
    """Return LitBank's documents; in a quick run a few, made ones without a folder."""
    if data_home is None:
        if not quick:
            raise SystemExit(f"--data-home must name a folder that has {LITBANK}")
        rng = np.random.default_rng(0)
        return [_made_document(number, rng) for number in range(QUICK_DOCUMENTS)]
    path = data_home / LITBANK / FILE
    if not path.exists():
        raise SystemExit(f"{path} does not exist; --data-home must name its folder")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        documents = read_documents(lines)
    return documents[:QUICK_DOCUMENTS] if quick else documents


def read_documents(lines):
    """Return the documents in lines of CoNLL-2012: columns separated by TAB."""
    documents = []
    for line in lines:
        line = line.rstrip("\n")
        if line.startswith(BEGIN):
            name, words, sentence, marks = line[len(BEGIN) :].strip(), [], 0, []
        elif line.startswith(END):
            documents.append(_document(name, words, marks))
        elif not line:
            sentence += 1
        else:
            columns = line.split("\t")
            marks.append((len(words), sentence, columns[CLUSTERS]))
            words.append(columns[WORD])
    return documents


def _document(name, words, marks):
    """Return a document whose mentions are opened and closed by marks at words."""
    open_at, found = {}, []
    for place, sentence, text in marks:
        for alone, opened, closed in _MARK.findall(text):
            if opened or alone:
                open_at.setdefault(opened or alone, []).append(place)
            if closed or alone:
                start = open_at[closed or alone].pop()
                found.append((start, place + 1, sentence, int(closed or alone)))
    if any(open_at.values()):
        raise ValueError(f"document {name}: a mention is opened and never closed")
    found.sort()
    mentions = [Mention(a, b, s, tuple(words[a:b])) for a, b, s, _ in found]
    return Document(name, mentions, np.array([c for *_, c in found], dtype=np.intp))


def _made_document(number, rng, n_mentions=40):
    """Return a document about a few people, who are named or meant by pronouns."""
    names = rng.permutation(["Ann", "Eve", "Mary", "Bob", "Tom", "Peter"])[:4]
    person, mentions, clusters = 0, [], []
    for place in range(n_mentions):
        if rng.random() < 0.6:
            person = int(rng.integers(len(names)))
        name = str(names[person])
        pronoun = "she" if name in ("Ann", "Eve", "Mary") else "he"
        word = name if rng.random() < 0.5 else pronoun
        mentions.append(Mention(3 * place, 3 * place + 1, place // 2, (word,)))
        clusters.append(person)
    return Document(f"made {number}", mentions, np.array(clusters))
