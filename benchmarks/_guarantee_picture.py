"""Promised against true risk, and accepted share against an oracle's."""

from _guarantee_risks import MAPIE, OURS, WORDS
from _pictures import new_figure, save_picture

STYLE = {OURS: ("#1f77b4", "o"), WORDS: ("#d62728", "v"), MAPIE: ("#ff9f1c", "s")}


def picture(found, path):
    """Draw broken promises, true risk and accepted share of all pools."""
    figure = new_figure(figsize=(11, 7.5))
    if figure is None:
        return
    rows = [r for r in found["rows"] if (r["alpha"], r["delta"]) == (0.01, 0.05)]
    rows = [r for r in rows if r["sentences"] == 2000]
    pools = list(dict.fromkeys(row["pool"] for row in rows))
    panels = figure.subplots(3, 1, sharex=True)
    _dots(panels[0], rows, pools, lambda row: row["violations"])
    panels[0].axhline(0.05, color="black", linestyle="--", linewidth=0.9)
    panels[0].set_ylabel("broken promises\n(dashed: allowed)")
    _dots(panels[1], rows, pools, lambda row: 100 * row["risk"])
    panels[1].axhline(1.0, color="black", linestyle="--", linewidth=0.9)
    panels[1].set_ylabel("true risk in %, mean\n(dashed: promised)")
    _dots(panels[2], rows, pools, lambda row: row["share"])
    for place, pool in enumerate(pools):
        oracle = next(row["oracle"] for row in rows if row["pool"] == pool)
        panels[2].hlines(oracle, place - 0.4, place + 0.4, color="black", linewidth=1.2)
    panels[2].set_ylabel("accepted share\n(line: oracle)")
    panels[2].set_xticks(range(len(pools)), pools, rotation=20, ha="right")
    for panel in panels:
        panel.grid(axis="y", alpha=0.3)
        panel.set_ylim(bottom=0)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    title = f"1 % risk with 95 % certainty, 2,000 sentences, {found['repeats']} draws"
    panels[0].set_title(title)
    save_picture(figure, path)


def _dots(panel, rows, pools, value):
    for shift, (method, (color, marker)) in enumerate(STYLE.items()):
        own = [row for row in rows if row["method"] == method]
        places = [pools.index(row["pool"]) + 0.22 * (shift - 1) for row in own]
        heights = [value(row) for row in own]
        panel.plot(places, heights, marker, color=color, label=method)
