"""``entity_table``: the entities of some sentences, to be looked at."""

from skcw.data._batch import SequenceBatch
from skcw.data._text_table import Table, shown_token
from skcw.inspection._answering import ask_tagger


def entity_table(tagger, X, *, span_event=None, method=None, **options):
    """Return the predicted entities of sentences as a table with their words.

    Parameters
    ----------
    tagger : tagger or pipeline
        A fitted one.
    X : sequence of sequences
        The sentences: lists of words, of tuples with the word first, or of features, of
        which the first is shown; or ``TokenColumns``.
    span_event : str, default=None
        What the confidence is about, as in ``predict_entities``.
    method : str, default=None
        A method of ``predict_entities``.
    **options : float or int
        Those of ``predict_confidence``.

    Returns
    -------
    table : Table
        Shown as text on a terminal and as HTML in a notebook; ``rows`` has the values:
        the number of the sentence, the words, the label, the positions of the first and
        past the last word, and the confidence.

    Examples
    --------
    >>> from skcw import make_tagging_pipeline
    >>> from skcw.inspection import entity_table
    >>> X = [["Ann", "met", "Bob"], ["Bob", "left"]]
    >>> y = [["B-PER", "O", "B-PER"], ["B-PER", "O"]]
    >>> pipeline = make_tagging_pipeline(["word"]).fit(X, y)
    >>> table = entity_table(pipeline, [["Ann", "left"], ["left"]], method="marginal")
    >>> table.headers
    ['sentence', 'words', 'label', 'start', 'end', 'confidence']
    >>> table.rows[0][:5]
    (0, 'Ann', 'PER', 0, 1)
    """
    X = X if hasattr(X, "__len__") else list(X)
    given = {"span_event": span_event, "method": method} | options
    given = {name: value for name, value in given.items() if value is not None}
    found = ask_tagger(tagger, X).entities(**given)
    rows = [
        (number, words_of(X, number, entity), *entity)
        for number, entities in enumerate(found)
        for entity in entities
    ]
    headers = ["sentence", "words", "label", "start", "end", "confidence"]
    return Table(headers, rows, [None, None, None, None, None, ".3f"])


def words_of(X, number, entity):
    """Return the words of an entity, where X still has any."""
    if isinstance(X, SequenceBatch):
        return ""
    tokens = X[number][entity.start : entity.end]
    return " ".join(map(shown_token, tokens))
