"""Plain text: sentences, words and entities, and where they stand."""

from skcw.text._answers import TextAnswers, TextEntity
from skcw.text._tokenizer import TextToken, Tokenizer

__all__ = ["TextAnswers", "TextEntity", "TextToken", "Tokenizer"]
