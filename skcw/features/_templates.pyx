"""Templates: literal texts around the values of atoms."""

import numpy as np

from skcw.data._numbers cimport Numbers, push_words
from skcw.features._pairs cimport PairTable
from skcw.features._streams cimport PairStream, Stream
from skcw.features._views cimport View


cdef class Atom:
    """A view at an offset from the token.

    `stream` carries its values, unless it has several at a token; `slot` tells which
    column it looks at.
    """

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
