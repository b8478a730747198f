"""How large, small, many or long things may be: one table, with the reason for each.

Values above a limit are refused with an error that names it. Numbers that only steer a
search or cut work into pieces stand where they are used.
"""


# -- weights of samples ----------------------------------------------------------------

# The least weight above zero: the squares of such weights, and their
# products with steps in single precision, do not vanish.
LIGHTEST_WEIGHT = 1e-20
# Sums and squares of larger weights may overflow in single precision.
HEAVIEST_WEIGHT = 1e20
# Where a weight is a number of presentations, or of copies, more would only keep the
# machine busy.
MOST_PRESENTATIONS = 1e4
# Where it is a factor, any size will do that counts can have.
LARGEST_FACTOR = 1e6
# Scores of confidence sum up squares of weights in double precision.
HEAVIEST_SCORED = 1e100

# -- numbers that are learned from, and learned ----------------------------------------

# Squares of larger values of a row, times variances, have no room in single precision.
LARGEST_ROW_VALUE = 1e12
# Counts of a hidden Markov model that are neither zero nor in this range, and their
# shares, may vanish or overflow.
LEAST_COUNT, LARGEST_COUNT = 1e-20, 1e20
# The score of a label in each precision: sums along a sequence, divided by a
# temperature or spread by draws, stay far from where numbers end.
LARGEST_SCORES = {"float32": 1e28, "float64": 1e150}
# A weight of a tagger or a classifier, in either precision: ten thousand features of a
# token still sum up to a score that can be used.
LARGEST_LEARNED = 1e24
# Any other number in a model file: sums of counts, variances.
LARGEST_SAVED = 1e30
# Temperatures, scales of variances, units: far from where single precision ends.
LEAST_SETTING, LARGEST_SETTING = 1e-30, 1e30
# Squares of the scores of candidates are summed up in double precision.
LARGEST_CANDIDATE_SCORE = 1e100
# Distances are infinite where constraints leave no rival; maps take them for this.
LARGEST_DISTANCE = 1e300
# The square of a larger weight of recall may overflow.
LARGEST_BETA = 1e100

# -- how many --------------------------------------------------------------------------

# Kernels number features by 32 bits, and a model may add one for unknown words.
MOST_FEATURES = 2**31 - 2
# Rerankers write twice the number of a feature into 32 bits.
MOST_CANDIDATE_FEATURES = 2**30
# Of features that are numbered by occurrence, not by an encoder that counts them.
MOST_NUMBERED = 10**8
# Draws and labelings that a model file may ask for: more would be a trap.
MOST_IN_A_FILE = 10_000
# Cells of a table for each one that a file stores of it: a small file cannot ask for
# all memory. With 500 labels training had touched one in 67.
MOST_CELLS_FOR_ONE = 1000
# Bytes for each one of a packed array: a copy of any length has a byte for 255 of them.
LARGEST_EXPANSION = 255
# CRFsuite has a weight for each pair of labels, and a file may say there are millions.
MOST_CRFSUITE_LABELS = 20_000
# Slots of a hash table that are taken in a row: more would make every search slow.
LONGEST_RUN = 10_000
# More digits of a score would be noise, and a page of it.
MOST_DIGITS = 20
# Digits of a whole number in a model file: none of ours has more.
MOST_DIGITS_IN_A_FILE = 20

# -- texts -----------------------------------------------------------------------------

# A line of a text file, or the text before its first sentence: more bytes mean
# another kind of file.
LONGEST_LINE = LONGEST_HEAD = 1 << 24
# Numbers in a feature line and what they multiply to: a line beyond these is a slip of
# the pen, and would take hours.
LARGEST_IN_A_LINE, MOST_COMBINATIONS = 1000, 10_000
# Characters of a regular expression.
MOST_CHARACTERS = 1000
# About so many steps of a search take a tenth of a second.
MOST_STEPS = 2e7
# The words that a pattern is compared with have at most so many letters, and patterns
# that leave fewer than the second number are refused.
LONGEST_MATCHED, SHORTEST_LIMIT = 1000, 40
