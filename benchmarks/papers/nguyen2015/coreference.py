"""How good a clustering of mentions is, whatever the model believes of it."""

import gzip
import re
from collections import Counter
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array

# ---- Documents with mentions and clusters ----

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


# ---- Plain features of mentions and of pairs of them, as codes in fields ----

PRONOUNS = {
    "I": "i me my mine myself",
    "you": "you your yours yourself yourselves thou thee thy thine",
    "he": "he him his himself",
    "she": "she her hers herself",
    "it": "it its itself",
    "we": "we us our ours ourselves",
    "they": "they them their theirs themselves",
    "who": "who whom whose which that",
    "here": "here there",
}
CLASS_OF = {word: name for name, words in PRONOUNS.items() for word in words.split()}
KINDS = [*PRONOUNS, "name", "male name", "female name", "phrase"]
# Broader: a pronoun, a name, or a phrase.
BROAD = np.array([0] * len(PRONOUNS) + [1] * 3 + [2])
TITLES = {
    "male name": {"mr.", "mr", "sir", "lord", "king", "captain", "uncle", "master"},
    "female name": {"mrs.", "mrs", "miss", "lady", "madame", "queen", "aunt"},
}
DETERMINERS = {"the": 1, "a": 2, "an": 2, "this": 3, "that": 3, "these": 3, "those": 3}
# What follows these words in a phrase is not its head.
BEHIND_HEAD = {",", "of", "in", "on", "at", "with", "from", "to", "for", "by", "who"}
BEHIND_HEAD |= {"which", "that", "whose", "and", "or", "as", "-", "--", "("}
# Distances from these values upwards fall into one class each.
MENTION_STEPS = (1, 2, 3, 4, 6, 9, 13, 21, 34, 60, 120, 240)
SENTENCE_STEPS = (1, 2, 3, 5, 9, 17, 40)
# A word that so many mentions of the training part have is known.
LEAST_COUNT = 20
GROUPS = ("distance", "kinds", "matches", "words")


def kind_of(mention):
    """Return the class of a pronoun, whether it is a name, or a phrase."""
    low = [word.lower() for word in mention.words]
    if len(low) == 1 and low[0] in CLASS_OF:
        return CLASS_OF[low[0]]
    title = next((kind for kind, words in TITLES.items() if low[0] in words), None)
    named = mention.words[-1][:1].isupper() and low[0] not in DETERMINERS
    if title and (len(low) > 1 or named):
        return title
    return "name" if named else "phrase"


def head_of(mention):
    """Return the last word before what only describes it, in lower case."""
    low = [word.lower() for word in mention.words]
    ends = [k for k, word in enumerate(low) if word in BEHIND_HEAD and k > 0]
    return low[(ends[0] if ends else len(low)) - 1]


class Fields:
    """Encodes the arcs of documents by the fields of the first few groups.

    Parameters
    ----------
    groups : sequence of str
        Some of ``GROUPS``.
    documents : list of Document
        Those of the training part, which tell the known words.
    """

    def __init__(self, groups, documents):
        self.groups = groups
        heads = Counter(head_of(m) for one in documents for m in one.mentions)
        known = sorted(word for word, n in heads.items() if n >= LEAST_COUNT)
        self.word_number = {word: k + 1 for k, word in enumerate(known)}
        self.sizes = None

    def encode(self, document):
        """Return the codes of all arcs (n_arcs, n_fields) of a document."""
        here = _Mentions(document.mentions, self.word_number)
        fields = [field for group in self.groups for field in getattr(here, group)()]
        self.sizes = [size for _, size in fields]
        return np.stack([codes for codes, _ in fields], axis=1)


class _Mentions:
    """The mentions of one document, and the fields of all pairs of them.

    A field is a pair: the code of each arc, and how many codes there are.
    """

    def __init__(self, mentions, word_number):
        self.later, self.earlier = np.tril_indices(len(mentions))
        self.itself = self.later == self.earlier
        self.kind = np.array([KINDS.index(kind_of(m)) for m in mentions], dtype=int)
        self.head = _numbered([head_of(m) for m in mentions])
        self.string = _numbered([" ".join(m.words).lower() for m in mentions])
        self.sentence = np.array([m.sentence for m in mentions], dtype=int)
        self.start = np.array([m.start for m in mentions], dtype=int)
        self.end = np.array([m.end for m in mentions], dtype=int)
        first = [m.words[0].lower() for m in mentions]
        self.determiner = np.array([DETERMINERS.get(w, 0) for w in first], dtype=int)
        self.word = np.array([word_number.get(head_of(m), 0) for m in mentions], int)
        self.n_words = len(word_number) + 1
        self.names = [frozenset(m.words) for m in mentions]

    def _field(self, codes, size):
        """Return a field of pairs; the arc to itself has a code of its own."""
        return np.where(self.itself, size, codes), size + 1

    def _with_kind(self, codes, size):
        """Return codes apart for pronouns, names and phrases that look back."""
        return self._field(codes * 3 + BROAD[self.kind[self.later]], size * 3)

    def distance(self):
        """Yield how many mentions and sentences lie between two mentions."""
        apart = np.searchsorted(MENTION_STEPS, self.later - self.earlier, "right")
        yield self._field(apart, len(MENTION_STEPS) + 1)
        lines = self.sentence[self.later] - self.sentence[self.earlier]
        lines = np.searchsorted(SENTENCE_STEPS, lines, "right")
        yield self._field(lines, len(SENTENCE_STEPS) + 1)

    def kinds(self):
        """Yield the kinds of both, and the distance for each kind."""
        n = len(KINDS)
        yield self._field(self.kind[self.later] * n + self.kind[self.earlier], n * n)
        yield np.where(self.itself, self.kind[self.later], n), n + 1
        for codes, size in list(self.distance()):
            yield self._with_kind(np.where(self.itself, 0, codes), size)

    def matches(self):
        """Yield whether strings, heads and words are the same, or one is in another."""
        same_string = self.string[self.later] == self.string[self.earlier]
        same_head = self.head[self.later] == self.head[self.earlier]
        yield self._with_kind(same_string + 2 * same_head, 4)
        yield self._with_kind(self._shared_words(), 4)
        inside = (self.start[self.later] < self.end[self.earlier]).astype(int)
        yield self._with_kind(inside, 2)
        # A mention is new if nothing like it was there before.
        string_seen = _seen(same_string, self.later, self.itself)
        head_seen = _seen(same_head, self.later, self.itself)
        news = (string_seen + 2 * head_seen) * 4 + self.determiner
        n = len(KINDS)
        codes = news[self.later] * n + self.kind[self.later]
        yield np.where(self.itself, codes, 16 * n), 16 * n + 1

    def _shared_words(self):
        """Return whether the capitalized words of one are among those of the other."""
        capital = [frozenset(w for w in m if w[:1].isupper()) for m in self.names]
        out = np.zeros(len(self.later), dtype=int)
        pairs = zip(self.later.tolist(), self.earlier.tolist(), strict=True)
        for k, (i, j) in enumerate(pairs):
            if capital[i] and capital[j]:
                shared = len(capital[i] & capital[j])
                out[k] = 1 + (shared > 0) + (shared == len(capital[i]))
        return out

    def words(self):
        """Yield the heads of both mentions, and that of one that is new."""
        n = self.n_words
        yield np.where(self.itself, self.word[self.later], n), n + 1
        yield self._field(self.word[self.later], n)
        yield self._field(self.word[self.earlier], n)


def _numbered(names):
    number = {}
    return np.array([number.setdefault(name, len(number)) for name in names], dtype=int)


def _seen(same, later, itself):
    """Tell of each mention whether an earlier one is the same."""
    return np.bincount(later, same & ~itself, minlength=itself.sum()) > 0


def first_groups():
    """Yield the groups one by one, each with those before it."""
    yield from accumulate(([group] for group in GROUPS), lambda a, b: a + b)


# ---- A mention-ranking log-linear model ----

# How much each kind of error costs in training by the Berkeley system: an antecedent
# for a mention that begins a cluster, none for one that has some, a wrong one.
BERKELEY_COSTS = (0.1, 3.0, 1.0)


class Problem(NamedTuple):
    """The arcs of all documents, ready for training."""

    patterns: csr_array  # (n_patterns, n_weights), the codes of arcs that are alike
    pattern: np.ndarray  # (n_arcs,), which of them an arc has
    starts: np.ndarray  # (n_mentions,), the first arc of each mention
    right: np.ndarray  # (n_arcs,) bool, whether an arc is one that the truth allows
    cost: np.ndarray  # (n_arcs,), what training adds to the score of a wrong arc


def n_mentions_of(n_arcs):
    """Return the number of mentions that have so many arcs."""
    return int((np.sqrt(8 * n_arcs + 1) - 1) / 2)


def right_arcs(clusters):
    """Tell of each arc whether it leads to an earlier mention of the same cluster.

    The arc of the first mention of a cluster to itself is right, and no other one.
    """
    clusters = np.asarray(clusters)
    mention, antecedent = np.tril_indices(len(clusters))
    itself = mention == antecedent
    same = (clusters[mention] == clusters[antecedent]) & ~itself
    first = np.ones(len(clusters), dtype=bool)
    first[mention[same]] = False
    return same | (itself & first[mention])


def arc_costs(clusters, costs):
    """Return the cost of each arc: none for right ones."""
    mention, antecedent = np.tril_indices(len(clusters))
    right, itself = right_arcs(clusters), mention == antecedent
    begins = right[itself][mention]
    wrong = np.where(begins, costs[0], np.where(itself, costs[1], costs[2]))
    return np.where(right, 0.0, wrong)


def posed(documents, sizes, costs=(0.0, 0.0, 0.0)):
    """Return the training problem of documents ``(codes, clusters)``."""
    codes = np.concatenate([codes for codes, _ in documents])
    right = np.concatenate([right_arcs(clusters) for _, clusters in documents])
    cost = np.concatenate([arc_costs(clusters, costs) for _, clusters in documents])
    choices = [np.arange(1, len(clusters) + 1) for _, clusters in documents]
    starts = np.cumsum(np.concatenate([[0], *choices]))[:-1]
    pattern, first = _alike(codes, sizes)
    return Problem(_one_hot(codes[first], sizes), pattern, starts, right, cost)


def _alike(codes, sizes):
    """Return the number of each row's pattern, and a row of each pattern."""
    number, found = np.zeros(len(codes), dtype=np.int64), 1
    for field, size in enumerate(sizes):
        number = number * size + codes[:, field]
        found *= size
        if found > 2**40:
            number = np.unique(number, return_inverse=True)[1]
            found = int(number.max(initial=0)) + 1
    _, first, number = np.unique(number, return_index=True, return_inverse=True)
    return number, first


def _one_hot(codes, sizes):
    """Return a sparse row of ones for each row of codes."""
    offsets = np.cumsum([0, *sizes[:-1]])
    indptr = np.arange(len(codes) + 1) * len(sizes)
    ones = np.ones(codes.size)
    return csr_array(
        (ones, (codes + offsets).ravel(), indptr), (len(codes), sum(sizes))
    )


def loss_and_slope(weights, problem, penalty):
    """Return the negative log-likelihood of right arcs, penalized, and its gradient.

    A mention is right with any of its right antecedents, so their probabilities add up.
    """
    score = (problem.patterns @ weights)[problem.pattern]
    chosen, log_all = _shares(score + problem.cost, problem.starts)
    allowed = np.where(problem.right, score, -np.inf)
    wanted, log_right = _shares(allowed, problem.starts)
    slope = np.bincount(
        problem.pattern, chosen - wanted, minlength=problem.patterns.shape[0]
    )
    loss = (log_all - log_right).sum() + penalty / 2 * weights @ weights
    return loss, problem.patterns.T @ slope + penalty * weights


def _shares(score, starts):
    """Return the softmax over the arcs of each mention, and the log of its sum."""
    sizes = np.diff([*starts, len(score)])
    top = np.maximum.reduceat(score, starts)
    power = np.exp(score - np.repeat(top, sizes))
    total = np.add.reduceat(power, starts)
    return power / np.repeat(total, sizes), top + np.log(total)


def fit_weights(documents, sizes, penalty=1.0, costs=(0.0, 0.0, 0.0), max_iter=100):
    """Return the weights with the least loss, by L-BFGS."""
    problem = posed(documents, sizes, costs)
    found = minimize(
        loss_and_slope,
        np.zeros(sum(sizes)),
        (problem, penalty),
        method="L-BFGS-B",
        jac=True,
        options={"maxiter": max_iter},
    )
    return found.x


def antecedents(weights, codes, sizes):
    """Return the probability that mention i (row) chooses mention j (column)."""
    n = n_mentions_of(len(codes))
    offsets = np.cumsum([0, *sizes[:-1]])
    score = weights[codes + offsets].sum(axis=1)
    starts = np.arange(n) * np.arange(1, n + 1) // 2
    table = np.zeros((n, n))
    table[np.tril_indices(n)] = _shares(score, starts)[0] if n else []
    return table


def best_clusters(table):
    """Return the clustering in which each mention takes its most probable choice."""
    clusters = np.arange(len(table))
    for i, choice in enumerate(table.argmax(axis=1)):
        clusters[i] = clusters[choice]
    return clusters


def drawn_clusters(table, n, rng):
    """Return n clusterings (n, n_mentions), each by choices drawn for all mentions."""
    clusters = np.tile(np.arange(len(table)), (n, 1))
    for i, row in enumerate(table):
        reached = np.cumsum(row[: i + 1])
        chance = rng.random(n) * reached[-1]
        choice = np.minimum(np.searchsorted(reached, chance, side="right"), i)
        clusters[:, i] = clusters[np.arange(n), choice]
    return clusters


def together(table):
    """Return the exact probability that two mentions belong to one cluster.

    Mention i chooses whatever the mentions before it have chosen. So it is together
    with an earlier mention k if it chooses a mention j that is together with k:
    P(i ~ k) = sum over j < i of P(i chooses j) P(j ~ k).
    """
    found = np.eye(len(table))
    for i in range(1, len(table)):
        found[i, :i] = found[:i, i] = table[i, :i] @ found[:i, :i]
    return found


# ---- How good a clustering of mentions is, whatever the model believes of it ----


def _overlaps(truth, found):
    """Return how many mentions each true and each found cluster share."""
    rows = np.unique(truth, return_inverse=True)[1]
    columns = np.unique(found, return_inverse=True)[1]
    table = np.zeros((rows.max(initial=-1) + 1, columns.max(initial=-1) + 1))
    np.add.at(table, (rows, columns), 1.0)
    return table


def _f(right, found, true):
    """Return the harmonic mean of precision and recall from three sums."""
    precision = right[0] / found if found else 0.0
    recall = right[1] / true if true else 0.0
    return 2 * precision * recall / (precision + recall) if right[0] else 0.0


def b_cubed(truths, founds):
    """Return B-cubed F: how much mentions share of their clusters, on average."""
    precise = recalled = mentions = 0.0
    for truth, found in zip(truths, founds, strict=True):
        shared = _overlaps(truth, found)
        square = shared**2
        precise += (square.sum(axis=0) / shared.sum(axis=0)).sum()
        recalled += (square.sum(axis=1) / shared.sum(axis=1)).sum()
        mentions += shared.sum()
    return _f((precise, recalled), mentions, mentions)


def pairwise_f(truths, founds):
    """Return F of the pairs of mentions that are put together."""
    right = found_pairs = true_pairs = 0.0
    for truth, found in zip(truths, founds, strict=True):
        shared = _overlaps(truth, found)
        right += (shared * (shared - 1) / 2).sum()
        for axis in (0, 1):
            size = shared.sum(axis=axis)
            total = (size * (size - 1) / 2).sum()
            found_pairs += total * (axis == 0)
            true_pairs += total * (axis == 1)
    return _f((right, right), found_pairs, true_pairs)
