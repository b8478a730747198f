"""``skcw.load``: open a saved tagger, calibrated or selective, or a pipeline."""

from skcw._persistence import read_model
from skcw.calibration._tagger import restored_model
from skcw.guarantee._tagger import outside_in


def load(path):
    """Return what was saved in a file: a tagger, or a pipeline with its features.

    Parameters
    ----------
    path : str or path-like
        A file that ``save`` of a tagger or of a ``TaggingPipeline`` wrote. Its
        arrays are mapped into memory: keep it while the model is in use.

    Returns
    -------
    model : BaseSequenceTagger or TaggingPipeline
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
    return outside_in(restored_model(path, *read_model(path)))
