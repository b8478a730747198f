"""``skcw inspect``: what a model has learned, and why a word got its label."""

from skcw.cli.inputs import needed_columns
from skcw.cli.messages import UsageError, report, table
from skcw.cli.options import (
    LEARNT_COLUMNS,
    add_json,
    add_label_column,
    add_reading,
    command_parser,
    natural,
    positive,
)
from skcw.cli.pictures import (
    RerankedModel,
    check_picture,
    draw,
    features_table,
    reranker_rows,
)
from skcw.cli.taggers import kept_passes, kept_text

TEXT = """\
Show what a model has learned. By default, describe the model and name the strongest
features of each label. With --label, list the weights of a label and how sure the
learner is of them (their standard deviations).

Given words, explain their labels: each label is compared with its best rival, and the
features that decide are listed with what they add to the margin between the two. With
--at, list all of them for one word. Of a reranked tagger these are the labels of the
tagger inside; before them stands what spoke for the labels chosen.

examples:
  skcw inspect names.skcw
  skcw inspect names.skcw --label B-PER --top 10
  skcw inspect names.skcw --tokens "Anna/NNP left/VBD Madrid/NNP"
  skcw inspect names.skcw test.conll --sentence 3 --at 0 --json
  skcw inspect names.skcw --label B-PER --plot weights.png
"""


def add_parser(commands):
    """Add the command to a command line."""
    parser = command_parser(
        commands, "inspect", run, "show weights, and explain labels", TEXT
    )
    parser.add_argument("model", metavar="MODEL", help="what `skcw train` has written")
    parser.add_argument(
        "file", nargs="?", metavar="FILE", help="a file with words to explain"
    )
    parser.add_argument(
        "--tokens",
        metavar="WORDS",
        help="words to explain, separated by blanks; other columns follow after "
        "slashes: Madrid/NNP",
    )
    parser.add_argument(
        "--label", metavar="LABEL", help="list the weights of this label"
    )
    parser.add_argument(
        "--top",
        type=positive,
        default=20,
        metavar="N",
        help="how many rows to show (default: 20)",
    )
    parser.add_argument(
        "--sentence",
        type=natural,
        metavar="N",
        help="which sentence of FILE, counted from 0 (default: 0)",
    )
    parser.add_argument(
        "--at", type=natural, metavar="N", help="explain only this word, counted from 0"
    )
    add_label_column(
        parser,
        "leave out this column of FILE, which holds true labels; the first is 0, the "
        "last -1",
    )
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help="draw it, too: the transitions; with --label the weights of the label; "
        "with --at what decides on the word. The ending is png, svg or pdf",
    )
    add_json(parser)
    add_reading(parser, LEARNT_COLUMNS)


def run(options):
    """Describe a model or explain labels, and report."""
    from skcw.cli.inputs import load_model

    if options.file is not None and options.tokens is not None:
        raise UsageError("give either FILE or --tokens")
    explains = options.file is not None or options.tokens is not None
    if options.at is not None and not explains:
        raise UsageError("--at needs FILE or --tokens")
    if options.sentence is not None and options.file is None:
        raise UsageError("--sentence needs FILE")
    # Parameters, history, explanations and standard deviations are the estimator's:
    # the light `skcw.InferenceModel`, which can only answer, has none of them.
    model, pipeline = load_model(options.model)
    if options.plot is not None:
        check_picture(options, explains)
    reranked, result, texts = _reranked(model, pipeline), {}, []
    if options.label is not None:
        result["weights"] = _label_weights(_learner(pipeline), options)
        texts.append(_label_text(result["weights"]))
    if explains:
        sentence = _sentence(model, pipeline, options)
        if reranked is not None:
            result["choice"] = reranked.explain(sentence)
            texts.append(reranked.text(result["choice"], options.top))
        result["explanation"] = _explanation(pipeline, sentence, options)
        texts.append(_explanation_text(result["explanation"], options))
    if not result:
        result = _overview(model, pipeline, options)
        if reranked is not None:
            result["reranker"] = reranked.overview(options.top)
        texts.append(_overview_text(result))
    if options.plot is not None:
        draw(options, _learner(pipeline), result.get("explanation"))
    report(options, result, "\n\n".join(texts))


def _learner(pipeline):
    """Return the tagger that has weights; others are built around it."""
    from skcw.cli.inputs import layers

    *_, learner = layers(pipeline.tagger)
    return learner


def _reranked(model, pipeline):
    """Return what tells about the reranker of a model, or None if it has none."""
    from skcw.cli.inputs import layers

    for part in layers(model):
        if hasattr(part, "reranker_"):
            return RerankedModel(part)
    for part in layers(pipeline.tagger):
        if hasattr(part, "reranker_"):
            return RerankedModel(part, pipeline[0].transform)
    return None


def _label_weights(tagger, options):
    from skcw.evaluation.tables import LearnedWeights

    weights = LearnedWeights(tagger)
    if options.label not in weights.labels:
        raise ValueError(
            f"the model has no label {options.label!r}; it has "
            f"{', '.join(weights.labels)}"
        )
    best, worst = weights.of_features(options.label, options.top)
    transitions = weights.of_transitions(options.label, options.top)
    return {
        "label": options.label,
        "for": [row._asdict() for row in best],
        "against": [row._asdict() for row in worst],
        "transitions": [row._asdict() for row in transitions],
        "edges": [
            row._asdict() for row in weights.of_edges(options.label, options.top)
        ],
    }


def _label_text(found):
    parts = []
    for title, key in (
        (f"speaks for {found['label']}", "for"),
        (f"speaks against {found['label']}", "against"),
        ("transition", "transitions"),
        ("transition with words", "edges"),
    ):
        rows = [(row["name"], row["weight"], row["std"]) for row in found[key]]
        if not rows and key in ("transitions", "edges"):
            continue
        parts.append(table(rows, [title, "weight", "std"], [None, "+.4f", ".4f"]))
    return "\n\n".join(parts)


def _sentence(model, pipeline, options):
    """Return the tokens to explain."""
    if options.tokens is None:
        return _sentence_of_file(model, pipeline, options)
    n_columns = needed_columns(pipeline[0].templates_)
    tokens = [
        tuple(text.rsplit("/", n_columns - 1)) if n_columns > 1 else (text,)
        for text in options.tokens.split()
    ]
    short = [token for token in tokens if len(token) < n_columns]
    if short:
        names = "/".join(pipeline[0].columns_[:n_columns])
        raise ValueError(
            f"the model looks at {n_columns} columns; write each word as {names}, "
            f"not as {'/'.join(short[0])!r}"
        )
    if not tokens:
        raise ValueError("--tokens holds no words")
    return tokens


def _sentence_of_file(model, pipeline, options):
    from skcw.cli.inputs import check_file, for_model, open_input

    before, wanted = 0, options.sentence or 0
    features = pipeline[0].extractor_
    reading = getattr(model, "reading_", None)
    tokenizer = pipeline.text_reading()["tokenizer"]
    corpus = open_input(options.file, options, reading, tokenizer)
    for _, block in corpus.unlabeled():
        block = for_model(corpus, block, features)
        if not before:
            check_file(features, block, options.file, "inspect")
        if wanted < before + len(block):
            return block[wanted - before]
        before += len(block)
    raise ValueError(
        f"{options.file} has {before} sentences; there is no sentence "
        f"{wanted} (the first is 0)"
    )


def _explanation(pipeline, sentence, options):
    """Return what decides on each word, or on the one asked for."""
    learner = _learner(pipeline)
    if not hasattr(learner, "explain"):
        raise ValueError(
            f"a {type(learner).__name__} cannot explain its labels; --label "
            "lists its weights"
        )
    if options.at is not None and options.at >= len(sentence):
        raise ValueError(
            f"the sentence has {len(sentence)} words; there is no word {options.at} "
            "(the first is 0)"
        )
    # What is built around the learner need not know how to explain a label.
    features = pipeline[0].transform([sentence])
    found = [
        {
            "at": at,
            "word": token[0],
            **explained._asdict(),
            "contributions": [part._asdict() for part in explained.contributions],
        }
        for at, (token, explained) in enumerate(
            zip(sentence, learner.explain(features), strict=True)
        )
    ]
    return found if options.at is None else [found[options.at]]


def _explanation_text(found, options):
    if options.at is not None:
        return _one_word_text(found[0], options.top)
    rows = [
        (
            word["at"],
            word["word"],
            word["label"],
            word["rival"],
            word["margin"],
            word["std"],
            ", ".join(p["feature"] for p in word["contributions"][:3]),
        )
        for word in found
    ]
    headers = ["at", "word", "label", "rival", "margin", "std", "decided by"]
    return table(rows, headers, [None, None, None, None, ".3f", ".3f", None])


def _one_word_text(word, top):
    rows = [
        (part["feature"], part["value"], part["std"])
        for part in word["contributions"][:top]
    ]
    rest = sum(part["value"] for part in word["contributions"][top:])
    if len(word["contributions"]) > top:
        rows.append((f"{len(word['contributions']) - top} more", rest, None))
    rows.append(("margin", word["margin"], word["std"]))
    title = f"{word['word']}: {word['label']} rather than {word['rival']}"
    return table(rows, [title, "adds", "std"], [None, "+.4f", ".4f"])


def _overview(model, pipeline, options):
    from skcw.cli.inputs import layers
    from skcw.evaluation.tables import LearnedWeights

    around = *layers(model), *layers(pipeline.tagger)
    tagger, features = _learner(pipeline), pipeline[0]
    weights = LearnedWeights(tagger)
    return {
        "model": options.model,
        "learner": type(tagger).__name__,
        "calibrated": any(hasattr(part, "tagger_") for part in around),
        "parameters": tagger.get_params(),
        "features": _lines(features),
        "columns": features.extractor_.columns,
        "n_features": features.n_features_out_,
        "n_weights": int((weights.features != 0).sum()) + len(weights.edges),
        "passes": tagger.n_iter_,
        "pass_kept": kept_passes(tagger),
        "labels": {
            label: [row._asdict() for row in weights.of_features(label, 3)[0]]
            for label in weights.labels
        },
    }


def _lines(features):
    """Return a ready set or lines; of joined features, the names of the parts."""
    given = features.get_params(deep=False)
    if "parts" in given:
        return " + ".join(name for name, _ in given["parts"])
    return given["features"]


def _overview_text(found):
    features = found["features"]
    rows = [
        ("model", found["model"]),
        ("learner", found["learner"] + ", calibrated" * found["calibrated"]),
        ("features", features if isinstance(features, str) else len(features)),
        ("columns", ", ".join(found["columns"])),
        ("feature values", found["n_features"]),
        ("weights", found["n_weights"]),
        ("passes", found["passes"]),
    ]
    if found["pass_kept"] is not None:
        rows.append(("pass kept", kept_text(found["pass_kept"], found["passes"])))
    if "reranker" in found:
        rows += reranker_rows(found["reranker"])
    labels = [
        (label, ", ".join(row["name"] for row in best))
        for label, best in found["labels"].items()
    ]
    parts = [table(rows, ()), table(labels, ["label", "strongest features"])]
    if "reranker" in found:
        parts.append(features_table(found["reranker"]["features"]))
    return "\n\n".join(parts)
