"""Where a command writes the model that it has trained, and in which form."""


def add_model_file(parser):
    """Add ``--output``, ``--half`` and ``--mapped``."""
    parser.add_argument(
        "-o", "--output", required=True, metavar="MODEL", help="the file to write"
    )
    parser.add_argument(
        "--half",
        action="store_true",
        help="save the weights in half precision, in a smaller file",
    )
    parser.add_argument(
        "--mapped",
        action="store_true",
        help="save all weights, those that are zero too, in a larger file that the "
        "processes of skcw tag --jobs share",
    )


def save_model(model, options):
    """Write a model to the file and in the form that the options name."""
    dtype = "float16" if options.half else None
    model.save(options.output, dtype, mapped=options.mapped)
