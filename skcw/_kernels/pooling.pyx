"""Isotonic means by pooling adjacent violators, in one pass with a stack of blocks."""


def pool_violators(
    const double[::1] mass, const double[::1] right,
    long long[::1] first, double[::1] block_mass, double[::1] block_right,
):
    """Pool neighbours until the means right / mass rise from block to block.

    The k-th of the blocks that are left begins at the place first[k] and holds
    block_right[k] of block_mass[k]. Places without mass belong to the block before
    them, and those before all mass to none. Return how many blocks there are.
    """
    cdef Py_ssize_t i, top = -1
    with nogil:
        for i in range(mass.shape[0]):
            if mass[i] <= 0.0:
                continue
            top += 1
            first[top] = i
            block_mass[top] = mass[i]
            block_right[top] = right[i]
            # The products say whether the mean before is as high or higher.
            while top > 0 and (
                block_right[top - 1] * block_mass[top]
                >= block_right[top] * block_mass[top - 1]
            ):
                top -= 1
                block_mass[top] += block_mass[top + 1]
                block_right[top] += block_right[top + 1]
    return top + 1
