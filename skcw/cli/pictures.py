"""What ``skcw inspect`` tells about a model whose labelings are reranked."""

from pathlib import Path

from skcw.cli.messages import UsageError, table

ENDINGS = ("png", "svg", "pdf")


def check_picture(options, explains):
    """Raise unless there is one thing to draw, and a file that can hold it.

    Parameters
    ----------
    options : argparse.Namespace
        With ``plot``, ``label`` and ``at``.
    explains : bool
        Whether words are explained.
    """
    if Path(options.plot).suffix.lstrip(".").lower() not in ENDINGS:
        raise UsageError(
            f"--plot {options.plot}: the ending must be one of {', '.join(ENDINGS)}"
        )
    if explains and options.at is None:
        raise UsageError("--plot draws the decision on one word: say which by --at")
    if explains and options.label is not None:
        raise UsageError("--plot draws either --label or --at, not both")


def draw(options, tagger, explanation):
    """Write the picture of a label, of a decision or of the transitions.

    Parameters
    ----------
    options : argparse.Namespace
        With ``plot``, ``label`` and ``top``.
    tagger : BaseSequenceTagger
        The tagger that has weights.
    explanation : list of dict or None
        The one word to draw, as the command tells it, or None.
    """
    pyplot = _pyplot()
    from skcw.display import TransitionsDisplay, WeightsDisplay

    if explanation is not None:
        word = explanation[0]
        display = WeightsDisplay.from_explanation(
            _as_explained(word), word=word["word"], top=options.top
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
        raise ValueError("--plot needs matplotlib: pip install 'skcw[plot]'") from None
    # There may be no screen, and none is needed for a file.
    mpl.use("Agg")
    import matplotlib.pyplot as pyplot

    return pyplot


def _as_explained(word):
    """Return what the command tells of a word as the tagger has told it."""
    from skcw.tagging.explanation import Contribution, TokenExplanation

    parts = tuple(Contribution(**part) for part in word["contributions"])
    told = {name: word[name] for name in ("label", "rival", "margin", "std")}
    return TokenExplanation(**told, contributions=parts)


class RerankedModel:
    """The reranker of a model, as tables show it.

    Parameters
    ----------
    tagger : RerankedTagger
        The fitted tagger.
    features : callable, default=None
        What makes features of sentences if the tagger does not read words itself.

    Examples
    --------
    >>> from skcw import RerankedTagger
    >>> from skcw.cli.pictures import RerankedModel
    >>> from skcw.datasets import make_tagged_corpus
    >>> from skcw.pipeline import make_tagging_pipeline
    >>> X, y = make_tagged_corpus(60, random_state=0, return_X_y=True)
    >>> tagger = RerankedTagger(make_tagging_pipeline("ner"), cv=2, held_out_folds=0)
    >>> RerankedModel(tagger.fit(X, y)).overview(3)["learner"]
    'CWReranker'
    """

    def __init__(self, tagger, features=None):
        self.tagger, self.features = tagger, features

    def overview(self, top):
        """Return the learner, its settings and the strongest features."""
        reranker, names = self.tagger.reranker_, self.tagger.global_features_
        coef = reranker.coef_
        order = sorted(range(len(coef)), key=lambda k: -abs(coef[k]))[:top]
        return {
            "learner": type(reranker).__name__,
            "parameters": reranker.get_params(),
            "reranks": self.tagger.reranks_,
            "trials": [trial._asdict() for trial in self.tagger.trials_],
            "n_best": self.tagger.n_best,
            "n_features": len(coef),
            "score_weight": reranker.score_coef_,
            "features": [
                {"name": names.vocabulary_[k], "weight": float(coef[k])}
                for k in order
                if coef[k]
            ],
        }

    def explain(self, sentence):
        """Return why the labels of a sentence were chosen, as plain values."""
        rows = sentence if self.features is None else self.features([sentence])
        choice = self.tagger.explain_choice(rows)
        found = choice._asdict()
        for side in ("gained", "lost"):
            found[side] = [{"name": n, "weight": w} for n, w in found[side]]
        words = [token if isinstance(token, str) else token[0] for token in sentence]
        return {"words": words, **found, "advantage": choice.advantage}

    def text(self, choice, top):
        """Return what ``explain`` returned in words."""
        if choice["labels"] == choice["base_labels"]:
            return "The reranker leaves the labels as they are."
        pairs = zip(choice["labels"], choice["base_labels"], strict=True)
        rows = [
            (at, choice["words"][at], new, old)
            for at, (new, old) in enumerate(pairs)
            if new != old
        ]
        changed = table(rows, ["at", "word", "reranked", "before"])
        reasons = [(f["name"], f["weight"]) for f in choice["gained"]]
        reasons += [(f"no {f['name']}", -f["weight"]) for f in choice["lost"]]
        reasons.sort(key=lambda row: -abs(row[1]))
        rest = sum(weight for _, weight in reasons[top:])
        reasons = [("score of the tagger", choice["score"]), *reasons[:top]]
        if rest:
            reasons.append(("further features", rest))
        reasons.append(("advantage", choice["advantage"]))
        return f"{changed}\n\n{table(reasons, ['why', 'adds'], [None, '+.4f'])}"


def reranker_rows(found):
    """Return what the overview of a model says of its reranker."""
    rows = [
        ("reranker", f"{found['learner']}, of the {found['n_best']} best labelings"),
        ("global features", found["n_features"]),
        ("weight of the score", f"{found['score_weight']:.4g}"),
    ]
    if found["trials"]:
        best = max(found["trials"], key=lambda trial: trial["score"])
        scores = f"{best['score']:.4f}, tagger alone {best['base_score']:.4f}"
        rows.append(("on held-out sentences", f"{scores}, {_verdict(found, best)}"))
    return rows


def _verdict(found, best):
    """Tell in words what was made of the evidence."""
    if found["reranks"]:
        return f"{best['evidence']:.1f} deviations above it"
    return "too little to rerank"


def features_table(features):
    """Return the table of global features with their weights."""
    rows = [(row["name"], row["weight"]) for row in features]
    return table(rows, ["strongest global features", "weight"], [None, "+.4f"])
