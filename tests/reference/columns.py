"""Column files read line by line, with strings."""

import re


class MalformedLineError(Exception):
    """Its argument is the number of the first line that cannot be read."""


def is_blank(line):
    return not line.strip(" \t")


def is_document_start(line):
    return re.match(r"-DOCSTART-([ \t]|\Z)", line) is not None


def looks_like_comment(line):
    return line.startswith("#") and "\t" not in line


def fields(line, separator):
    if separator == " ":
        return re.findall(r"[^ \t]+", line)
    return line.split(separator)


def first_token_line(lines):
    """Return the line that shows separator and number of columns, or None."""
    filled = [n for n in lines if not is_blank(n) and not is_document_start(n)]
    sure = [line for line in filled if not looks_like_comment(line)]
    return next(iter(sure + filled), None)


def read(text, columns=None):
    """Return sentences as lists of tuples, and the line of each token."""
    lines = [n.rstrip("\r") for n in text.removeprefix("\ufeff").split("\n")]
    first = first_token_line(lines)
    sentences, numbers, sentence = [], [], []
    if first is None:
        return sentences, numbers
    separator = "\t" if "\t" in first else " "
    width = len(fields(first, separator))
    for number, line in enumerate(lines, start=1):
        if is_blank(line) or is_document_start(line):
            sentences.append(sentence)
            sentence = []
        elif separator == " " or not looks_like_comment(line):
            token = fields(line, separator)
            if len(token) != width:
                raise MalformedLineError(number)
            token = tuple(token[c] for c in columns or range(width))
            if "" in token:
                raise MalformedLineError(number)
            sentence.append(token)
            numbers.append(number)
    sentences.append(sentence)
    return [s for s in sentences if s], numbers
