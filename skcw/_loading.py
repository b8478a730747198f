"""``skcw.load``: open a saved tagger of any kind, a pipeline or a reranker."""

from skcw._persistence import read_model
from skcw.calibration._tagger import restored_model
from skcw.guarantee._tagger import outside_in
from skcw.reranking import BaseReranker


def load(path):
    """Return what was saved in a file: a tagger, a pipeline or a reranker.

    Parameters
    ----------
    path : str or path-like
        A file that ``save`` of a tagger, of a ``TaggingPipeline`` or of a reranker
        wrote. Its arrays are mapped into memory: keep it while the model is in use.

    Returns
    -------
    model : BaseSequenceTagger, TaggingPipeline or BaseReranker
        The fitted model, of the class that was saved.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import skcw
    >>> X, y = [["Ann", "left"]], [["B-PER", "O"]]
    >>> pipeline = skcw.make_tagging_pipeline(["word"]).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "names.skcw"
    ...     pipeline.save(path)
    ...     skcw.load(path).predict_single(["Ann"])
    ['B-PER']
    """
    header, arrays = read_model(path)
    if "reranker" in header:
        return BaseReranker._from_model(path, header, arrays)
    model = outside_in(restored_model(path, header, arrays))
    if "reading" in header:
        model.reading_ = header["reading"]
    return model
