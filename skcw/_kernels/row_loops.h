/* Sums over the rows of a weight table, for classifiers of flat rows.
 *
 * A table has `width` columns, one per label: 1 for two classes, else a multiple of
 * SKCW_FOUR. Its rows are `stride` numbers apart: other tables may lie in between. Every
 * label is summed on its own, in the order of the entries: the bits do not depend on
 * the instruction set.
 */
#ifndef SKCW_ROW_LOOPS_H
#define SKCW_ROW_LOOPS_H

#include "vectors.h"

/* How many entries ahead a row of the table is asked for. */
#define SKCW_ROWS_AHEAD 32

/* Ask for so many bytes from here on. */
SKCW_INLINE void skcw_prefetch(const void *first, ptrdiff_t n_bytes)
{
    for (ptrdiff_t c = 0; c < n_bytes; c += 64)
        SKCW_PREFETCH((const char *)first + c);
}

/* Rows of a table that will be needed soon: those of n entries. Strides are in bytes,
 * and so is how much of a row to ask for. */
typedef struct {
    const void *table;
    const int *index;
    ptrdiff_t n, stride, reach;
} skcw_ahead;

/* Ask for the row of entry k. */
SKCW_INLINE void skcw_prefetch_ahead(const skcw_ahead *ahead, ptrdiff_t k)
{
    const char *row = (const char *)ahead->table + ahead->index[k] * ahead->stride;
    for (ptrdiff_t c = 0; c < ahead->reach; c += 64)
        SKCW_PREFETCH_FAR(row + c);
}

/* Add up N vectors of labels: the entries are walked once. */
#define SKCW_SUM_LANES(N, REAL, LANES)                                         \
    do {                                                                       \
        LANES sum[N * SKCW_FOUR / SKCW_NARROW], part;                          \
        for (int n = 0; n < N * SKCW_FOUR / SKCW_NARROW; ++n)                  \
            sum[n] = (LANES){0};                                               \
        for (ptrdiff_t k = 0; k < n_entries; ++k) {                            \
            const REAL *row = table + index[k] * stride + b;                   \
            if (b == 0 && k < ahead->n)                                        \
                skcw_prefetch_ahead(ahead, k);                                 \
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
/* out[c] = sum over the entries k of value[k] * table[index[k], c]. With */   \
/* each entry one of the rows `ahead` is asked for. */                         \
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
    const REAL *table, ptrdiff_t stride, ptrdiff_t reach, const int *index,    \
    ptrdiff_t n_entries)                                                       \
{                                                                              \
    for (ptrdiff_t k = 0; k < n_entries && k < SKCW_ROWS_AHEAD; ++k)           \
        skcw_prefetch(table + index[k] * stride,                               \
                      reach * (ptrdiff_t)sizeof(REAL));                        \
}

SKCW_DEFINE_ROW_SUMS(float, skcw_four_f, f)
SKCW_DEFINE_ROW_SUMS(double, skcw_four, d)

#endif
