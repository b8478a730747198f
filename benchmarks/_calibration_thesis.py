"""The table and the curves of the thesis: HMM, CRF-basic, CRF-rich, and CW."""

from _calibration_corpora import ARK, EWT, SOURCES, load_tagged
from _calibration_models import (
    BASIC,
    CW,
    FITTED,
    HEADER,
    HMM,
    HMM_PLAIN,
    ITERATIONS,
    MODELS,
    PASSES,
    PENALTIES,
    QUICK_RESAMPLES,
    RESAMPLES,
    RICH,
    asked,
    cells,
    judged,
)
from _measure import progress
from _pictures import new_figure, save_picture
from _tables import format_table

FIGURE = "calibration-curves.png"
# What curves are made of; those of a run that does not say so are older.
ADAPTIVE, UNIFORM = "the same adaptive bins", "10 bins of equal width"
DRAWN = (HMM, BASIC, RICH, f"{CW}, marginal{FITTED}")
# What the thesis reports; most likely roots, for a count HMM has a CalibMSE of .001.
THESIS = {EWT: {HMM: 0.035, BASIC: 0.019}, ARK: {}}
# Its ratios on tweets: row, divided by which row, about how much.
RATIOS = (
    (EWT, BASIC, HMM, 0.019 / 0.035),
    (ARK, BASIC, HMM, 0.5),
    (ARK, RICH, BASIC, 0.5),
)
NOTE = f"""\
CalibMSE over bins of the root of the number of words, its root, and the interval of
the root: of words that are asked "is it this part of speech?", and of "is the
predicted label right?". HMM: by counts; of new words their spelling tells or (no
spelling) their neighbors alone. CRFs: CRFsuite, L-BFGS, {ITERATIONS} iterations at
most, c2 of {PENALTIES} by the likelihood of the development part;
basic: transitions and the word; rich: the set "pos". CW: the same features, {PASSES}
passes, scales and temperatures as they come, or fitted to the log-loss of the
development part; delta-probit tells of predicted labels only. The thesis's figures
are of its own data and most likely roots."""


def run(settings):
    """Return what every model is worth on both corpora; draw the curves."""
    corpora, answers = {}, {}
    for source in SOURCES:
        corpus = load_tagged(source, settings)
        rows, answers[source] = {}, {}
        for name in MODELS:
            progress(f"thesis: {name} on {corpus.name}, {corpus.size[0]} words")
            for row, questions in asked(name, corpus, settings).items():
                rows[row] = judged(questions, corpus.query, settings.quick)
                if row in DRAWN:
                    answers[source][row] = questions[corpus.query]
        corpora[source] = {
            "corpus": corpus.name,
            "query": corpus.query,
            "size": list(corpus.size),
            "rows": rows,
        }
    _draw(corpora, answers, settings)
    return {"quick": settings.quick, "corpora": corpora, "curves": ADAPTIVE}


def _draw(corpora, answers, settings):
    figure = new_figure(figsize=(11, 6))
    if figure is None:
        return
    from skcw.display import ConfidenceCalibrationDisplay

    panels = figure.subplots(1, len(corpora))
    for panel, (source, models) in zip(panels, answers.items(), strict=True):
        about = corpora[source]
        for name, one in models.items():
            ConfidenceCalibrationDisplay.from_predictions(
                one.correct,
                one.confidence,
                groups=one.groups,
                n_resamples=QUICK_RESAMPLES if settings.quick else RESAMPLES,
                name=name,
                query=about["query"],
                ax=panel,
            )
        panel.set_title(f"{about['corpus']}: is it {about['query']}?")
    save_picture(figure, settings.output / FIGURE)


def render(found):
    """Return the results as text."""
    texts = ["The taggers of the thesis"]
    if found["quick"]:
        texts[0] += " (quick: a subset, no measurement)"
    for source, about in found["corpora"].items():
        learned, tested = about["size"]
        title = f"{about['corpus']}: {learned} words to learn from, {tested} asked "
        texts.append(title + f'"{about["query"]}?" and "right?"')
        thesis = THESIS[source]
        rows = [
            [name, *cells(one), f"{thesis[name]:.3f}" if name in thesis else "-"]
            for name, one in about["rows"].items()
        ]
        texts.append(format_table(["", *HEADER, "thesis"], rows))
    curves = f"Curves: {FIGURE}, from {found.get('curves', UNIFORM)}."
    texts += [_ratios(found["corpora"]), NOTE, curves]
    return "\n\n".join(texts)


def _ratios(corpora):
    rows = []
    for source, name, other, thesis in RATIOS:
        models = corpora[source]["rows"]
        over = [f"{_ratio(models, name, base):.2f}" for base in _bases(other)]
        what = f"{corpora[source]['corpus']}: {name} over {other}"
        rows.append([what, *over, *["-"] * (2 - len(over)), f"about {thesis:.2f}"])
    header = ["ratio of roots", "ours", f"over {HMM_PLAIN}", "thesis"]
    return format_table(header, rows)


def _bases(other):
    return (HMM, HMM_PLAIN) if other == HMM else (other,)


def _ratio(models, name, base):
    return models[name]["query"][0] / models[base]["query"][0]
