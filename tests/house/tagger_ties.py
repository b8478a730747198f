"""What stored results are behind the figures of the taggers' docstrings."""

THREE = ("NP chunking", "Spanish", "Dutch")
DEFAULTS = "defaults"


def by_groups(part, group, rows, sets, tail=""):
    """Return the paths of rows, each on all sets, of the results of bench_defaults."""
    return [f"{part}/groups/{group}/{row}/{s}{tail}" for row in rows for s in sets]


def on_each(part, group, rows, sets):
    """Return the same, all rows on the first set, then on the next."""
    return [f"{part}/groups/{group}/{row}/{s}" for s in sets for row in rows]


# ---- Methods of confidence ----


def confidence_row(label, row, measures=("left_5000", "rmse")):
    """Return the tie of a row of the table of methods of confidence."""
    paths = [f"methods/sets/{s}/{row}/{m}/0" for m in measures for s in THREE]
    shown = " ".join(["{}, {}, {}"] * len(measures))
    return ("tagging/_base.py", f"{label} {shown}", "confidence", paths)


OURS = "mean of 8 CW"
CONFIDENCE = [
    confidence_row("delta", f"{OURS}/Delta", ("left_5000",)),
    confidence_row("kbv (fitted)", f"{OURS}/KBV"),
    confidence_row("delta-max", f"{OURS}/delta-max", ("left_5000",)),
    confidence_row("marginal", f"{OURS}/marginal, untuned"),
    confidence_row("kd-pc (fitted)", f"{OURS}/kd-pc, 200 draws"),
    confidence_row("blend", f"{OURS}/blend, untuned"),
    confidence_row("kd-fixed", f"{OURS}/kd-fixed, untuned"),
    confidence_row("a tuned CRF", "tuned CRF/tuned CRF"),
]

# ---- Sequence taggers ----

CHUNKS_AND_DUTCH = ("CoNLL-2000", "Dutch")
NAMES = ("Spanish", "Dutch")


def range_of(file, text, group, rows):
    """Return the tie of F1 for several values of a parameter."""
    paths = on_each("taggers", group, rows, CHUNKS_AND_DUTCH)
    shown = f"{text} is {{}}, {{}}, {{}} on CoNLL-2000 and {{}}, {{}}, {{}} on Dutch"
    return (file, shown, DEFAULTS, paths)


def class_weight(file, learner):
    """Return the tie of what balanced costs change."""
    rows = [f"{learner}, class_weight = {value}" for value in ("None", "balanced")]
    return (
        file,
        "sentences {} → {} and {} → {} of the tokens of the rarer half of the labels "
        "found on Spanish and Dutch names, span F1 {} → {} and {} → {})",
        DEFAULTS,
        [
            f"taggers/groups/class_weight/{row}/{s}/{i}"
            for i in (0, 1)
            for s in NAMES
            for row in rows
        ],
    )


def unknown(file, learner, verb):
    """Return the tie of what learning of unknown tokens changes."""
    rows = [f"{learner}, learn_unknown_token = {value}" for value in (False, True)]
    return (
        file,
        f"{verb} from {{}} to {{}} on Spanish and from {{}} to {{}} on Dutch names",
        DEFAULTS,
        on_each("taggers", "unknown", rows, NAMES),
    )


LEARNERS = {"CW": "_cw", "AROW": "_arow", "PA": "_pa", "perceptron": "_perceptron"}
TAGGERS = [
    range_of(
        "tagging/_pa.py",
        "F1 for 0.03, 0.3 and 1",
        "C",
        [f"PA, C = {C}" for C in (0.03, 0.3, 1.0)],
    ),
    (
        "tagging/_pa.py",
        "At 0.001 ten passes are not enough: {} and {}",
        DEFAULTS,
        on_each("taggers", "C", ["PA, C = 0.001"], CHUNKS_AND_DUTCH),
    ),
    range_of(
        "tagging/_arow.py",
        "F1 for 0.1, 1 and 30",
        "r",
        [f"AROW, r = {r}" for r in (0.1, 1.0, 30.0)],
    ),
    range_of(
        "tagging/_cw.py",
        "F1 for 0.1, 0.25 and 1",
        "phi",
        [f"CW, phi = {phi}" for phi in (0.1, 0.25, 1.0)],
    ),
    range_of(
        "tagging/_cw.py",
        "F1 for 0.5, 1 and infinity",
        "phi",
        ["CW, C = 0.5", "CW, phi = 0.25", "CW, C = inf"],
    ),
    (
        "tagging/_arow.py",
        "F1 by plain decoding, after 2,000 sentences, on CoNLL-2000, Spanish and "
        "Dutch names: {}, {}, {} against {}, {}, {}",
        DEFAULTS,
        by_groups(
            "taggers",
            "diagonal",
            [
                f"AROW, diagonal = {name}, cost = 0.0"
                for name in ("covariance", "precision")
            ],
            ("CoNLL-2000", "Spanish", "Dutch"),
        ),
    ),
    (
        "tagging/_arow.py",
        "F1 with it was {} against {} on CoNLL-2000, {} ({}) on NP chunks, {} ({}) on "
        "Spanish and {} ({}) on Dutch names, and token accuracy {} ({}) on tweets",
        DEFAULTS,
        on_each(
            "taggers",
            "cost",
            ["AROW, cost = 1.0", "AROW, cost = 0.0"],
            ("CoNLL-2000", "NP", "Spanish", "Dutch", "ARK"),
        ),
    ),
    *[class_weight(f"tagging/{LEARNERS[name]}.py", name) for name in LEARNERS],
    *[
        unknown(f"tagging/{LEARNERS[name]}.py", name, f"span F1 of {called}")
        for name, called in (
            ("CW", "CW rose"),
            ("AROW", "AROW rose"),
            ("PA", "this one went"),
            ("perceptron", "this one went"),
        )
    ],
]

# ---- Parts of speech ----

TAGGED = ("UD-EWT", "ARK")


def hmm_row(label, row):
    """Return the tie of a row of the table of what is made of unseen words."""
    paths = by_groups("tags", "HMM", [row], TAGGED)
    return (
        "tagging/_hmm.py",
        f"{label} {{}}, {{}}, {{}} {{}}, {{}}, {{}}",
        DEFAULTS,
        paths,
    )


MAXENT = "tags/groups/MaxEnt, development"
SPEECH = [
    hmm_row('"prior", smoothing 0.001', "prior, smoothing .001"),
    hmm_row('"prior"', "prior"),
    hmm_row('"vocabulary"', "vocabulary"),
    hmm_row('"spelling"', "spelling"),
    (
        "tagging/_maxent.py",
        "ARK tweets is {} and {} % (HMMSequenceTagger: {} and {} %). On the "
        "development set of ARK it is {} %",
        DEFAULTS,
        [
            *by_groups("tags", "MaxEnt, test", ["as it comes"], TAGGED),
            *by_groups("tags", "HMM", ["spelling"], TAGGED, "/0"),
            f"{MAXENT}/as it comes/ARK",
        ],
    ),
    (
        "tagging/_maxent.py",
        "min_count {} with 1, {} with 5",
        DEFAULTS,
        [f"{MAXENT}/min_count = {n}/ARK" for n in (1, 5)],
    ),
    (
        "tagging/_maxent.py",
        "beam {} with 1, {} with 3, {} with 50",
        DEFAULTS,
        [f"{MAXENT}/beam = {n}/ARK" for n in (1, 3, 50)],
    ),
    (
        "tagging/_maxent.py",
        "C {} with 0.3, {} with 3",
        DEFAULTS,
        [f"{MAXENT}/C = {C}/ARK" for C in (0.3, 3.0)],
    ),
    *[
        (
            "tagging/_maxent.py",
            f'"{method}" {{}}, {{}} {{}}, {{}}',
            DEFAULTS,
            by_groups("tags", "MaxEnt, methods", [method], TAGGED),
        )
        for method in ("marginal", "local", "nbest")
    ],
]
