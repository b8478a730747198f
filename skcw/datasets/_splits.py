"""Parts of a corpus, and its description."""


def splits_of(source, subset):
    """Return the splits that a subset consists of."""
    known = list(source.original)
    usual = [split for split in known if split in ("train", "dev", "test")]
    if subset == "all":
        return usual
    if subset not in known:
        raise ValueError(f"subset must be one of {[*known, 'all']}, got {subset!r}.")
    return [subset]


def description(source, about):
    """Return the text for DESCR."""
    return (
        f"{source.title}\n{'=' * len(source.title)}\n\n{about.strip()}\n\n"
        f"From: {source.origin}\nTerms of use: {source.terms}.\n"
    )
