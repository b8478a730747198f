"""A pipeline in fewer words."""

from skcw.features import WindowFeatures
from skcw.pipeline._tagging import TaggingPipeline
from skcw.tagging import CWSequenceTagger


def make_tagging_pipeline(features="ner", tagger=None, **options):
    """Return a pipeline of window features and a tagger.

    Parameters
    ----------
    features : str, list or transformer, default="ner"
        A ready set or lines of :class:`skcw.features.WindowFeatures`, or a transformer
        of your own.
    tagger : BaseSequenceTagger, default=None
        The tagger; ``CWSequenceTagger()`` if None.
    **options : dict
        Further parameters of :class:`skcw.features.WindowFeatures`, such as
        ``lexicons`` or ``min_count``.

    Returns
    -------
    pipeline : TaggingPipeline
        With the steps ``features`` and ``tagger``.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skcw import make_tagging_pipeline
    >>> from skcw.datasets import make_tagged_corpus
    >>> X, y = make_tagged_corpus(100, random_state=0, return_X_y=True)
    >>> grid = {"features__min_count": [1, 2], "tagger__phi": [0.5, 1.0]}
    >>> search = GridSearchCV(make_tagging_pipeline("ner"), grid, cv=2).fit(X, y)
    >>> sorted(search.best_params_)
    ['features__min_count', 'tagger__phi']
    """
    if not hasattr(features, "transform"):
        features = WindowFeatures(features, **options)
    elif options:
        raise TypeError(
            f"set {', '.join(options)} on the transformer {features!r} itself"
        )
    tagger = CWSequenceTagger() if tagger is None else tagger
    return TaggingPipeline([("features", features), ("tagger", tagger)])
