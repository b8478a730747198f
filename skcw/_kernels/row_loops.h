/* Sums over the rows of a weight table, and moves of them, for classifiers of flat rows.
 *
 * A table has `width` columns, one per label: 1 for two classes, else a multiple of
 * SKCW_FOUR. Its rows are `stride` numbers apart: other tables may lie in between. Every
 * label is summed on its own, in the order of the entries: the bits do not depend on
 * the instruction set.
 */
#ifndef SKCW_ROW_LOOPS_H
#define SKCW_ROW_LOOPS_H

#include "vectors.h"

/* How many entries ahead a row of the table is prefetched. */
#define SKCW_ROWS_AHEAD 32

/* Prefetch so many bytes from here on. */
SKCW_INLINE void skcw_prefetch(const void *first, ptrdiff_t n_bytes)
{
    for (ptrdiff_t c = 0; c < n_bytes; c += 64)
        SKCW_PREFETCH((const char *)first + c);
}

/* Rows of a table that will be needed soon: those of n entries. Strides are in bytes,
 * and so is how much of a row to prefetch. */
typedef struct {
    const void *table;
    const int *index;
    ptrdiff_t n, stride, reach;
} skcw_ahead;

/* Prefetch the row of entry k. */
SKCW_INLINE void skcw_prefetch_ahead(const skcw_ahead *ahead, ptrdiff_t k)
{
    const char *row = (const char *)ahead->table + ahead->index[k] * ahead->stride;
    for (ptrdiff_t c = 0; c < ahead->reach; c += 64)
        SKCW_PREFETCH_FAR(row + c);
}

/* Add up 4 N labels: the entries are walked once. B blocks of 8 are the first of them.
 * Each label is a sum of its own, whatever vector it lies in. */
#define SKCW_SUM_LANES(N, B, REAL, LANES)                                      \
    do {                                                                       \
        enum { WIDE = B * SKCW_BLOCK, BLOCKS = WIDE / SKCW_WIDTH };            \
        enum { FOURS = (N * SKCW_FOUR - WIDE) / SKCW_NARROW };                 \
        skcw_block_f wide[BLOCKS + 1] = {{0}}, eight;                          \
        LANES sum[FOURS + 1] = {{0}}, part;                                    \
        for (ptrdiff_t k = 0; k < n_entries; ++k) {                            \
            const REAL *row = table + index[k] * stride + b;                   \
            if (b == 0 && k < ahead->n)                                        \
                skcw_prefetch_ahead(ahead, k);                                 \
            for (int n = 0; n < BLOCKS; ++n) {                                 \
                memcpy(&eight, row + n * SKCW_WIDTH, sizeof(eight));           \
                wide[n] += (float)value[k] * eight;                            \
            }                                                                  \
            for (int n = 0; n < FOURS; ++n) {                                  \
                memcpy(&part, row + WIDE + n * SKCW_NARROW, sizeof(part));     \
                sum[n] += (REAL)value[k] * part;                               \
            }                                                                  \
        }                                                                      \
        for (int n = 0; n < BLOCKS; ++n)                                       \
            for (int c = 0; c < SKCW_WIDTH; ++c)                               \
                out[b + n * SKCW_WIDTH + c] = SKCW_LANE(wide[n], c);           \
        b += WIDE;                                                             \
        for (int n = 0; n < FOURS; ++n)                                        \
            for (int c = 0; c < SKCW_NARROW; ++c)                              \
                out[b + n * SKCW_NARROW + c] = SKCW_LANE(sum[n], c);           \
        b += FOURS * SKCW_NARROW;                                              \
    } while (0)

/* The most blocks of 8 labels among N fours: doubles have none. */
#define SKCW_BLOCKS_f(N) ((N) / 2)
#define SKCW_BLOCKS_d(N) 0

#define SKCW_DEFINE_ROW_SUMS(REAL, LANES, SUFFIX)                              \
                                                                               \
/* out[c] = sum over the entries k of value[k] * table[index[k], c]. With */   \
/* each entry one of the rows `ahead` is prefetched. */                        \
SKCW_CLONES static void skcw_row_sums_##SUFFIX(                                \
    double *restrict out, const REAL *restrict table, ptrdiff_t stride,        \
    ptrdiff_t width, const skcw_ahead *restrict ahead,                         \
    const int *restrict index, const double *restrict value,                   \
    ptrdiff_t n_entries)                                                       \
{                                                                              \
    ptrdiff_t b = 0;                                                           \
    if (width == 1) {                                                          \
        double sum = 0.0;                                                      \
        for (ptrdiff_t k = 0; k < n_entries; ++k) {                            \
            if (k < ahead->n)                                                  \
                skcw_prefetch_ahead(ahead, k);                                 \
            sum += value[k] * table[index[k] * stride];                        \
        }                                                                      \
        out[0] = sum;                                                          \
        return;                                                                \
    }                                                                          \
    while (width - b >= 8 * SKCW_FOUR)                                         \
        SKCW_SUM_LANES(8, SKCW_BLOCKS_##SUFFIX(8), REAL, LANES);               \
    switch ((width - b) / SKCW_FOUR) {                                         \
    case 7: SKCW_SUM_LANES(7, SKCW_BLOCKS_##SUFFIX(7), REAL, LANES); break;    \
    case 6: SKCW_SUM_LANES(6, SKCW_BLOCKS_##SUFFIX(6), REAL, LANES); break;    \
    case 5: SKCW_SUM_LANES(5, SKCW_BLOCKS_##SUFFIX(5), REAL, LANES); break;    \
    case 4: SKCW_SUM_LANES(4, SKCW_BLOCKS_##SUFFIX(4), REAL, LANES); break;    \
    case 3: SKCW_SUM_LANES(3, SKCW_BLOCKS_##SUFFIX(3), REAL, LANES); break;    \
    case 2: SKCW_SUM_LANES(2, SKCW_BLOCKS_##SUFFIX(2), REAL, LANES); break;    \
    case 1: SKCW_SUM_LANES(1, SKCW_BLOCKS_##SUFFIX(1), REAL, LANES); break;    \
    }                                                                          \
}                                                                              \
                                                                               \
/* The score of a row and its variance, of two classes: both sums in one walk. */ \
SKCW_UNUSED static void skcw_two_class_sums_##SUFFIX(                          \
    const REAL *restrict mean, const REAL *restrict variance,                  \
    ptrdiff_t stride, const skcw_ahead *restrict ahead,                        \
    const int *restrict index, const double *restrict value,                   \
    ptrdiff_t n_entries, double *restrict score, double *restrict spread)      \
{                                                                              \
    double sum = 0.0, squares = 0.0;                                           \
    for (ptrdiff_t k = 0; k < n_entries; ++k) {                                \
        const ptrdiff_t cell = index[k] * stride;                              \
        if (k < ahead->n)                                                      \
            skcw_prefetch_ahead(ahead, k);                                     \
        sum += value[k] * mean[cell];                                          \
        squares += value[k] * value[k] * variance[cell];                       \
    }                                                                          \
    *score = sum;                                                              \
    *spread = squares;                                                         \
}                                                                              \
                                                                               \
/* Prefetch the table rows of entries that will be read soon. */               \
SKCW_UNUSED static void skcw_prefetch_rows_##SUFFIX(                           \
    const REAL *table, ptrdiff_t stride, ptrdiff_t reach, const int *index,    \
    ptrdiff_t n_entries)                                                       \
{                                                                              \
    for (ptrdiff_t k = 0; k < n_entries && k < SKCW_ROWS_AHEAD; ++k)           \
        skcw_prefetch(table + index[k] * stride,                               \
                      reach * (ptrdiff_t)sizeof(REAL));                        \
}

SKCW_DEFINE_ROW_SUMS(float, skcw_four_f, f)
SKCW_DEFINE_ROW_SUMS(double, skcw_four, d)
#define skcw_row_sums(out, table, ...)                                         \
    SKCW_OF_TYPE(skcw_row_sums, table)(out, table, __VA_ARGS__)
#define skcw_two_class_sums(mean, ...)                                         \
    SKCW_OF_TYPE(skcw_two_class_sums, mean)(mean, __VA_ARGS__)
#define skcw_prefetch_rows(table, ...)                                         \
    SKCW_OF_TYPE(skcw_prefetch_rows, table)(table, __VA_ARGS__)

/* How an update moves the weights of some labels for the entries of one flat row.
 *
 * Vectors go along the entries, which are all different: any number of labels fills
 * them, and the weights of an entry are touched in one sweep. Every weight goes through
 * the same operations in the same order, whatever the vectors. */

/* An update of one label: mean += alpha sigma x, precision += beta x^2. The spread is
 * the variance of the margin before the update. */
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
#define skcw_move_row(mean, ...)                                               \
    SKCW_OF_TYPE(skcw_move_row, mean)(mean, __VA_ARGS__)

#endif
