"""Pictures of the benchmark of active learning."""

from _pictures import new_figure, save_picture

COLOURS = ("0.45", "#0072B2", "#56B4E9", "#E69F00", "#D55E00")
# Of the sequences; with few fits, and so few points, they are dashed.
STYLES = {
    "random": {"color": "0.45"},
    "KD-PC": {"color": "#0072B2"},
    "KD-Fixed": {"color": "#56B4E9"},
    "MinMargin": {"color": "#E69F00"},
    "MinConfMargin": {"color": "#D55E00"},
    "best": {"color": "#009E73"},
    "best (20 fits)": {"color": "#009E73", "linestyle": "--", "marker": "."},
    "CRF (20 fits)": {"color": "#CC79A7", "linestyle": "--", "marker": "."},
    "CRF sentence (20 fits)": {"color": "black", "linestyle": "--", "marker": "."},
}
SHORT = 10_000


def draw(found, folder):
    """Draw the parts that there are."""
    if "rows" in found:
        _rows(found["rows"], folder / "active-rows.png")
    if "sequences" in found:
        _sequences(found["sequences"], folder / "active-sequences.png")


def _rows(found, path):
    """Draw accuracy against labels, for news and for all tasks, and the scatter."""
    figure = new_figure(figsize=(12, 4))
    if figure is None:
        return
    news, every, scatter = figure.subplots(1, 3)
    tasks = found["tasks"]
    of_news = {name: t for name, t in tasks.items() if name.startswith("news")}
    for ax, own, title in (
        (news, of_news, "20 Newsgroups"),
        (every, tasks, "all tasks"),
    ):
        if own:
            _accuracy(ax, own.values(), f"{title} ({len(own)})")
    for name, task in tasks.items():
        needed = task["needed"]
        if None in (needed["CW Random"], needed["CW Margin"], needed["ACL"]):
            continue
        x, y = (needed[n] / needed["CW Random"] for n in ("ACL", "CW Margin"))
        scatter.plot(x, y, "o", color=COLOURS[1])
        scatter.annotate(
            name, (x, y), fontsize=6, xytext=(3, 3), textcoords="offset points"
        )
    top = max(scatter.get_xlim()[1], scatter.get_ylim()[1], 1.1)
    scatter.plot([0, top], [0, top], color="0.6", linewidth=0.8)
    scatter.set(
        xlabel="labels of ACL / CW Random",
        ylabel="labels of CW Margin / CW Random",
        title="above the line ACL needs fewer",
    )
    save_picture(figure, path)


def _accuracy(ax, tasks, title):
    tasks = list(tasks)
    for color, name in zip(COLOURS, tasks[0]["curves"], strict=True):
        curves = [task["curves"][name] for task in tasks]
        n = min(len(curve["accuracy"]) for curve in curves)
        mean = [sum(c["accuracy"][i] for c in curves) / len(curves) for i in range(n)]
        label = f"{name} {mean[-1]:.3f}"
        ax.plot(curves[0]["n_labels"][:n], mean, color=color, label=label)
    for learner, style in (("CW", "-"), ("PA", "--")):
        full = sum(task["full"][learner] for task in tasks) / len(tasks)
        ax.axhline(full, color="0.6", linewidth=0.8, linestyle=style)
    ax.set(xlabel="labels", ylabel="accuracy", title=title)
    ax.legend(fontsize="small")


def _sequences(found, path):
    """Draw F against words: up to 10,000 above, all of it below."""
    figure = new_figure(figsize=(4 * len(found["sets"]), 7))
    if figure is None:
        return
    axes = figure.subplots(2, len(found["sets"]), squeeze=False)
    for column, (name, one) in enumerate(found["sets"].items()):
        for row, ax in enumerate(axes[:, column]):
            _curves(ax, one, SHORT if row == 0 else None)
            ax.set(xlabel="words labeled", ylabel="F", title=name)
            ax.locator_params(axis="x", nbins=5)
    axes[0, 0].legend(fontsize="small")
    save_picture(figure, path, n_colors=256)


def _curves(ax, one, most):
    lows = []
    for name, s in one["strategies"].items():
        points = [
            (x, y, low, high)
            for x, y, low, high in zip(
                s["n_words"], s["f"], s["low"], s["high"], strict=True
            )
            if (x <= most * 1.2 if most else x >= SHORT * 0.8)
        ]
        if not points:
            continue
        x, y, low, high = zip(*points, strict=True)
        ax.plot(x, y, label=name, linewidth=1.2, markersize=4, **STYLES[name])
        color = STYLES[name]["color"]
        ax.fill_between(x, low, high, color=color, alpha=0.12, linewidth=0)
        lows += y
    if most:
        ax.set_xlim(0, most)
        ax.set_ylim(bottom=min(lows, default=0))
    full = sum(one["full_f"]) / len(one["full_f"])
    for share, style in ((1.0, "-"), (0.98, ":")):
        ax.axhline(share * full, color="0.6", linewidth=0.8, linestyle=style)
