"""What stored results are behind all other figures."""

from tests.house.tagger_ties import DEFAULTS, NAMES, by_groups, on_each

# The text beside the benchmarks, tied in the same way.
RECORD = "../benchmarks/README.md"

# ---- Classifiers ----

NEWS, DIGITS, AMAZON = "20 News, binary", "digits, tf-idf", "Amazon 4, binary"
ENRON = [f"Enron {part}, {form}" for part in "AB" for form in ("binary", "tf-idf")]
FOUR = "{}, {}, {}, {}"
AVERAGING = [f"the paper's, averaging {value}" for value in (True, False)]
RANKED = ("SMS, binary", "Amazon sentiment, binary")
DIAGONALS = [f"the paper's, {name}" for name in ("precision", "covariance")]
CLASSIFIERS = [
    (
        "linear_model/_cw.py",
        f"20 Newsgroups, binary words, {FOUR}; digits {FOUR}.",
        DEFAULTS,
        on_each(
            "rows",
            "phi",
            [f"phi = {phi}" for phi in (1.0, 2.0, 3.0, "auto")],
            (NEWS, DIGITS),
        ),
    ),
    (
        "linear_model/_cw.py",
        "accuracy is {} with infinity and {} with 2",
        DEFAULTS,
        on_each("rows", "C", ["C = inf", "C = 2.0"], ("noisy, binary",)),
    ),
    (
        "linear_model/_cw.py",
        "Enron A, binary words, {} against {}, tf-idf {} ({}), Enron B {} ({}), then "
        "{} ({}).",
        DEFAULTS,
        on_each("rows", "update", ["joint", "single"], ENRON),
    ),
    (
        "linear_model/_cw.py",
        "({} against {} on 20 Newsgroups with the paper's update)",
        DEFAULTS,
        on_each("rows", "diagonal", DIAGONALS, (NEWS,)),
    ),
    (
        "linear_model/_cw.py",
        "was {} against {} on 20 Newsgroups, {} ({}) on Amazon domains, {} ({}) on "
        "Enron A",
        DEFAULTS,
        on_each("rows", "averaging", AVERAGING, (NEWS, AMAZON, "Enron A, binary")),
    ),
    (
        "linear_model/_arow.py",
        f"20 Newsgroups, binary words, {FOUR}; its tf-idf rows, of length one, {FOUR}; "
        f"Amazon domains, binary words, {FOUR}.",
        DEFAULTS,
        on_each(
            "rows",
            "r",
            [f"r = {r}" for r in (0.1, 1.0, 3.0, 10.0)],
            (NEWS, "20 News, tf-idf", AMAZON),
        ),
    ),
    (
        "linear_model/_gaussian.py",
        "ROC curve {} against {} on SMS spam, {} ({}) on the sentiment of Amazon's "
        "reviews",
        DEFAULTS,
        on_each(
            "rows",
            "ranking",
            ["as it comes"],
            ("SMS, binary", "Amazon sentiment, binary"),
        ),
    ),
    *[
        (
            "linear_model/_cw.py",
            f"{called} {{}}, {{}}, then {{}}, {{}}",
            "travel",
            [
                f"rows/cells/{name}, {form}/{learner}/log_loss"
                for form in ("binary", "tf-idf")
                for learner in ("CW", "logistic")
            ],
        )
        for called, name in (
            ("Amazon domains", "Amazon 4"),
            ("Amazon sentiment", "Amazon sentiment"),
            ("Enron A", "Enron A"),
            ("Enron B", "Enron B"),
            ("Reuters", "Reuters"),
            ("SMS", "SMS"),
        )
    ],
    (
        "linear_model/_cw.py",
        "Of {} sets and forms of rows the first is at most the last in {}, and at "
        "worst {} % above it (shades of digits, {} and {})",
        "travel",
        [
            *[f"sums/{what}" for what in ("cells", "at most", "worst")],
            *[f"rows/cells/{DIGITS}/{name}/log_loss" for name in ("CW", "logistic")],
        ],
    ),
]

# ---- Features and data ----

CHANGES = {
    "chunking": (
        ("CoNLL-2000", "NP"),
        (
            *(
                "the set",
                "without words & parts of speech",
                "without lower-cased words",
            ),
            *("without suffixes and the shape", "with prefixes"),
        ),
    ),
    "ner": (
        ("Spanish", "Dutch"),
        (
            *("the set", "without lower-cased words", "without long shapes"),
            *("with runs of 3 characters", "with flags"),
        ),
    ),
    "pos": (
        ("ARK", "EWT XPOS"),
        (
            *("the set", "without lower-cased words"),
            "without flags and the shape of the first word",
            "with runs of 2 and 3 characters",
        ),
    ),
}
# All rows of a set in one tie: the same words stand in the rows of several.
FEATURES = [
    (
        "features/_sets.py",
        " ".join([name, *[f"{row} {{}} {{}}" for row in rows]]),
        DEFAULTS,
        by_groups("features", name, rows, sets),
    )
    for name, (sets, rows) in CHANGES.items()
]
REVIEWS = "made/groups/reviews"
DATA = [
    (
        "datasets/_reviews.py",
        "with an accuracy of {} (mean of three pairs of seeds): {} with ``ambiguity=0, "
        "negation=0, unseen_rate=0``, {} with ``ambiguity=1``, {} with "
        "``unseen_rate=1`` ({} on pieces of 2 to 5 letters) and {} with "
        "``negation=0.5`` ({} on runs of 1 to 3 words). It tells the stars at {} and "
        "the domain at {}. With 10,000 reviews it reaches {} on words and {} on runs "
        "of 1 to 3 words.",
        DEFAULTS,
        [
            f"{REVIEWS}/{row}/accuracy"
            for row in (
                "as it comes",
                "ambiguity 0, negation 0, unseen_rate 0",
                "ambiguity 1",
                "unseen_rate 1",
                "unseen_rate 1, pieces of 2 to 5 letters",
                "negation 0.5",
                "negation 0.5, runs of 1 to 3 words",
                "stars",
                "domain",
                "10,000",
                "10,000, runs of 1 to 3 words",
            )
        ],
    ),
    (
        "datasets/_tagged_corpus.py",
        "reaches a span F1 of {} on other sentences (mean of three pairs of seeds); {} "
        "with ``ambiguity=0, unseen_rate=0`` and {} with ``ambiguity=1``",
        DEFAULTS,
        [
            f"made/groups/corpora/{row}/span F1"
            for row in ("as it comes", "ambiguity 0, unseen_rate 0", "ambiguity 1")
        ],
    ),
    (
        "metrics/_bands.py",
        'At a level of 95 %, ``"wilson"`` contained the true accuracy of adaptive and '
        'of uniform bins in {} and {} %, ``"clopper-pearson"`` in {} and {}',
        "calibration",
        [
            f"sums/band, {bins} bins, {method}"
            for method in ("wilson", "clopper-pearson")
            for bins in ("adaptive", "uniform")
        ],
    ),
]

# ---- What benchmarks/README.md says ----

FITS = [
    (
        RECORD,
        "So CW is {} times as fast as a tuned `LinearSVC` and more accurate; Vowpal "
        "Wabbit is more accurate than CW by {} and takes {} times as long",
        "multiclass",
        [f"sums/{what}" for what in ("LinearSVC", "lead of VW", "Vowpal Wabbit")],
    ),
    (
        RECORD,
        "a fit takes {} s of computing instead of {}",
        "travel",
        [
            f"rows/cells/20 News, binary/CW/{what}"
            for what in ("cpu_seconds_given_scale", "cpu_seconds")
        ],
    ),
]

# ---- Reranking ----

RERANKERS = ("boosting", "voted perceptron", "CW")
RERANKING = [
    *[
        (
            "reranking/_tagger.py",
            f"{base}, {task} {{}}, {{}} {{}}, {{}} {{}}, {{}}",
            "rerank",
            [
                f"sums/{language}, {task}, {base}, {reranker}"
                for reranker in RERANKERS
                for language in NAMES
            ],
        )
        for base in ("MaxEnt", "CW")
        for task in ("boundaries", "entities")
    ],
    (
        "reranking/_tagger.py",
        "MaxEnt tagger has an F1 of {} and {} on boundaries but {} and {} on entities",
        "rerank",
        [
            f"sums/{language}, {task}, MaxEnt"
            for task in ("boundaries", "entities")
            for language in NAMES
        ],
    ),
    (
        "reranking/_tagger.py",
        "gained {} points of F1 over the CW tagger on Spanish entities, in every "
        "split, and {} on Dutch ones, in four of the five ({} in the other)",
        "rerank",
        ["sums/gain, Spanish", "sums/gain, Dutch", "sums/worst, Dutch"],
    ),
    (
        "reranking/_voted.py",
        "after the same number of passes F1 differs by at most {} points",
        "rerank",
        ["sums/voted and averaged"],
    ),
]
