"""``skcw.load``: open a saved tagger of any kind, a pipeline or a classifier."""

import os

from skcw.calibration.calibrated_tagger import restored_model
from skcw.calibration.selective_tagger import outside_in
from skcw.exceptions import ModelFileError
from skcw.io.model_files import naming, read_model
from skcw.linear_model.saving import KIND, restored_classifier
from skcw.reranking import BaseReranker


def load(path, *, mapped=False):
    """Return what was saved in a file: a tagger, a pipeline, a classifier and so on.

    Opening a model runs no code that is in it. A file that is damaged, or that does not
    fit together, is a ``ModelFileError``; but whoever makes a file decides what the
    model says, so take models from those you trust.

    Parameters
    ----------
    path : str or path-like
        A file that ``save`` of a tagger, of a ``TaggingPipeline``, of a classifier or
        of a reranker wrote.
    mapped : bool, default=False
        Whether to map the arrays into memory instead of reading them. Processes that
        open the same large model then share its memory, but for weights of which only
        those that were touched are in the file: ``save(path, mapped=True)`` stores all.
        The file must stay as it is while one of them lives: to change it in place ends
        them, to replace it as ``save`` does is safe.

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
        header, arrays = read_model(path, mapped=mapped)
    except ModelFileError:
        _refuse_crfsuite(path)
        raise
    if KIND in header:
        with naming(path):
            return restored_classifier(path, header, arrays)
    if "reranker" in header:
        return BaseReranker._from_model(path, header, arrays)
    model = outside_in(restored_model(path, header, arrays))
    if "reading" in header:
        model.reading_ = header["reading"]
    return model


def _refuse_crfsuite(path):
    """Say how to open a model that CRFsuite wrote."""
    if not os.path.isfile(path):
        return
    with open(path, "rb") as file:
        begins = file.read(4)
    if begins == b"lCRF":
        raise ModelFileError(
            f"{path} is a model of CRFsuite; open it with "
            "skcw.CRFSequenceTagger.from_crfsuite"
        )
