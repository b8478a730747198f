/* How an update moves the weights of some labels for the entries of one flat row.
 *
 * Vectors go along the entries, which are all different: any number of labels fills
 * them, and the weights of an entry are touched in one sweep. Every weight goes through
 * the same operations in the same order, whatever the vectors.
 */
#ifndef SKCW_ROW_MOVES_H
#define SKCW_ROW_MOVES_H

#include "vectors.h"

/* What an update does to one label: mean += alpha sigma x, precision += beta x^2. The
 * spread is the variance of what the update is about, before it. */
typedef struct {
    double alpha, beta, spread;
    ptrdiff_t label;
} skcw_step;

/* Narrow variances: their inverses grow by beta x^2, but they keep above the least. */
SKCW_INLINE void skcw_narrow(
    skcw_four *sigma, const skcw_four *x, double beta, double least)
{
    const skcw_four found = *sigma / (1.0 + *sigma * beta * *x * *x);
    const skcw_four bound = (skcw_four){0} + least;
    const skcw_four_mask below = SKCW_MASK(bound > found);
    *sigma = SKCW_FROM_4((below & SKCW_BITS_4(bound)) | (~below & SKCW_BITS_4(found)));
}

#define SKCW_DEFINE_ROW_MOVES(REAL, LANES, SUFFIX)                             \
                                                                               \
/* Read n cells of a table. */                                                 \
SKCW_INLINE void skcw_gather_##SUFFIX(                                         \
    skcw_four *wide, const REAL *table, const ptrdiff_t *cell, int n)          \
{                                                                              \
    LANES part = {0};                                                          \
    for (int c = 0; c < n; ++c)                                                \
        SKCW_LANE(part, c) = table[cell[c]];                                   \
    *wide = SKCW_CONVERT(part, skcw_four);                                     \
}                                                                              \
                                                                               \
/* Write n cells of a table. */                                                \
SKCW_INLINE void skcw_scatter_##SUFFIX(                                        \
    REAL *table, const ptrdiff_t *cell, int n, const skcw_four *wide)          \
{                                                                              \
    const LANES part = SKCW_CONVERT(*wide, LANES);                             \
    for (int c = 0; c < n; ++c)                                                \
        table[cell[c]] = SKCW_LANE(part, c);                                   \
}                                                                              \
                                                                               \
/* Move one label for n entries, at most a vector of them. */                  \
SKCW_INLINE void skcw_move_few_##SUFFIX(                                       \
    REAL *mean, REAL *variance, REAL *drift, double rounds, double least,      \
    const ptrdiff_t *cell, const skcw_four *x, int n, const skcw_step *step)   \
{                                                                              \
    skcw_four sigma = (skcw_four){0} + 1.0, change, moved;                     \
    if (variance)                                                              \
        skcw_gather_##SUFFIX(&sigma, variance + step->label, cell, n);         \
    change = step->alpha * sigma * *x;                                         \
    skcw_gather_##SUFFIX(&moved, mean + step->label, cell, n);                 \
    moved += change;                                                           \
    skcw_scatter_##SUFFIX(mean + step->label, cell, n, &moved);                \
    if (drift) {                                                               \
        skcw_gather_##SUFFIX(&moved, drift + step->label, cell, n);            \
        moved += rounds * change;                                              \
        skcw_scatter_##SUFFIX(drift + step->label, cell, n, &moved);           \
    }                                                                          \
    if (variance) {                                                            \
        skcw_narrow(&sigma, x, step->beta, least);                             \
        skcw_scatter_##SUFFIX(variance + step->label, cell, n, &sigma);        \
    }                                                                          \
}                                                                              \
                                                                               \
/* Move the labels of all steps for the entries of a row. */                   \
SKCW_CLONES static void skcw_move_row_##SUFFIX(                                \
    REAL *restrict mean, REAL *restrict variance, REAL *restrict drift,        \
    double rounds, double least, ptrdiff_t stride, const int *restrict index,  \
    const double *restrict value, ptrdiff_t n_entries,                         \
    const skcw_step *restrict steps, ptrdiff_t n_steps)                        \
{                                                                              \
    ptrdiff_t cell[SKCW_NARROW], k = 0;                                        \
    skcw_four x = {0};                                                         \
    for (; k + SKCW_NARROW <= n_entries; k += SKCW_NARROW) {                   \
        memcpy(&x, value + k, sizeof(x));                                      \
        for (int c = 0; c < SKCW_NARROW; ++c)                                  \
            cell[c] = index[k + c] * stride;                                   \
        for (ptrdiff_t s = 0; s < n_steps; ++s)                                \
            skcw_move_few_##SUFFIX(mean, variance, drift, rounds, least, cell, \
                                   &x, SKCW_NARROW, steps + s);                \
    }                                                                          \
    const int rest = (int)(n_entries - k);                                     \
    for (int c = 0; c < rest; ++c) {                                           \
        SKCW_LANE(x, c) = value[k + c];                                        \
        cell[c] = index[k + c] * stride;                                       \
    }                                                                          \
    for (ptrdiff_t s = 0; rest && s < n_steps; ++s)                            \
        skcw_move_few_##SUFFIX(mean, variance, drift, rounds, least, cell, &x, \
                               rest, steps + s);                               \
}

SKCW_DEFINE_ROW_MOVES(float, skcw_four_f, f)
SKCW_DEFINE_ROW_MOVES(double, skcw_four, d)

#endif
