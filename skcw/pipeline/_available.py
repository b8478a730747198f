"""What a pipeline offers only where its tagger does."""


def tagger_has(name):
    """Return a check whether the tagger of a pipeline has a method."""

    def check(self):
        getattr(self.steps[-1][1], name)
        return True

    return check
