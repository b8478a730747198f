"""Ready sets of features, chosen by measurement.

Each set is the one, of some ten tried, with the best mean over two corpora, or one
nearly as good that is smaller: a CW tagger on words held out of their training parts.
What groups of features add or take away after 2,000 sentences (differences below 0.002
are chance; ARK has 1,000):

========  ==============================================  ==========  ==========
set       lines                                           corpus one  corpus two
========  ==============================================  ==========  ==========
chunking  the set                                         .9212       .9245
          without words & parts of speech                 .9207       .9246
          without lower-cased words                       .9218       .9232
          without suffixes and the shape                  .9209       .9221
          with prefixes                                   .9221       .9244
ner       the set                                         .6725       .6720
          without lower-cased words                       .6688       .6654
          without long shapes                             .6710       .6668
          with runs of 3 characters                       .6720       .6684
          with flags                                      .6727       .6703
pos       the set                                         .8671       .9011
          without lower-cased words                       .8615       .8978
          without flags and the shape of the first word   .8642       .9002
          with runs of 2 and 3 characters                 .8692       .9015
========  ==============================================  ==========  ==========

Chunking: span F1 on CoNLL-2000 with all labels and with NP alone (the last quarter of
the training set held out). Names: span F1 on the Spanish and the Dutch development set
of CoNLL-2002. Parts of speech: accuracy on those of ARK tweets and UD English EWT
(XPOS).
"""

WORDS = ["bias", "word[-2..2]", "bigram(word)[-1..0]"]

AFFIXES = ["prefix(1..4)", "suffix(1..4)"]

CHUNKING = [
    *WORDS,
    "suffix(1..3)",
    "short_shape",
    "pos[-2..2]",
    "bigram(pos)[-2..1]",
    "trigram(pos)[-2..0]",
    "word[-2..2] & pos",
    "lower[-1..1]",
    "suffix(4)",
    "word & pos[-1,1]",
    "word[-1] & pos[-1]",
    "word[1] & pos[1]",
    "pos[-2] & pos[-1] & pos[0] & pos[1] & pos[2]",
]

NER = [
    *WORDS,
    "lower[-2..2]",
    "shape[-1..1]",
    "short_shape[-2..2]",
    "bigram(short_shape)[-1..0]",
    "trigram(short_shape)[-1]",
    *AFFIXES,
    "pos[-2..2]",
    "bigram(pos)[-1..0]",
]

POS = [
    *WORDS,
    "lower[-2..2]",
    "short_shape[-1..1]",
    "first & short_shape",
    *AFFIXES,
    "has_digit",
    "has_hyphen",
    "first_capital",
    "all_capitals",
]

READY_SETS = {"chunking": CHUNKING, "ner": NER, "pos": POS}
