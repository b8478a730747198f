"""``skcw train --memory``: learn from a file that does not fit into memory."""

from itertools import chain

from skcw.cli.taggers import kept_passes
from skcw.cli.train import save_model


def train_streaming(options, tagger, checkpoint, clock):
    """Train on a file in blocks and save the model.

    Parameters
    ----------
    options : argparse.Namespace
        Those of ``skcw train``.
    tagger : OnlineTagger
        The tagger, unfitted.
    checkpoint : Checkpoint or None
        Where to save the training.
    clock : Clock
        Takes the time of each stage.

    Returns
    -------
    result : dict
        What ``skcw train`` reports.
    """
    from skcw.cli.features import make_features
    from skcw.cli.inputs import open_input, read_like
    from skcw.cli.train import quieten, scores_of
    from skcw.pipeline import make_tagging_pipeline

    clock.end("starting")
    corpus = open_input(options.corpus, options)
    stream = Stream(corpus)
    features, templates = make_features(options, stream.first, corpus.label_column())
    X_dev = y_dev = None
    if options.dev is not None:
        given = stream.first, features, templates
        X_dev, y_dev = read_like(options.dev, options, *given)
    model = make_tagging_pipeline(features, tagger)
    model.fit_stream(
        stream,
        memory=options.memory,
        max_features=options.max_features,
        X_dev=X_dev,
        y_dev=y_dev,
        checkpoint=checkpoint,
    )
    clock.end("training")
    tagger = model.tagger
    quieten(tagger, options)
    model.reading_ = corpus.reading()
    save_model(model, options)
    if checkpoint is not None:
        checkpoint.clear()
    scores = {"judged_on": None}
    if X_dev is not None:
        scores = scores_of(tagger, model.encode(X_dev), y_dev, "dev")
    return {
        "model": options.output,
        "learner": type(tagger).__name__,
        "sentences": stream.n_sentences,
        "words": stream.n_words,
        "labels": len(tagger.classes_),
        "features": model[0].n_features_out_,
        "passes": tagger.n_iter_,
        "pass_kept": kept_passes(tagger),
        "seconds": clock.total(),
        "seconds_of": clock.seconds,
        **scores,
        "history": tagger.history_,
        "promises": [],
        "calibration": None,
    }


class Stream:
    """The blocks of a labeled file, counted; the first one can be looked at before.

    Parameters
    ----------
    corpus : CorpusFile
        The file.
    """

    def __init__(self, corpus):
        from skcw.cli.inputs import check_labels, rescheme

        self.n_sentences = self.n_words = 0
        blocks = (block for block in corpus.labeled() if block[0].n_tokens)
        head = next(blocks, None)
        if head is None:
            raise ValueError(f"{corpus.title} holds no words")
        check_labels(head[1], corpus)
        self.first = head[0]
        self._blocks = (
            (X, rescheme(y, corpus.options)) for X, y in chain([head], blocks)
        )

    def __iter__(self):
        for X, y in self._blocks:
            self.n_sentences += len(X)
            self.n_words += int(X.n_tokens)
            yield X, y
