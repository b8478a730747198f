"""Count what is code: neither blank, nor comment, nor docstring, in .py and .pyx."""

import io
import tokenize
from typing import NamedTuple

SKIPPED = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
# What may begin a function, and what only looks like one in Cython.
FUNCTION_WORDS = {"def", "cdef", "cpdef"}
NO_FUNCTION = {"class", "struct", "enum", "union", "extern", "packed"}


class Function(NamedTuple):
    """A function, where it begins, and the code lines of its body."""

    name: str
    line: int
    n_lines: int


def code_lines(text):
    """Return the numbers of the lines that hold code."""
    return _numbers(
        token for statement in statements(text) if not is_docstring(statement)
        for token in statement
    )  # fmt: skip


def functions(text):
    """Yield every function of a source file, nested ones and methods too."""
    found = list(statements(text))
    for position, statement in enumerate(found):
        name = function_name(statement)
        if name is None:
            continue
        indent = statement[0].start[1]
        body = []
        for later in found[position + 1 :]:
            if later[0].start[1] <= indent:
                break
            if not is_docstring(later):
                body += later
        yield Function(name, statement[0].start[0], len(_numbers(body)))


def statements(text):
    """Yield the tokens of every logical line; Cython has the tokens of Python."""
    statement = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NEWLINE:
            yield statement
            statement = []
        elif token.type not in SKIPPED:
            statement.append(token)
    if statement:
        yield statement


def is_docstring(statement):
    """Tell whether a statement is a string and nothing else."""
    return all(token.type == tokenize.STRING for token in statement)


def function_name(statement):
    """Return the name of the function that a statement begins, or None."""
    words = [token.string for token in statement]
    if words[0] == "async":
        words = words[1:]
    if words[0] not in FUNCTION_WORDS or words[-1] != ":" or "(" not in words:
        return None
    head = words[: words.index("(")]
    return None if NO_FUNCTION & set(head) else head[-1]


def _numbers(tokens):
    return {
        number for token in tokens for number in range(token.start[0], token.end[0] + 1)
    }
