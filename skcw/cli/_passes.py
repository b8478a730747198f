"""Which pass over a corpus was kept."""


def kept_passes(tagger):
    """Return which pass a tagger has kept by its score on a dev file.

    Parameters
    ----------
    tagger : BaseSequenceTagger
        A fitted tagger.

    Returns
    -------
    kept : int, list of int or None
        The pass, from 1 on; one for each of several models; None if nothing was
        judged, or if the last pass is always kept.
    """
    best = {}
    for record in tagger.history_:
        # CRFsuite scores its passes and keeps the last one all the same.
        if "dev_score" not in record or "model" not in record:
            return None
        found = best.setdefault(record["model"], record)
        if record["dev_score"] > found["dev_score"]:
            best[record["model"]] = record
    kept = [record["epoch"] for record in best.values()]
    return kept[0] if len(kept) == 1 else kept or None


def kept_text(kept, passes):
    """Return in words which of how many passes was kept."""
    numbers = [kept] if isinstance(kept, int) else kept
    return f"{', '.join(map(str, numbers))} of {passes}"
