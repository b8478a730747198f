"""Errors and warnings of skcw; each says what is wrong, where, and what to do."""


class SkcwError(Exception):
    """Base of all errors that only skcw raises."""


class ModelFileError(SkcwError, ValueError):
    """A saved model is truncated, too new, or not a skcw model at all."""


class ForeignBatchError(SkcwError, ValueError):
    """A ``SequenceBatch`` was made by an encoder the estimator does not know."""


class ColumnFileError(SkcwError, ValueError):
    """A column file has a line that cannot be read; the message says which."""


class NoLegalLabelingError(SkcwError, ValueError):
    """The constraints allow no labeling at all for a sequence."""


class CheckpointError(SkcwError, ValueError):
    """A checkpoint belongs to other data or parameters, or to a training that runs."""


class CheckpointWarning(UserWarning):
    """A checkpoint is damaged and left out."""


class ShardError(SkcwError, RuntimeError):
    """A shard of the training data is lost or damaged, or no worker can learn it."""


class ConstraintWarning(UserWarning):
    """Training labels break the constraints the tagger was given."""


class FileFormatWarning(UserWarning):
    """A file looks like one of another format than the one it is read as."""


class OutsideLabelWarning(UserWarning):
    """Labels are those of spans, but words outside of them are not called "O"."""


class UnlearnedConfidenceWarning(UserWarning):
    """Confidence was asked of a model that had too little data to learn it."""


class NoThresholdWarning(UserWarning):
    """No threshold keeps the risk with the calibration data: nothing is accepted."""


class ExchangeabilityWarning(UserWarning):
    """New sentences do not look like those of calibration."""


class WordlessWarning(UserWarning):
    """A reranker cannot tell which feature of a token is its word."""
