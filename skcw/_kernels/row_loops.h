/* Sums over the rows of a weight table, for classifiers of flat rows.
 *
 * A table has `width` columns, one per label: 1 for two classes, else a multiple of
 * SKCW_FOUR. Every label is summed on its own, in the order of the entries: the bits
 * do not depend on the instruction set.
 */
#ifndef SKCW_ROW_LOOPS_H
#define SKCW_ROW_LOOPS_H

#include "vectors.h"

/* Add up N vectors of labels: the entries are walked once. */
#define SKCW_SUM_LANES(N, REAL, LANES)                                         \
    do {                                                                       \
        LANES sum[N * SKCW_FOUR / SKCW_NARROW], part;                          \
        for (int n = 0; n < N * SKCW_FOUR / SKCW_NARROW; ++n)                  \
            sum[n] = (LANES){0};                                               \
        for (ptrdiff_t k = 0; k < n_entries; ++k) {                            \
            const REAL *row = table + (ptrdiff_t)index[k] * width + b;         \
            for (int n = 0; n < N * SKCW_FOUR / SKCW_NARROW; ++n) {            \
                memcpy(&part, row + n * SKCW_NARROW, sizeof(part));            \
                sum[n] += (REAL)value[k] * part;                               \
            }                                                                  \
        }                                                                      \
        for (int n = 0; n < N * SKCW_FOUR / SKCW_NARROW; ++n)                  \
            for (int c = 0; c < SKCW_NARROW; ++c)                              \
                out[b + n * SKCW_NARROW + c] = SKCW_LANE(sum[n], c);           \
        b += N * SKCW_FOUR;                                                    \
    } while (0)

#define SKCW_DEFINE_ROW_SUMS(REAL, LANES, SUFFIX)                              \
                                                                               \
/* out[c] = sum over the entries k of value[k] * table[index[k], c]. */        \
SKCW_CLONES static void skcw_row_sums_##SUFFIX(                                \
    double *restrict out, const REAL *restrict table, ptrdiff_t width,         \
    const int *restrict index, const double *restrict value,                   \
    ptrdiff_t n_entries)                                                       \
{                                                                              \
    ptrdiff_t b = 0;                                                           \
    if (width == 1) {                                                          \
        double sum = 0.0;                                                      \
        for (ptrdiff_t k = 0; k < n_entries; ++k)                              \
            sum += value[k] * table[index[k]];                                 \
        out[0] = sum;                                                          \
        return;                                                                \
    }                                                                          \
    while (width - b >= 8 * SKCW_FOUR)                                         \
        SKCW_SUM_LANES(8, REAL, LANES);                                        \
    switch ((width - b) / SKCW_FOUR) {                                         \
    case 7: SKCW_SUM_LANES(7, REAL, LANES); break;                             \
    case 6: SKCW_SUM_LANES(6, REAL, LANES); break;                             \
    case 5: SKCW_SUM_LANES(5, REAL, LANES); break;                             \
    case 4: SKCW_SUM_LANES(4, REAL, LANES); break;                             \
    case 3: SKCW_SUM_LANES(3, REAL, LANES); break;                             \
    case 2: SKCW_SUM_LANES(2, REAL, LANES); break;                             \
    case 1: SKCW_SUM_LANES(1, REAL, LANES); break;                             \
    }                                                                          \
}                                                                              \
                                                                               \
/* Ask for the table rows of entries that will be read soon. */                \
SKCW_UNUSED static void skcw_prefetch_rows_##SUFFIX(                           \
    const REAL *table, ptrdiff_t width, const int *index, ptrdiff_t n_entries) \
{                                                                              \
    for (ptrdiff_t k = 0; k < n_entries; ++k) {                                \
        const REAL *row = table + (ptrdiff_t)index[k] * width;                 \
        for (ptrdiff_t c = 0; c < width; c += 64 / (ptrdiff_t)sizeof(REAL))    \
            SKCW_PREFETCH(row + c);                                            \
    }                                                                          \
}

SKCW_DEFINE_ROW_SUMS(float, skcw_four_f, f)
SKCW_DEFINE_ROW_SUMS(double, skcw_four, d)

#endif
