"""Errors and warnings of skcw."""


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
    """A checkpoint belongs to other data or parameters, or is in use."""


class CheckpointWarning(UserWarning):
    """A damaged checkpoint is ignored."""


class ShardError(SkcwError, RuntimeError):
    """A shard of the training data is lost or damaged, or no worker can learn it."""


class ConstraintWarning(UserWarning):
    """Training labels break the constraints the tagger was given."""


class FileFormatWarning(UserWarning):
    """A file looks like one of another format than the one it is read in."""


class OutsideLabelWarning(UserWarning):
    """Labels mark spans, but some are neither "O" nor follow a scheme."""


class UnlearnedConfidenceWarning(UserWarning):
    """Confidence comes from a model that had too little data to calibrate it."""


class NoThresholdWarning(UserWarning):
    """No threshold keeps the risk with the calibration data: nothing is accepted."""


class ExchangeabilityWarning(UserWarning):
    """New sentences do not look like those of calibration."""


class WordlessWarning(UserWarning):
    """A reranker cannot find the feature that is the word of a token."""
