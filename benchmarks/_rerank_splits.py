"""The gain of reranking over the CW tagger on several random splits."""

from statistics import mean, stdev

from _corpora import MADE
from _measure import progress
from _rerank_lists import LANGUAGES, lists_to_choose_by, make_lists, read, split
from _rerank_models import TEMPLATES, Ranked, grids, reduction, scores
from _tables import at_least, format_goals, format_table

# Sentences of a split, training and test together.
N_SENTENCES = 6000


def run(settings):
    """Return base and reranked F1 of every split."""
    languages = list(LANGUAGES)
    if settings.quick or settings.data_home is None:
        languages = [MADE]
    found = {}
    for language in languages:
        tokens, labels = read(language, settings, "train")
        rows, chosen = [], {}
        for seed in range(settings.splits):
            parts = split(tokens, labels, seed, N_SENTENCES)
            rows.append(_one(parts, chosen, settings.quick))
            progress(f"split {seed} of {language}: {rows[-1]}")
        found[language] = rows
    return {"quick": settings.quick, "splits": found}


def _one(parts, chosen, quick):
    """Return F1 of one split; the first one chooses the settings of all.

    It does so on a part of its training sentences that is held out.
    """
    templates = TEMPLATES["entities"]
    ranked = Ranked(make_lists("CW", "entities", *parts), templates)
    if not chosen:
        trial = Ranked(lists_to_choose_by("CW", "entities", parts[0]), templates)
        chosen |= {name: trial.chosen(grid) for name, grid in grids(quick).items()}
    row = {"base": scores(ranked.test, ranked.true, [0] * len(ranked.test))["F"]}
    for name, reranker in chosen.items():
        row[name] = ranked.scored(reranker)["F"]
    return row


def render(found):
    """Return the splits as tables."""
    blocks, goals = [], []
    for language, rows in found["splits"].items():
        names = [name for name in rows[0] if name != "base"]
        lines = [
            [seed, *(f"{row[name]:.2f}" for name in ["base", *names])]
            for seed, row in enumerate(rows)
        ]
        gains = {name: [row[name] - row["base"] for row in rows] for name in names}
        lines.append(["gain", "", *(_spread(gains[name]) for name in names)])
        less = {n: mean(reduction(r["base"], r[n]) for r in rows) for n in names}
        lines.append(["errors less, %", "", *(f"{less[name]:.1f}" for name in names)])
        blocks.append(f"{language}, entities, CW base: F1 on random splits")
        blocks.append(format_table(["split", "CW alone", *names], lines))
        for name in names:
            least = min(gains[name])
            what = f"{language}: least gain of {name} in F over all splits"
            goals.append(at_least(what, least, 0.0, ".2f"))
    return "\n\n".join([*blocks, format_goals(goals, found["quick"])])


def _spread(values):
    deviation = stdev(values) if len(values) > 1 else 0.0
    return f"{mean(values):+.2f} ± {deviation:.2f}"
