"""``skcw tag --text``: words and entities of plain text, and where they stand."""

import json

from skcw.cli.inputs import open_model, rescheme
from skcw.cli.messages import UsageError, input_of, written

# Options that speak of columns, or of sentences that someone has cut.
OF_COLUMNS = {
    "columns": "--columns",
    "format": "--format or --conllu",
    "label_column": "--label-column",
    "separator": "--separator",
}


def add_text(parser):
    """Add ``--text`` to the parser of ``skcw tag``.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser.
    """
    parser.add_argument(
        "--text",
        action="store_true",
        help="FILE is plain text: cut it into sentences and words as the corpus of the "
        "model is cut, and write each word, where it begins and ends in the text (in "
        "characters) and its label; with --json, also the entities",
    )


def tag_text(options):
    """Tag a plain text.

    Parameters
    ----------
    options : argparse.Namespace
        Those of ``skcw tag``.
    """
    _check(options)
    from skcw.io.text_answers import columns_read, predictions_of_text
    from skcw.io.text_format import read_text

    features, ask, _, _, tokenizer = open_model(options.model)
    encoding = options.encoding or "utf-8"
    text = read_text(input_of(options.input), encoding)
    found = predictions_of_text(ask, text, tokenizer, columns_read(features))
    as_json = getattr(options, "json", None)
    with written(options.output if as_json in (None, "-") else as_json) as file:
        if as_json is None:
            file.write(_lines(found, options).encode(encoding))
        else:
            line = json.dumps(found.to_dict(), ensure_ascii=False)
            file.write(line.encode("utf-8", "backslashreplace") + b"\n")


def _check(options):
    """Raise if options make no sense for plain text."""
    given = [
        option
        for name, option in OF_COLUMNS.items()
        if getattr(options, name, None) not in (None, False)
    ]
    if options.nbest > 1:
        given.append("--nbest")
    if options.accept or options.accept_risk is not None:
        given.append("--accept")
    if given:
        raise UsageError(f"--text reads plain text; {given[0]} is for column files")


def _lines(found, options):
    """Return a line for each word, and an empty one after each sentence."""
    lines = []
    labels = iter(rescheme(found.predictions.labels(), options))
    for row in found.tokens():
        for (token, _, confidence), label in zip(row, next(labels), strict=True):
            fields = [token.word, str(token.start), str(token.end), label]
            if options.confidence:
                fields.append(f"{confidence:.8f}")
            lines.append("\t".join(fields) + "\n")
        lines.append("\n")
    return "".join(lines)
