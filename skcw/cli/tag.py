"""Label a file, or standard input.

The file is written again, with the labels as one more column. Comments, empty lines and
all other columns stay as they are. Memory does not grow with the file, so a pipe may
run for days. In CSV and JSON lines the labels are called "predicted"; records with a
text get spans with character offsets.

A file of columns needs those that the model has learned from, in the same order or
where the training file had them; columns after them, such as true labels, are ignored.
If a column of true labels comes before others, leave it out: `--label-column 1`. In CSV
and JSON lines, columns are found by their names.

Examples
--------
  skcw tag names.skcw new.conll -o tagged.conll
  skcw tag names.skcw new.conll --confidence --nbest 3
  zcat news.gz | skcw tag names.skcw | grep B-PER
  skcw tag names.skcw test.conll | skcw evaluate
  skcw tag names.skcw new.conll --accept | grep -w review
  skcw tag names.skcw new.jsonl --confidence -o tagged.jsonl
  skcw tag names.skcw new.conll --json | jq .predicted
  skcw tag names.skcw --text letter.txt --json
  skcw tag names.skcw news.conll.gz --jobs 4 -o tagged.conll.gz
"""

import os
import signal
import sys
from argparse import Namespace
from collections import deque
from contextlib import closing, contextmanager
from functools import partial
from itertools import chain

from skcw.cli.inputs import (
    check_file,
    for_model,
    open_input,
    open_model,
    rescheme,
)
from skcw.cli.messages import UsageError, input_of, progress_bar, written
from skcw.cli.options import (
    LEARNED_COLUMNS,
    add_file,
    add_flag,
    add_json,
    add_label_column,
    add_model,
    add_number,
    add_quiet,
    add_reading,
    add_scheme,
    command_parser,
    share,
)
from skcw.exceptions import ColumnFileError
from skcw.io.formats import ACCEPT, CONFIDENCE, NBEST, NO_VALUE, PREDICTED

# How many blocks each worker may have waiting: enough to keep it busy, few enough that
# memory does not grow with the file.
AHEAD = 2

# Options that speak of columns, or of sentences that someone has cut.
OF_COLUMNS = {
    "columns": "--columns",
    "format": "--format or --conllu",
    "label_column": "--label-column",
    "separator": "--separator",
    "accept": "--accept",
    "accept_risk": "--accept",
}

# The function and the model of this process, if it is a worker.
_worker = {}


def in_order(blocks, n_jobs, open_worker, arguments):
    """Yield blocks and their results from workers, in the order of the blocks.

    Parameters
    ----------
    blocks : iterable
        The blocks; no more are read than the workers have room for.
    n_jobs : int
        The number of processes.
    open_worker : callable
        ``open_worker(*arguments)`` gives the function of a block that a worker calls;
        it runs once in each of them.
    arguments : tuple
        Its arguments.

    Yields
    ------
    block, result : object
        A block, and the result of the function.

    Examples
    --------
    >>> from operator import itemgetter
    >>> from skcw.cli.tag import in_order
    >>> list(in_order([(5, 6), (7, 8)], 1, itemgetter, (1,)))
    [((5, 6), 6), ((7, 8), 8)]
    """
    if n_jobs == 1:
        work = open_worker(*arguments)
        for block in blocks:
            yield block, work(block)
        return
    # These take a while to import, and one process has no use for them.
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
    from multiprocessing import get_context

    pool = ProcessPoolExecutor(
        n_jobs, get_context("spawn"), _start, (open_worker, arguments)
    )
    waiting = deque()
    try:
        for block in blocks:
            waiting.append((block, pool.submit(_work, block)))
            while waiting and (len(waiting) >= AHEAD * n_jobs or waiting[0][1].done()):
                yield _first(waiting)
        while waiting:
            yield _first(waiting)
    except BrokenProcessPool as error:
        raise ValueError(
            f"one of {n_jobs} worker processes ended before its time, perhaps for lack "
            "of memory; try fewer --jobs"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _first(waiting):
    block, future = waiting.popleft()
    return block, future.result()


def _start(open_worker, arguments):
    """Begin a worker. Ctrl-C is for the process that started it, and ends it too."""
    from threading import Thread

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    try:
        _worker["work"] = open_worker(*arguments)
    except (ValueError, OSError) as error:
        # An error raised here would be lost.
        _worker["error"] = error


def _end_with_parent():
    """Leave no worker behind, however the process ends that started it."""
    from multiprocessing import connection, parent_process

    connection.wait([parent_process().sentinel])
    os._exit(1)


def _work(block):
    if "error" in _worker:
        raise _worker["error"]
    return _worker["work"](block)


BLAS_THREADS = "OPENBLAS_NUM_THREADS"


def add_parser(commands):
    """Add the command to a command line."""
    parser = command_parser(commands, "tag", run)
    add_model(parser)
    text = "the file to label, also compressed by gzip (default: standard input)"
    add_file(parser, "input", text, nargs="?", default="-")
    _add_output(parser)
    add_flag(
        parser,
        "-c",
        "--confidence",
        text="after the label, add a column with the confidence of the model in it; in "
        "records with a text, the least one of the words of each span",
    )
    add_number(
        parser,
        "-n",
        "--nbest",
        text="add one column for each of the 2nd to Nth best labelings of a sentence, "
        "after label, confidence and accept or review",
        default=1,
    )
    _add_accepting(parser)
    add_flag(
        parser,
        "--text",
        text="FILE is plain text: cut it into sentences and words as the corpus of the "
        "model is cut, and write each word, where it begins and ends in the text (in "
        "characters) and its label; with --json, also the entities",
    )
    _add_pace(parser)
    add_label_column(
        parser,
        "leave out this column, which holds true labels; the first is 0, the last -1",
    )
    add_scheme(parser, "convert the labels to this scheme")
    add_quiet(parser)
    add_reading(parser, LEARNED_COLUMNS)


def _add_pace(parser):
    text = "write each sentence as soon as it is complete, the default on a terminal"
    add_flag(parser, "--sentence-buffered", text=text)
    add_number(
        parser,
        "-j",
        "--jobs",
        text="tag in N processes, each of which opens the model; the order of the "
        "sentences stays (default: 1)",
        default=1,
    )


def _add_output(parser):
    parser.add_argument(
        "-o",
        "--output",
        default="-",
        metavar="FILE",
        help="where to write, compressed if it ends in .gz (default: standard output)",
    )
    add_json(
        parser,
        "write JSON lines, one sentence each, whatever the format of the input; "
        "--json=FILE writes them there",
    )


def _add_accepting(parser):
    add_flag(
        parser,
        "-a",
        "--accept",
        text="add a column that says accept or review, and a summary with the bound on "
        "the risk on standard error: for models trained with --calibrate",
    )
    parser.add_argument(
        "--accept-risk",
        type=share,
        metavar="RISK",
        help="the same by the threshold for this risk (default: the first)",
    )


def run(options):
    """Tag."""
    _import_numpy()
    if options.jobs > 1 and (options.text or options.sentence_buffered):
        raise UsageError(
            "--jobs is for large files, not for --text or --sentence-buffered"
        )
    if options.text:
        _check_text(options)
        options.format = "text"
    try:
        _tag(options)
    except ColumnFileError as error:
        if options.text or "are expected as in line" not in str(error):
            raise
        raise ColumnFileError(f"{error}; --text reads plain text") from None


def _tag(options):
    """Open the model and the file, and write what is tagged."""
    from skcw.io.corpora import BLOCK_TOKENS

    output = _output(options)
    model = open_model(options.model, mapped=options.jobs > 1)
    features, ask, selection, reading, tokenizer = model
    if options.text and options.json is not None:
        _tag_text(features, ask, tokenizer, output, options)
        return
    acceptance = _acceptance(selection, options)
    prompt = options.sentence_buffered or (options.input == "-" and sys.stdin.isatty())
    corpus = open_input(options.input, options, reading, tokenizer)
    blocks = corpus.unlabeled(1 if prompt else BLOCK_TOKENS)
    blocks = ((read, for_model(corpus, X, features)) for read, X in blocks)
    blocks = _checked(blocks, features, options)
    echo = corpus.echo
    if options.json is not None:
        echo = partial(corpus.echo_as_json, features.columns)
    n_jobs = 1 if prompt else options.jobs
    # All options, so that workers lack none; parser and function stay here.
    wanted = {n: v for n, v in vars(options).items() if n not in ("parser", "run")}
    given = wanted, model if n_jobs == 1 else None
    tagged = in_order(blocks, n_jobs, _worker_tag, given)
    with written(output) as file, _progress(options) as count, closing(tagged):
        for (read, X), (added, accepted) in tagged:
            if acceptance is not None and accepted is not None:
                acceptance.add(accepted)
            file.write(echo(read, X, added))
            # A block is large, or a reader waits for it.
            file.flush()
            count(X.n_tokens)
    if acceptance is not None:
        acceptance.report(options.command)


def _check_text(options):
    """Raise if options make no sense for plain text."""
    given = [text for name, text in OF_COLUMNS.items() if getattr(options, name)]
    given += ["--nbest"] * (options.nbest > 1)
    if given:
        raise UsageError(f"--text reads plain text; {given[0]} is for column files")


def _tag_text(features, ask, tokenizer, output, options):
    """Write a whole text with its words and entities as JSON."""
    from skcw.io.json_records import line_of
    from skcw.io.text_answers import (
        columns_besides_words,
        predictions_of_text,
        read_text,
    )

    text = read_text(input_of(options.input), options.encoding or "utf-8")
    missing = columns_besides_words(features)
    found = predictions_of_text(ask, text, tokenizer, missing)
    with written(output) as file:
        file.write(line_of(found.to_dict()))


def _worker_tag(wanted, model=None):
    """Return the function that tags a block, in this process or in one of several.

    Parameters
    ----------
    wanted : dict
        The options of the command.
    model : tuple, default=None
        The result of ``open_model``; by default it is opened here, mapped.

    Returns
    -------
    work : callable
        Takes a block; returns the columns to add, and the counts of accepted units.
    """
    options = Namespace(**wanted)
    model = open_model(options.model, mapped=True) if model is None else model
    ask, selection = model[1], model[2]

    def work(block):
        _, X = block
        answers = ask(X) if X.n_tokens else None
        acceptance = None if answers is None else _acceptance(selection, options)
        return _added_columns(answers, options, acceptance), acceptance

    return work


def _output(options):
    """Return the file to write, which both --output and --json may name."""
    if options.json in (None, "-"):
        return options.output
    if options.output != "-":
        raise UsageError("--json=FILE and --output name two files; there is one result")
    return options.json


def _acceptance(selection, options):
    """Return the object that marks words, or None if neither option is set."""
    if not options.accept and options.accept_risk is None:
        return None
    from skcw.cli.risk import Acceptance

    return Acceptance(selection, options.accept_risk)


def _import_numpy():
    """Import NumPy without threads for linear algebra, which tagging has no use for.

    OpenBLAS starts one per core as soon as it is loaded, and each spins for a while.
    """
    if BLAS_THREADS in os.environ:
        return
    os.environ[BLAS_THREADS] = "1"
    try:
        import numpy  # noqa: F401
    finally:
        # It was read; child processes are not bound by it.
        del os.environ[BLAS_THREADS]


@contextmanager
def _progress(options):
    """Give a function that counts words on standard error, if it is a terminal."""
    # A bar among the labels on the same screen would be no help.
    among = options.output == "-" and sys.stdout.isatty()
    if options.quiet or among or not sys.stderr.isatty():
        # No bar, no import of tqdm.
        yield lambda n_words: None
        return
    with progress_bar(unit=" words", unit_scale=True) as bar:
        yield bar.update


def _checked(blocks, features, options):
    """Yield blocks; the first with words tells whether the file suits the model."""
    besides = "" if options.label_column is None else " besides the labels"
    checked = False
    for text, X in blocks:
        if X.n_tokens and not checked:
            check_file(features, X, options.input, "tag", besides)
            checked = True
        yield text, X


def _check_labels(labels):
    """Raise at a label of the model that would not stay in its column."""
    for label in labels:
        if not label or any(mark in label for mark in "\t\r\n"):
            raise ValueError(
                f"the model has the label {label!r}, which a column file cannot hold; "
                "train it with other labels, or tag in Python"
            )


def _added_columns(answers, options, acceptance=None):
    """Return the columns to add by name, with a value for each word."""
    import numpy as np

    if answers is None:
        return {PREDICTED: []}
    _check_labels(answers.classes)
    flat = chain.from_iterable
    columns = {PREDICTED: list(flat(rescheme(answers.labels(), options)))}
    if options.confidence:
        columns[CONFIDENCE] = np.concatenate(answers.confidence())
    if acceptance is not None:
        columns[ACCEPT] = acceptance.marks(answers)
    if options.nbest > 1:
        ranked = answers.nbest(options.nbest)
        for rank in range(1, options.nbest):
            found = _ranked(ranked, answers.lengths, rank, options)
            columns[f"{NBEST}{rank + 1}"] = list(flat(found))
    return columns


def _ranked(ranked, lengths, rank, options):
    """Yield the labels of each sentence in its labeling of this rank."""
    for labelings, length in zip(ranked, lengths.tolist(), strict=True):
        if rank < len(labelings):
            yield rescheme([labelings[rank][0]], options)[0]
        else:
            yield [NO_VALUE] * length
