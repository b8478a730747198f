"""``skcw convert``: from one format of corpora to another."""

from skcw.cli.messages import UsageError, note, written
from skcw.cli.options import (
    add_label_column,
    add_quiet,
    add_reading,
    add_scheme,
    command_parser,
)

TEXT = """\
Write a corpus in another format. Sentences go one by one, so that files may be of any
size.

  columns   one word per line with its columns, the label last
  conllu    CoNLL-U: the word in FORM, the label in UPOS; columns called lemma, feats...
            in theirs, pos in XPOS
  csv       a header, sentence_id, a row for each word
  jsonl     {"tokens": [...], "tags": [...]}
  ids       {"tokens": [...], "ner_tags": [...]} with numbers: see --label-names
  prodigy   {"text": ..., "tokens": [...], "spans": [{"start": ..., "end": ...}]}
  doccano   {"text": ..., "label": [[start, end, label]]}
  spacy     ["text", {"entities": [[start, end, label]]}]

Words without a text are joined by blanks. `--label-column predicted` takes the labels
of a model from what `skcw tag` has written; `--label-column none` writes none.

examples:
  skcw convert train.conll train.jsonl
  skcw convert ud.conllu words.csv --columns word=1,lemma=2,pos=3 --label-column 4
  skcw convert doccano.jsonl train.conll --scheme IOBES
  skcw convert hf.jsonl train.conll --label-names O,B-PER,I-PER
  skcw convert tagged.jsonl new.jsonl --label-column predicted --to prodigy
"""

TARGETS = (
    "columns", "conllu", "csv", "jsonl", "ids", "prodigy", "doccano", "spacy",
)  # fmt: skip
# How the name of a file ends -> what it is expected to hold.
ENDINGS = {
    ".conllu": "conllu",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".conll": "columns",
    ".tsv": "columns",
    ".txt": "columns",
    ".iob": "columns",
    ".bio": "columns",
}
NOTHING = "_"


def add_parser(commands):
    """Add the command to a command line."""
    parser = command_parser(
        commands, "convert", run, "write a corpus in another format", TEXT
    )
    parser.add_argument("input", metavar="FILE", help="the corpus; - is standard input")
    parser.add_argument(
        "output",
        metavar="RESULT",
        help="where to write, compressed if it ends in .gz; - is standard output",
    )
    parser.add_argument(
        "--to",
        choices=TARGETS,
        help="the format of RESULT (default: by its ending, such as .conll or .jsonl)",
    )
    parser.add_argument(
        "--json", nargs="?", const="-", metavar="FORM", help="the same as --to jsonl"
    )
    add_label_column(parser)
    add_scheme(parser, "convert the labels to this scheme")
    add_quiet(parser)
    add_reading(parser)


def run(options):
    """Convert."""
    from skcw.cli.inputs import open_input

    target = _target(options)
    with_labels = options.label_column != "none"
    if not with_labels:
        options.label_column = None
    corpus = open_input(options.input, options)
    lines = _writer(target, options)
    n_sentences = n_words = 0
    with written(options.output) as file:
        for sentence in corpus.sentences(with_labels):
            if len(sentence.words):
                file.write(lines(sentence._replace(labels=_labels(sentence, options))))
                n_sentences += 1
                n_words += len(sentence.words)
    note(options, f"{n_sentences} sentences, {n_words} words, written as {target}")


def _target(options):
    if options.json is not None:
        if options.to not in (None, "jsonl"):
            raise UsageError(f"--json is --to jsonl, not --to {options.to}")
        return "jsonl"
    if options.to is not None:
        return options.to
    ending = options.output.lower().removesuffix(".gz")
    found = next((ENDINGS[end] for end in ENDINGS if ending.endswith(end)), None)
    if found is None:
        raise UsageError(
            f"{options.output} does not tell its format; --to is one of "
            f"{', '.join(TARGETS)}"
        )
    return found


def _labels(sentence, options):
    from skcw.cli.corpus import rescheme

    labels = sentence.labels
    return labels if labels is None else rescheme([labels], options)[0]


def _writer(target, options):
    """Return a function that gives a sentence as lines in UTF-8."""
    if target == "columns":
        return _as_columns
    if target == "conllu":
        return _as_conllu
    if target == "csv":
        return CsvWriter()
    return JsonWriter(target, options)


def _as_columns(sentence):
    columns = list(sentence.columns.values())
    if sentence.labels is not None:
        columns.append(sentence.labels)
    return _lines(columns)


def _lines(columns):
    from skcw.io.columns import fault_of

    for column in columns:
        for text in column:
            fault = fault_of(text, "\t", str.encode)
            if fault:
                raise ValueError(f"{text!r} cannot stand in a column: it {fault}")
    rows = map("\t".join, zip(*columns, strict=True))
    return ("\n".join(rows) + "\n\n").encode("utf-8", "surrogatepass")


def _as_conllu(sentence):
    from skcw.io.layout import CONLLU

    n_words = len(sentence.words)
    found = {name: [NOTHING] * n_words for name in CONLLU}
    found |= {n: values for n, values in sentence.columns.items() if n in CONLLU}
    found["id"] = list(map(str, range(1, n_words + 1)))
    found["form"] = sentence.words
    pos = sentence.columns.get("pos")
    if sentence.labels is not None:
        found["upos"] = sentence.labels
        found["xpos"] = found["xpos"] if pos is None else pos
    elif pos is not None:
        found["upos"] = pos
    return _lines(list(found.values()))


class CsvWriter:
    """Writes sentences as rows, after a header."""

    def __init__(self):
        self.number = 0

    def __call__(self, sentence):
        """Return the rows of a sentence."""
        from skcw.io.csv_files import csv_text

        columns = dict(sentence.columns)
        if sentence.labels is not None:
            columns["label"] = sentence.labels
        header = [] if self.number else [["sentence_id", *columns]]
        self.number += 1
        rows = zip(*columns.values(), strict=True)
        return csv_text([*header, *([str(self.number), *r] for r in rows)]).encode()


class JsonWriter:
    """Writes sentences as records in one of their forms.

    Parameters
    ----------
    form : str
        One of the forms of ``TARGETS``.
    options : argparse.Namespace
        With ``label_names``.
    """

    def __init__(self, form, options):
        from skcw.cli.named_inputs import label_names_of
        from skcw.io.json_lines import ids_of

        self.form = "tokens" if form == "jsonl" else form
        self.ids = None
        if form == "ids":
            names = label_names_of(options.label_names)
            if names is None:
                raise UsageError(
                    "--to ids needs the names of the labels: --label-names"
                )
            self.ids = ids_of(names)

    def __call__(self, sentence):
        """Return the record of a sentence as a line."""
        from skcw.io.json_lines import line_of
        from skcw.io.json_records import make_record

        return line_of(
            make_record(
                sentence.columns,
                sentence.labels,
                self.form,
                sentence.text,
                sentence.places,
                self.ids,
            )
        )
