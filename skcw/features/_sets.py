"""Ready sets of features, chosen by measurement.

Each set is the one, of some ten tried, with the best mean over two corpora, or one
within .001 of it that is smaller: a CW tagger on words held out of their training
parts, mean of two seeds (differences below .002 are chance). Some of what was tried,
the last row being the set:

========  =============================================  ===========  ===========
set       lines                                          corpus one   corpus two
========  =============================================  ===========  ===========
chunking  words and parts of speech of Sha and Pereira   .9405        .9468
          with prefixes and suffixes of 1 to 4           .9416        .9466
          with lower-cased words                         .9419        .9469
          with words & the part of speech                .9410        .9490
          with words & pos, suffixes and the shape       .9420        .9484
          and more of these, as below                    (not so measured)
ner       words, shapes, affixes, parts of speech        .7575        .7637
          without lower-cased words                      .7565        .7608
          with runs of 3 characters                      .7559        .7687
          with flags                                     .7563        .7744
          with long shapes                               .7596        .7701
pos       words, short shapes, affixes                   .8622        .9445
          without lower-cased words                      .8571        .9437
          with runs of 2 and 3 characters                .8595        .9435
          with flags and the shape of the first word     .8668        .9457
========  =============================================  ===========  ===========

Chunking: span F1 on CoNLL-2000 with all labels and with NP alone (a quarter of the
training set held out). Names: span F1 on the Spanish and the Dutch development set of
CoNLL-2002. Parts of speech: accuracy on those of ARK tweets and UD English EWT (XPOS).

The set for chunks was then extended, by the mean of two models on each quarter of the
training sentences of CoNLL-2000: .9386 so far; .9394 with lower-cased words; .9402 with
words & the parts of speech around them, and neighbours & their own; .9405 with words
two away & the part of speech, suffixes of four and five parts of speech in a row.
Prefixes, flags, four parts of speech, distant words and pairs of lower-cased words
added nothing, or no more than .0003 by themselves.
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
