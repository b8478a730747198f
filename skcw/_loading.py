"""``skcw.load``: open a saved tagger of any kind, a pipeline or a classifier."""

from skcw._persistence import read_model
from skcw.calibration._tagger import restored_model
from skcw.exceptions import ModelFileError
from skcw.guarantee._tagger import outside_in
from skcw.linear_model._saving import KIND, restored_classifier
from skcw.reranking import BaseReranker


def load(path):
    """Return what was saved in a file: a tagger, a pipeline, a classifier and so on.

    Parameters
    ----------
    path : str or path-like
        A file that ``save`` of a tagger, of a ``TaggingPipeline``, of a classifier or
        of a reranker wrote. Its arrays are mapped into memory: keep it while the model
        is in use.

    Returns
    -------
    model : BaseSequenceTagger, TaggingPipeline, MultiClass classifier or BaseReranker
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
    try:
        header, arrays = read_model(path)
    except ModelFileError:
        _refuse_crfsuite(path)
        raise
    if KIND in header:
        return restored_classifier(path, header, arrays)
    if "reranker" in header:
        return BaseReranker._from_model(path, header, arrays)
    return outside_in(restored_model(path, header, arrays))


def _refuse_crfsuite(path):
    """Say how to open a model that CRFsuite wrote."""
    with open(path, "rb") as file:
        begins = file.read(4)
    if begins == b"lCRF":
        raise ModelFileError(
            f"{path} is a model of CRFsuite; open it with "
            "skcw.CRFSequenceTagger.from_crfsuite"
        )
