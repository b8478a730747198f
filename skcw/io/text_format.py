"""Plain text among the formats of corpora: it has tokens once a tokenizer splits it."""

from skcw.data.text_lines import utf8_lines
from skcw.io.corpora import RecordFile, as_text
from skcw.io.json_records import Sentence
from skcw.io.text_answers import check_words_alone
from skcw.io.tokenizer import Tokenizer


class TextFile(RecordFile):
    """Plain text, which is held in memory as a whole.

    Parameters
    ----------
    opened : Opened
        The file after a first look.
    """

    def records(self, label, with_labels):
        """Yield the line, the positions and the sentence of each; without labels."""
        text = read_text(self.opened.source, self.opened.encoding)
        line, before = 1, 0
        for row in (self.opened.tokenizer or Tokenizer()).split(text):
            start, end = row[0].start, row[-1].end
            line += text.count("\n", before, start)
            before = start
            columns = {"word": [token.word for token in row]}
            places = [(token.start - start, token.end - start) for token in row]
            yield line, row, Sentence(columns, None, text[start:end], places)

    def select(self, X, names, n_needed):
        """Return the words, whatever a model calls them."""
        check_words_alone(names[:n_needed])
        return X

    def echoed(self, row, sentence, added):
        """Return a line for each token: text, start, end and the added columns."""
        columns = (map(str, values) for values in zip(*row, strict=True))
        lines = map("\t".join, zip(*columns, *as_text(added).values(), strict=True))
        return ("\n".join(lines) + "\n\n").encode(self.opened.encoding)


def read_text(source, encoding):
    """Return the text of a file, with its line ends as they are."""
    return b"".join(utf8_lines(source, encoding)).decode("utf-8")
