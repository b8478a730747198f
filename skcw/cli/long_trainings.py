"""Options of ``skcw train`` for large corpora and long trainings."""

from skcw.cli.messages import UsageError
from skcw.cli.options import pace, positive, size


def add_long_training(parser):
    """Add the options for what takes much memory, time or several cores."""
    group = parser.add_argument_group("large corpora and long trainings")
    group.add_argument(
        "--memory",
        type=size,
        metavar="SIZE",
        help="about how much memory to use, such as 500M or 2G: CORPUS is read once, "
        "and encoded into temporary files (cw, arow, pa, perceptron)",
    )
    group.add_argument(
        "--max-features",
        type=positive,
        metavar="N",
        help="with --memory: keep so many features, the most frequent ones (default: "
        "as many as half of the memory has room for)",
    )
    group.add_argument(
        "--shards",
        type=positive,
        metavar="N",
        help="learn N parts of CORPUS side by side and merge them in each pass (cw, "
        "arow, pa, perceptron; default: 1)",
    )
    group.add_argument(
        "--jobs",
        type=positive,
        metavar="N",
        help="workers for --shards or --models; they change no bit of the model "
        "(default: 1)",
    )
    _add_checkpoint(group)


def _add_checkpoint(group):
    group.add_argument(
        "--checkpoint",
        metavar="DIR",
        help="save the training in this folder now and then (cw, arow, pa, "
        "perceptron); once the model is saved, what is in it is removed",
    )
    group.add_argument(
        "--checkpoint-every",
        type=pace,
        metavar="N",
        help="after so many passes, or minutes: 2, 10m (default: 1, each pass)",
    )
    group.add_argument(
        "--resume",
        action="store_true",
        help="continue from the last checkpoint, if there is one: the model has the "
        "same bits as one whose training was never cut off",
    )


def checkpoint_of(options):
    """Return where to save the training, or None."""
    if options.checkpoint is None:
        if options.resume or options.checkpoint_every is not None:
            raise UsageError("--resume and --checkpoint-every need --checkpoint DIR")
        return None
    from skcw._model.checkpoint import Checkpoint

    if options.model == "crf":
        raise UsageError("CRFsuite trains in one go: --checkpoint is for the others")
    every = options.checkpoint_every or {}
    checkpoint = Checkpoint(options.checkpoint, resume=options.resume, **every)
    checkpoint.check()
    return checkpoint
