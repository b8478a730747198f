# Values along a sequence: views of texts, and the templates that read them.
#
# A view (the text itself, its prefixes, its shape, a flag) is worked out once for each
# distinct text of a column, not for each token: a corpus of a million words has some
# fifty thousand distinct ones. Texts are UTF-8, and everything goes by characters as
# Python's own string methods do.
#
# A stream holds one number for each position of a sequence and of a margin on both of
# its sides. A template reads a stream at its offset. Conjunctions are streams too: the
# pair of a word and its right neighbor is computed once and used for every offset.

cdef unsigned long long MULTIPLIER = 0x9E3779B97F4A7C15ULL

cdef enum:
    TEXT
    LOWER
    SHAPE
    SHORT_SHAPE
    ASKED
    INSIDE
    PREFIX
    SUFFIX
    NGRAMS
    HAS_DIGIT
    ALL_DIGITS
    HAS_HYPHEN
    FIRST_CAPITAL
    HAS_CAPITAL
    ALL_CAPITALS
    CALLED

# "inside" is the text without marks beyond the ends of the sequence, "called" the value
# of a Python function likewise, and "asked" the same with marks.
KINDS = (
    "text", "lower", "shape", "short_shape", "asked", "inside", "prefix", "suffix",
    "ngrams", "has_digit", "all_digits", "has_hyphen", "first_capital", "has_capital",
    "all_capitals", "called",
)

# The value of a text that a view has nothing to say about.
cdef int ABSENT = -1


cdef inline Py_ssize_t character_size(unsigned char lead) noexcept:
    """Return how many bytes the character with this first byte has."""
    return 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


cdef inline Py_UCS4 character_at(const char* text) noexcept:
    cdef const unsigned char* byte = <const unsigned char*>text
    if byte[0] < 0x80:
        return <Py_UCS4>byte[0]
    if byte[0] < 0xE0:
        return <Py_UCS4>((byte[0] & 0x1F) << 6 | (byte[1] & 0x3F))
    if byte[0] < 0xF0:
        return <Py_UCS4>(
            (byte[0] & 0x0F) << 12 | (byte[1] & 0x3F) << 6 | (byte[2] & 0x3F))
    return <Py_UCS4>(
        (byte[0] & 0x07) << 18 | (byte[1] & 0x3F) << 12
        | (byte[2] & 0x3F) << 6 | (byte[3] & 0x3F))


cdef inline Py_ssize_t first_characters(
    const char* text, Py_ssize_t size, Py_ssize_t n
) noexcept:
    """Return how many bytes the first n characters take, or -1 if there are fewer."""
    cdef Py_ssize_t at = 0
    while n > 0:
        if at >= size:
            return -1
        at += character_size(text[at])
        n -= 1
    return at


cdef inline Py_ssize_t last_characters(
    const char* text, Py_ssize_t size, Py_ssize_t n
) noexcept:
    """Return where the last n characters begin, or -1 if there are fewer."""
    cdef Py_ssize_t at = size
    while n > 0:
        if at <= 0:
            return -1
        at -= 1
        # Continuation bytes are 10xxxxxx.
        while at > 0 and (<unsigned char>text[at] & 0xC0) == 0x80:
            at -= 1
        n -= 1
    return at


cdef class View:
    """The values of one view, for each text of a column in order of appearance."""

    cdef readonly Py_ssize_t column
    cdef readonly bint several, padded
    cdef int kind
    cdef Py_ssize_t size
    cdef object payload
    cdef NameTable values
    # The value of each text; or, with several, their values and where these begin.
    cdef Numbers value_of, starts
    cdef Numbers scratch

    def __cinit__(self, Py_ssize_t column, str kind, Py_ssize_t size, payload):
        self.column = column
        self.kind = KINDS.index(kind)
        self.size = size
        self.payload = payload
        self.several = self.kind == NGRAMS
        # Views of a whole text also see the marks beyond the ends of a sequence.
        self.padded = self.kind <= ASKED
        self.values = Vocabulary.empty().table(grow=True)
        self.value_of = Numbers(np.int32)
        self.scratch = Numbers(np.uint8)
        if self.several:
            self.starts = Numbers(np.int32)
            self.starts.push_int(0)

    cdef int learn(self, const char* text, Py_ssize_t size) except -1:
        """Work out the value, or values, of the next text."""
        if self.several:
            self._ngrams(text, size)
            self.starts.push_int(<int>self.value_of.n)
        else:
            self.value_of.push_int(self._single(text, size))
        return 0

    cdef int value_number(self, const char* text, Py_ssize_t size) except -1:
        cdef unsigned long long key = hash_of(text, size)
        cdef int number = find(self.values, text, size, key)
        return number if number >= 0 else self.values.add(text, size, key)

    cdef int _single(self, const char* text, Py_ssize_t size) except -2:
        cdef Py_ssize_t at
        if self.kind == TEXT or self.kind == INSIDE:
            return self.value_number(text, size)
        if self.kind == LOWER:
            return self._lower(text, size)
        if self.kind == SHAPE or self.kind == SHORT_SHAPE:
            return self._shape(text, size, self.kind == SHORT_SHAPE)
        if self.kind == PREFIX:
            at = first_characters(text, size, self.size)
            return ABSENT if at < 0 else self.value_number(text, at)
        if self.kind == SUFFIX:
            at = last_characters(text, size, self.size)
            return ABSENT if at < 0 else self.value_number(text + at, size - at)
        if self.kind == CALLED or self.kind == ASKED:
            return self._called(text, size)
        return self._flag(has_flag(self.kind, text, size))

    def _flag(self, bint holds):
        return self.value_number(b"", 0) if holds else ABSENT

    cdef int _lower(self, const char* text, Py_ssize_t size) except -2:
        cdef Py_ssize_t i
        cdef unsigned char c
        cdef bytes lowered
        self.scratch.reserve(size)
        for i in range(size):
            c = <unsigned char>text[i]
            if c >= 0x80:
                # Some characters grow when lowered: only Python knows them all.
                lowered = text[:size].decode("utf-8", "surrogatepass").lower().encode(
                    "utf-8", "surrogatepass")
                return self.value_number(lowered, len(lowered))
            self.scratch.data[i] = <char>(c + 32 if 65 <= c <= 90 else c)
        return self.value_number(self.scratch.data, size)

    cdef int _shape(self, const char* text, Py_ssize_t size, bint short) except -2:
        """Write A for capitals, a for other letters, 0 for digits, the rest as it is.

        The short form writes a run of the same characters as one.
        """
        cdef Py_ssize_t i, width, at = 0, used = 0, last = 0, last_width = 0
        cdef Py_UCS4 c
        cdef char kind
        cdef char* shape
        self.scratch.reserve(size)
        shape = self.scratch.data
        while at < size:
            width = character_size(text[at])
            c = character_at(text + at)
            kind = kind_of(c)
            if kind:
                shape[used] = kind
            else:
                for i in range(width):
                    shape[used + i] = text[at + i]
            at += width
            width = 1 if kind else width
            if short and width == last_width and memcmp(
                    shape + last, shape + used, width) == 0:
                continue
            last, last_width = used, width
            used += width
        return self.value_number(shape, used)

    cdef int _called(self, const char* text, Py_ssize_t size) except -2:
        """Call a Python function for the value; None stands for no value."""
        cdef bytes raw
        value = self.payload(text[:size].decode("utf-8", "surrogatepass"))
        if value is None:
            return ABSENT
        raw = value.encode("utf-8", "surrogatepass")
        return self.value_number(raw, len(raw))

    cdef int _ngrams(self, const char* text, Py_ssize_t size) except -1:
        """Note the distinct runs of `size` characters, in order of appearance."""
        cdef Py_ssize_t at = 0, width, first = self.value_of.n, i
        cdef int number
        cdef const int* known
        while at < size:
            width = first_characters(text + at, size - at, self.size)
            if width < 0:
                return 0
            number = self.value_number(text + at, width)
            known = <const int*>self.value_of.data
            for i in range(first, self.value_of.n):
                if known[i] == number:
                    break
            else:
                self.value_of.push_int(number)
            at += character_size(text[at])
        return 0


cdef char kind_of(Py_UCS4 c) noexcept:
    """Return the letter that stands for a character in a shape; 0 for itself."""
    if c.isdigit():
        return b"0"
    if c.isupper():
        return b"A"
    return b"a" if c.isalpha() else 0


cdef bint has_flag(int flag, const char* text, Py_ssize_t size) noexcept:
    """Return whether a flag holds for a text; none does for the empty one."""
    cdef Py_ssize_t at = 0
    cdef Py_UCS4 c
    cdef bint digit = False, capital = False, hyphen = False
    cdef bint only_digits = size > 0, only_capitals = True
    if flag == FIRST_CAPITAL:
        return size > 0 and character_at(text).isupper()
    while at < size:
        c = character_at(text + at)
        at += character_size(text[at])
        if c.isdigit():
            digit = True
        else:
            only_digits = False
        if c.isupper():
            capital = True
        elif c.isalpha():
            only_capitals = False
        if c == c"-":
            hyphen = True
    if flag == HAS_DIGIT:
        return digit
    if flag == ALL_DIGITS:
        return only_digits
    if flag == HAS_HYPHEN:
        return hyphen
    return capital and (only_capitals or flag == HAS_CAPITAL)


cdef class PairTable:
    """A hash table from two non-negative numbers to one.

    Two words in a row are two numbers already: their pair gets a number without
    any text being joined.
    """

    cdef unsigned long long* keys
    cdef int* numbers
    cdef Py_ssize_t n_slots, n_pairs

    def __cinit__(self):
        self.n_slots = 256
        self.keys = <unsigned long long*>malloc(self.n_slots * sizeof(long long))
        # Zero is an empty slot, so numbers are stored plus one.
        self.numbers = <int*>calloc(self.n_slots, sizeof(int))
        if self.keys == NULL or self.numbers == NULL:
            raise MemoryError()

    def __dealloc__(self):
        free(self.keys)
        free(self.numbers)

    def __len__(self):
        return self.n_pairs

    def find_or_add(self, int left, int right):
        """Return the number of a pair, added if it is new."""
        return self.number(left, right)

    cdef int number(self, int left, int right) except -1:
        cdef unsigned long long key = <unsigned long long>left << 32 | <unsigned>right
        cdef unsigned long long mixed = key * MULTIPLIER
        cdef Py_ssize_t at = (mixed ^ mixed >> 32) & (self.n_slots - 1)
        while self.numbers[at]:
            if self.keys[at] == key:
                return self.numbers[at] - 1
            at = (at + 1) & (self.n_slots - 1)
        if self.n_pairs >= 0x7FFFFFFE:
            raise OverflowError("more than two billion distinct pairs")
        self.keys[at] = key
        self.n_pairs += 1
        self.numbers[at] = <int>self.n_pairs
        if 2 * self.n_pairs > self.n_slots:
            self._rehash()
        return <int>(self.n_pairs - 1)

    cdef int _rehash(self) except -1:
        cdef unsigned long long mixed
        cdef unsigned long long* old_keys = self.keys
        cdef int* old_numbers = self.numbers
        cdef Py_ssize_t i, at, n_slots = 2 * self.n_slots
        cdef void* keys = malloc(n_slots * sizeof(long long))
        cdef void* numbers = calloc(n_slots, sizeof(int))
        if keys == NULL or numbers == NULL:
            free(keys)
            free(numbers)
            raise MemoryError()
        self.keys, self.numbers = <unsigned long long*>keys, <int*>numbers
        for i in range(self.n_slots):
            if not old_numbers[i]:
                continue
            mixed = old_keys[i] * MULTIPLIER
            at = (mixed ^ mixed >> 32) & (n_slots - 1)
            while self.numbers[at]:
                at = (at + 1) & (n_slots - 1)
            self.keys[at], self.numbers[at] = old_keys[i], old_numbers[i]
        self.n_slots = n_slots
        free(old_keys)
        free(old_numbers)
        return 0


cdef class Stream:
    """The values along one sequence; -1 where there is none."""

    cdef Numbers ids
    cdef readonly Py_ssize_t margin
    cdef Py_ssize_t n_tokens

    def __cinit__(self, *_args):
        self.ids = Numbers(np.int32)

    cdef int* at(self, Py_ssize_t position) noexcept:
        """Point to the value at a position, from -margin to n_tokens + margin - 1."""
        return <int*>self.ids.data + self.margin + position

    cdef int fill(self, Py_ssize_t n_tokens, list texts) except -1:
        """Write the values of a sequence, given the numbers of its texts by column."""
        raise NotImplementedError

    cdef Py_ssize_t n_values(self) except -1:
        """Return how many distinct values there have been."""
        return 1

    cdef int _spread(self, Py_ssize_t n_tokens, int value) except -1:
        self.n_tokens = n_tokens
        self.ids.n = 0
        self.ids.fill_ints(n_tokens + 2 * self.margin, value)
        return 0


cdef class ViewStream(Stream):
    """A view of a column; beyond the ends of the sequence the marks _B-1, _B+1..."""

    cdef View view
    cdef Py_ssize_t slot
    cdef Numbers before, after

    def __init__(self, View view, Py_ssize_t slot, Py_ssize_t margin):
        self.view = view
        self.slot = slot
        self.margin = margin
        self.before, self.after = Numbers(np.int32), Numbers(np.int32)
        for distance in range(1, margin + 1):
            self.before.push_int(self._mark(b"_B-%d" % distance))
            self.after.push_int(self._mark(b"_B+%d" % distance))

    def _mark(self, bytes mark):
        return self.view.value_number(mark, len(mark)) if self.view.padded else ABSENT

    cdef int fill(self, Py_ssize_t n_tokens, list texts) except -1:
        cdef const int* value_of = <const int*>self.view.value_of.data
        cdef const int* text = <const int*>(<Numbers>texts[self.slot]).data
        cdef Py_ssize_t i
        cdef int* values
        self._spread(n_tokens, ABSENT)
        values = self.at(0)
        for i in range(n_tokens):
            values[i] = value_of[text[i]]
        for i in range(self.margin):
            values[-1 - i] = (<int*>self.before.data)[i]
            values[n_tokens + i] = (<int*>self.after.data)[i]
        return 0

    cdef Py_ssize_t n_values(self) except -1:
        return self.view.values.n_names


cdef class EdgeStream(Stream):
    """A flag at the first or at the last token, or everywhere."""

    cdef bint first, everywhere

    def __init__(self, str where, Py_ssize_t margin):
        self.first = where == "first"
        self.everywhere = where == "bias"
        self.margin = margin

    cdef int fill(self, Py_ssize_t n_tokens, list texts) except -1:
        self._spread(n_tokens, 0 if self.everywhere else ABSENT)
        if n_tokens:
            self.at(0 if self.first else n_tokens - 1)[0] = 0
        return 0


cdef class PairStream(Stream):
    """The values of one stream together with those of another, shifted."""

    cdef Stream left, right
    cdef Py_ssize_t shift
    cdef PairTable table

    def __init__(self, Stream left, Stream right, Py_ssize_t shift):
        self.left = left
        self.right = right
        self.shift = shift
        self.margin = left.margin
        self.table = PairTable()

    cdef int fill(self, Py_ssize_t n_tokens, list texts) except -1:
        cdef Py_ssize_t i, first, last
        cdef const int* left
        cdef const int* right
        cdef int* pairs
        self._spread(n_tokens, ABSENT)
        first = max(-self.margin, -self.margin - self.shift)
        last = min(n_tokens + self.margin, n_tokens + self.margin - self.shift)
        left, right, pairs = self.left.at(0), self.right.at(self.shift), self.at(0)
        for i in range(first, last):
            if left[i] >= 0 and right[i] >= 0:
                pairs[i] = self.table.number(left[i], right[i])
        return 0

    cdef Py_ssize_t n_values(self) except -1:
        return self.table.n_pairs


cdef class Atom:
    """A view at an offset from the token.

    `stream` carries its values, unless it has several at a token; `slot` is the
    number of its column.
    """

    cdef readonly View view
    cdef readonly Stream stream
    cdef readonly Py_ssize_t offset, slot
    # The value that stands for the atom where it has several.
    cdef int chosen

    def __cinit__(self, View view, Stream stream, Py_ssize_t slot, Py_ssize_t offset):
        self.view = view
        self.stream = stream
        self.slot = slot
        self.offset = offset


cdef class Template:
    """The features of one template, and the numbers of those met so far.

    A template reads one stream, at the offset of its first atom. Conjunctions are found
    in `shared`, where templates that differ in their offset alone meet.
    """

    cdef readonly list literals, atoms
    cdef Stream stream
    cdef Numbers numbers
    cdef readonly bint several
    cdef list links

    def __cinit__(self, literals, atoms, dict shared):
        # Padded, as they are copied in words of eight bytes.
        self.literals = [literal + bytes(8) for literal in literals]
        self.atoms = list(atoms)
        self.numbers = Numbers(np.int32)
        self.several = any((<Atom>atom).stream is None for atom in atoms)
        # Where an atom has several values, pairs are made token by token.
        self.links = [PairTable() for _ in atoms[1:]]
        if not self.several:
            self.stream = self._joined(shared)

    def _joined(self, dict shared):
        cdef Atom first = self.atoms[0], atom
        cdef Stream stream = first.stream
        key = (id(stream),)
        for atom in self.atoms[1:]:
            shift = atom.offset - first.offset
            key = (*key, id(atom.stream), shift)
            if key not in shared:
                shared[key] = PairStream(stream, atom.stream, shift)
            stream = shared[key]
        return stream

    cdef int compose(self, Numbers name, Py_ssize_t i) except -1:
        """Append the name of the feature at token i."""
        cdef Py_ssize_t a
        cdef Atom atom
        cdef bytes literal = <bytes>self.literals[0]
        cdef long long begin, end
        cdef int value
        push_words(name, literal, len(literal) - 8)
        for a in range(len(self.atoms)):
            atom = <Atom>self.atoms[a]
            if atom.view is not None:
                value = atom.chosen if atom.stream is None else atom.stream.at(
                    i + atom.offset)[0]
                begin = atom.view.values.ends[value]
                end = atom.view.values.ends[value + 1]
                push_words(name, atom.view.values.blob + begin, end - begin)
            literal = <bytes>self.literals[a + 1]
            push_words(name, literal, len(literal) - 8)
        return 0
