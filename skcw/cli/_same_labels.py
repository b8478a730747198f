"""Whether two columns can be true and predicted labels of the same words."""

from itertools import chain

# In fewer words, a bad tagger may well get none right.
ENOUGH_WORDS = 20


class SameLabels:
    """Tells labels from other columns that were taken for them by mistake.

    Parameters
    ----------
    true : str
        What messages call the true labels.
    predicted : str
        What messages call the predicted labels.
    hint : str
        What to do.

    Examples
    --------
    >>> from skcw.cli._same_labels import SameLabels
    >>> same = SameLabels("column 2", "column 3", "choose others")
    >>> same.add([["B-PER", "O"]], [["0.9812", "0.7300"]])
    Traceback (most recent call last):
        ...
    ValueError: column 3 holds numbers such as '0.9812', not labels; choose others
    """

    def __init__(self, true, predicted, hint):
        self.title, self.other_title, self.hint = true, predicted, hint
        self.true = set()
        self.predicted = set()
        self.words = 0

    def add(self, y_true, y_pred):
        """Take in the labels of sentences; raise if they are numbers.

        Parameters
        ----------
        y_true : iterable of sequences of str
            True labels.
        y_pred : iterable of sequences of str
            Predicted labels.
        """
        true, predicted = (set(chain.from_iterable(y)) for y in (y_true, y_pred))
        numbers = [y and all(map(_is_number, y)) for y in (true, predicted)]
        if numbers == [False, True] and not true & predicted:
            example = next(chain.from_iterable(y_pred))
            raise ValueError(
                f"{self.other_title} holds numbers such as {example!r}, not labels; "
                f"{self.hint}"
            )
        self.words += sum(map(len, y_true))
        self.true |= true
        self.predicted |= predicted

    def check(self):
        """Raise if, in many words, no true label was ever predicted."""
        if self.words < ENOUGH_WORDS or self.true & self.predicted:
            return
        raise ValueError(
            f"{self.title} (such as {min(self.true)!r}) and {self.other_title} (such "
            f"as {min(self.predicted)!r}) have no label in common; {self.hint}"
        )


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True
