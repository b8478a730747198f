"""``skcw convert``: from one format of corpora to another."""

from skcw.cli.inputs import label_names_of, open_input, place_in, rescheme
from skcw.cli.messages import UsageError, note, written
from skcw.cli.options import (
    add_file,
    add_json,
    add_label_column,
    add_quiet,
    add_reading,
    add_scheme,
    command_parser,
)
from skcw.data.schemes import Repairs
from skcw.io.formats import FORMATS, form_of, formats_written
from skcw.io.json_records import TEXT_FORMS

TEXT = """\
Write a corpus in another format. Sentences are converted one by one, so files may be of
any size.

{forms}

Words without a text are joined by blanks. `--label-column predicted` takes the labels
of a model from what `skcw tag` has written; `--label-column none` writes none.

examples:
  skcw convert train.conll train.jsonl
  skcw convert ud.conllu words.csv --columns word=1,lemma=2,pos=3 --label-column 4
  skcw convert doccano.jsonl train.conll --scheme IOBES
  skcw convert hf.jsonl train.conll --label-names O,B-PER,I-PER
  skcw convert tagged.jsonl new.jsonl --label-column predicted --to prodigy
"""
# Where the descriptions of forms begin, after two blanks.
WIDTH = 10


def add_parser(commands):
    """Add the command to a command line."""
    text = TEXT.format(forms="\n".join(_described_forms()))
    parser = command_parser(
        commands, "convert", run, "write a corpus in another format", text
    )
    add_file(parser, "input", "the corpus; - is standard input")
    parser.add_argument(
        "output",
        metavar="RESULT",
        help="where to write, compressed if it ends in .gz; - is standard output",
    )
    parser.add_argument(
        "--to",
        choices=list(formats_written()),
        help="the format of RESULT (default: by its ending, such as .conll or .jsonl)",
    )
    add_json(parser, "the same as --to jsonl", "FORM")
    add_label_column(parser)
    add_scheme(parser, "convert the labels to this scheme")
    add_quiet(parser)
    add_reading(parser)


def _described_forms():
    indent = "\n" + " " * (WIDTH + 2)
    for format in FORMATS.values():
        for form, text in format.forms.items():
            yield f"  {form:<{WIDTH}}" + text.replace("\n", indent)


def run(options):
    """Convert."""
    target = _target(options)
    names = label_names_of(options.label_names)
    lines = FORMATS[formats_written()[target]].file_class().writer(target, names)
    with_labels = options.label_column != "none"
    if not with_labels:
        options.label_column = None
    corpus, repairs = open_input(options.input, options), Repairs()
    # What is written as spans is read leniently even where no scheme is asked for.
    as_spans = target in TEXT_FORMS and options.scheme is None
    n_sentences = n_words = 0
    with written(options.output) as file:
        for sentence in corpus.sentences(with_labels):
            if len(sentence.tokens):
                labels = sentence.labels
                if labels is not None:
                    place = place_in(corpus.title, sentence.lines, before=n_sentences)
                    if as_spans:
                        repairs.add_read(labels, 0, place)
                    labels = rescheme([labels], options, place, repairs)[0]
                file.write(lines(sentence._replace(labels=labels)))
                n_sentences += 1
                n_words += len(sentence.tokens)
    repairs.tell(corpus.opened.note)
    note(options, f"{n_sentences} sentences, {n_words} words, written as {target}")


def _target(options):
    if options.json is not None:
        if options.to not in (None, "jsonl"):
            raise UsageError(f"--json is --to jsonl, not --to {options.to}")
        return "jsonl"
    found = options.to or form_of(options.output)
    if found is None:
        raise UsageError(
            f"{options.output} does not tell its format; --to is one of "
            f"{', '.join(formats_written())}"
        )
    return found
