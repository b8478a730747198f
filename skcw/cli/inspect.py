"""Show weights, and explain labels.

By default, describe the model and name the strongest features of each label. With
--label, list the weights of a label with their standard deviations.

Given words, explain their labels: each label is compared with its best rival, and the
deciding features are listed with what they add to the margin between the two. With
--at, list all of them for one word. For a reranked tagger these are the labels of the
tagger inside, after the features that decided between the labelings.

Examples
--------
  skcw inspect names.skcw
  skcw inspect names.skcw --label B-PER --top 10
  skcw inspect names.skcw --tokens "Anna/NNP left/VBD Madrid/NNP"
  skcw inspect names.skcw test.conll --sentence 3 --at 0 --json
  skcw inspect names.skcw --label B-PER --plot weights.png
"""

from pathlib import Path

from skcw._util.text_table import aligned
from skcw.cli.inputs import (
    check_file,
    for_model,
    load_model,
    needed_columns,
    open_input,
)
from skcw.cli.learners import kept_passes, kept_text
from skcw.cli.messages import UsageError, check_readable, report
from skcw.cli.options import (
    LEARNED_COLUMNS,
    add_file,
    add_json,
    add_label_column,
    add_model,
    add_number,
    add_reading,
    command_parser,
)

ENDINGS = ("png", "svg", "pdf")


def add_parser(commands):
    """Add the command to a command line."""
    parser = command_parser(commands, "inspect", run)
    add_model(parser)
    add_file(parser, "file", "a file with words to explain", nargs="?")
    parser.add_argument(
        "--tokens",
        metavar="WORDS",
        help="words to explain, separated by blanks; other columns follow after "
        "slashes: Madrid/NNP",
    )
    parser.add_argument(
        "--label", metavar="LABEL", help="list the weights of this label"
    )
    text = "how many rows to show (default: 20)"
    add_number(parser, "--top", text=text, default=20)
    text = "which sentence of FILE, counted from 0 (default: 0)"
    add_number(parser, "--sentence", text=text, least=0)
    text = "explain only this word, counted from 0"
    add_number(parser, "--at", text=text, least=0)
    add_label_column(
        parser,
        "leave out this column of FILE, which holds true labels; the first is 0, the "
        "last -1",
    )
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help="draw it, too: the transitions; with --label the weights of the label; "
        "with --at the decision on the word. The ending is png, svg or pdf",
    )
    add_json(parser)
    add_reading(parser, LEARNED_COLUMNS)


def run(options):
    """Describe a model or explain labels, and report."""
    if options.file is not None and options.tokens is not None:
        raise UsageError("give either FILE or --tokens")
    explains = options.file is not None or options.tokens is not None
    if options.at is not None and not explains:
        raise UsageError("--at needs FILE or --tokens")
    if options.sentence is not None and options.file is None:
        raise UsageError("--sentence needs FILE")
    # Parameters, history, explanations and standard deviations are the estimator's:
    # the light `skcw.InferenceModel`, which can only answer, has none of them.
    check_readable(options, options.model, options.file)
    model, pipeline = load_model(options.model)
    if options.plot is not None:
        _check_picture(options, explains)
    reranked, result, texts = _reranked(model, pipeline), {}, []
    decided = None
    if options.label is not None:
        result["weights"] = _label_weights(_learner(pipeline), options)
        texts.append(_label_text(result["weights"]))
    if explains:
        sentence = _sentence(model, pipeline, options)
        if reranked is not None:
            result["choice"] = _choice(reranked, sentence)
            texts.append(_choice_text(result["choice"], options.top))
        decided = _explained(pipeline, sentence, options)
        result["explanation"] = found = [_as_row(*word) for word in decided]
        one = options.at is not None
        texts.append(_one_text(found[0], options.top) if one else _all_text(found))
    if not result:
        result = _overview(model, pipeline, options)
        if reranked is not None:
            result["reranker"] = _reranker_overview(reranked[0], options.top)
        texts.append(_overview_text(result))
    if options.plot is not None:
        _draw(options, _learner(pipeline), decided)
    report(options, result, "\n\n".join(texts))


def _learner(pipeline):
    """Return the tagger that has weights; others are built around it."""
    from skcw.tagging.base import layers

    *_, learner = layers(pipeline.tagger)
    return learner


def _reranked(model, pipeline):
    """Return the reranked tagger in a model and what makes its features, or None."""
    from skcw.tagging.base import layers

    around = [(part, None) for part in layers(model)]
    inside = [(part, pipeline[0].transform) for part in layers(pipeline.tagger)]
    found = (pair for pair in around + inside if hasattr(pair[0], "reranker_"))
    return next(found, None)


def _label_weights(tagger, options):
    from skcw.evaluation.tables import LearnedWeights

    weights = LearnedWeights(tagger)
    if options.label not in weights.labels:
        raise ValueError(
            f"the model has no label {options.label!r}; it has "
            f"{', '.join(weights.labels)}"
        )
    asked = options.label, options.top
    best, worst = weights.of_features(*asked)
    found = {
        "for": best,
        "against": worst,
        "transitions": weights.of_transitions(*asked),
        "edges": weights.of_edges(*asked),
    }
    rows = {key: [row._asdict() for row in rows] for key, rows in found.items()}
    return {"label": options.label, **rows}


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
        parts.append(aligned(rows, [title, "weight", "std"], [None, "+.4f", ".4f"]))
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


def _explained(pipeline, sentence, options):
    """Return place, word and explanation of each label, or of the one asked for."""
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
    # Wrappers of the learner need not be able to explain a label.
    explained = learner.explain(pipeline[0].transform([sentence]))
    words = [token[0] for token in sentence]
    found = list(zip(range(len(words)), words, explained, strict=True))
    return found if options.at is None else [found[options.at]]


def _as_row(at, word, explained):
    parts = [part._asdict() for part in explained.contributions]
    return {"at": at, "word": word, **explained._asdict(), "contributions": parts}


def _all_text(found):
    headers = ["at", "word", "label", "rival", "margin"]
    rows = [
        (
            *(word[name] for name in headers),
            ", ".join(part["feature"] for part in word["contributions"][:3]),
        )
        for word in found
    ]
    formats = [None, None, None, None, ".3f", None]
    return aligned(rows, [*headers, "decided by"], formats)


def _one_text(word, top):
    parts = word["contributions"]
    rows = [(part["feature"], part["value"]) for part in parts[:top]]
    if len(parts) > top:
        rest = sum(part["value"] for part in parts[top:])
        rows.append((f"{len(parts) - top} more", rest))
    rows.append(("margin", word["margin"]))
    title = f"{word['word']}: {word['label']} rather than {word['rival']}"
    return aligned(rows, [title, "adds"], [None, "+.4f"])


def _overview(model, pipeline, options):
    from skcw.evaluation.tables import LearnedWeights
    from skcw.tagging.base import WrappedTagger, layers

    around = *layers(model), *layers(pipeline.tagger)
    tagger, features = _learner(pipeline), pipeline[0]
    weights = LearnedWeights(tagger)
    return {
        "model": options.model,
        "learner": type(tagger).__name__,
        "calibrated": any(isinstance(part, WrappedTagger) for part in around),
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
        rows += _reranker_rows(found["reranker"])
    labels = [
        (label, ", ".join(row["name"] for row in best))
        for label, best in found["labels"].items()
    ]
    parts = [aligned(rows, ()), aligned(labels, ["label", "strongest features"])]
    if "reranker" in found:
        features = [tuple(row.values()) for row in found["reranker"]["features"]]
        headers = ["strongest global features", "weight"]
        parts.append(aligned(features, headers, [None, "+.4f"]))
    return "\n\n".join(parts)


def _reranker_overview(tagger, top):
    """Return the learner of a reranked tagger and its strongest features."""
    reranker, names = tagger.reranker_, tagger.global_features_
    coef = reranker.coef_
    order = sorted(range(len(coef)), key=lambda k: -abs(coef[k]))[:top]
    return {
        "learner": type(reranker).__name__,
        "parameters": reranker.get_params(),
        "reranks": tagger.reranks_,
        "trials": [trial._asdict() for trial in tagger.trials_],
        "n_best": tagger.n_best,
        "n_features": len(coef),
        "score_weight": reranker.score_coef_,
        "features": [
            {"name": names.vocabulary_[k], "weight": float(coef[k])}
            for k in order
            if coef[k]
        ],
    }


def _choice(reranked, sentence):
    """Return why the labels of a sentence were chosen, as plain values."""
    tagger, features = reranked
    choice = tagger.explain_choice(features([sentence]) if features else sentence)
    found = choice._asdict()
    for side in ("gained", "lost"):
        found[side] = [{"name": n, "weight": w} for n, w in found[side]]
    words = [token if isinstance(token, str) else token[0] for token in sentence]
    return {"words": words, **found, "advantage": choice.advantage}


def _choice_text(choice, top):
    """Return the same in words."""
    if choice["labels"] == choice["base_labels"]:
        return "The reranker leaves the labels as they are."
    pairs = zip(choice["words"], choice["labels"], choice["base_labels"], strict=True)
    rows = [(at, *three) for at, three in enumerate(pairs) if three[1] != three[2]]
    changed = aligned(rows, ["at", "word", "reranked", "before"])
    reasons = [(f["name"], f["weight"]) for f in choice["gained"]]
    reasons += [(f"no {f['name']}", -f["weight"]) for f in choice["lost"]]
    reasons.sort(key=lambda row: -abs(row[1]))
    rest = sum(weight for _, weight in reasons[top:])
    reasons = [("score of the tagger", choice["score"]), *reasons[:top]]
    if rest:
        reasons.append(("further features", rest))
    reasons.append(("advantage", choice["advantage"]))
    return f"{changed}\n\n{aligned(reasons, ['why', 'adds'], [None, '+.4f'])}"


def _reranker_rows(found):
    """Return the rows of the overview about the reranker."""
    rows = [
        ("reranker", f"{found['learner']}, of the {found['n_best']} best labelings"),
        ("global features", found["n_features"]),
        ("weight of the score", f"{found['score_weight']:.4g}"),
    ]
    if found["trials"]:
        best = max(found["trials"], key=lambda trial: trial["score"])
        scores = f"{best['score']:.4f}, tagger alone {best['base_score']:.4f}"
        better = f"{best['evidence']:.1f} deviations above it"
        verdict = better if found["reranks"] else "too little to rerank"
        rows.append(("on held-out sentences", f"{scores}, {verdict}"))
    return rows


def _check_picture(options, explains):
    """Raise unless there is one thing to draw, and a file that can hold it."""
    if Path(options.plot).suffix.lstrip(".").lower() not in ENDINGS:
        raise UsageError(
            f"--plot {options.plot}: the ending must be one of {', '.join(ENDINGS)}"
        )
    if explains and options.at is None:
        raise UsageError("--plot draws the decision on one word: say which by --at")
    if explains and options.label is not None:
        raise UsageError("--plot draws either --label or --at, not both")


def _draw(options, tagger, decided):
    """Write the picture of a label, of a decision or of the transitions."""
    pyplot = _pyplot()
    from skcw.display import TransitionsDisplay, WeightsDisplay

    if decided is not None:
        ((_, word, explained),) = decided
        display = WeightsDisplay.from_explanation(
            explained, token=word, top=options.top
        )
    elif options.label is not None:
        display = WeightsDisplay.from_estimator(tagger, options.label, top=options.top)
    elif not hasattr(tagger, "transition_coef_"):
        raise ValueError(
            f"a {type(tagger).__name__} has no weights of transitions to draw; give "
            "--label"
        )
    else:
        display = TransitionsDisplay.from_estimator(tagger)
    display.figure_.savefig(options.plot, dpi=150)
    pyplot.close(display.figure_)


def _pyplot():
    try:
        import matplotlib as mpl
    except ImportError:
        text = "--plot needs matplotlib: pip install matplotlib (extra plot)"
        raise ValueError(text) from None
    # There may be no screen, and none is needed for a file.
    mpl.use("Agg")
    import matplotlib.pyplot as pyplot

    return pyplot
