/* The loops that gain most from wide registers, each for float and double.
 *
 * Rows are `width` numbers long, a multiple of SKCW_BLOCK. Every label is summed on its
 * own, in the order of the features: the bits do not depend on the instruction set.
 */
#ifndef SKCW_WIDE_LOOPS_H
#define SKCW_WIDE_LOOPS_H

#include "vectors.h"

/* How many features ahead a weight row is asked for; its number twice as many. */
#define SKCW_AHEAD 32

/* Add up N blocks of the rows of one token's features: the rows are walked once. */
#define SKCW_SUM_BLOCKS(N, BLOCK)                                              \
    do {                                                                       \
        BLOCK sum[N * SKCW_BLOCK / SKCW_WIDTH], part;                          \
        for (int n = 0; n < N * SKCW_BLOCK / SKCW_WIDTH; ++n)                  \
            sum[n] = (BLOCK){0};                                               \
        for (long long k = lo; k < hi; ++k) {                                  \
            for (int n = 0; n < N * SKCW_BLOCK / SKCW_WIDTH; ++n) {            \
                memcpy(&part,                                                  \
                       weights + (ptrdiff_t)row_of[indices[k]] * width + b     \
                           + n * SKCW_WIDTH,                                   \
                       sizeof(part));                                          \
                sum[n] += values ? values[k] * part : part;                    \
            }                                                                  \
        }                                                                      \
        memcpy(out + t * width + b, sum, sizeof(sum));                         \
        b += N * SKCW_BLOCK;                                                   \
    } while (0)

/* Find the best step into N blocks of labels: the labels before are walked once. */
#define SKCW_BEST_BLOCKS(N, REAL, BLOCK, MASK, BITS, FROM)                     \
    do {                                                                       \
        BLOCK top[N * SKCW_BLOCK / SKCW_WIDTH], path;                          \
        for (int n = 0; n < N * SKCW_BLOCK / SKCW_WIDTH; ++n)                  \
            top[n] = (BLOCK){0} - (REAL)INFINITY;                              \
        for (ptrdiff_t i = 0; i < n_labels; ++i) {                             \
            for (int n = 0; n < N * SKCW_BLOCK / SKCW_WIDTH; ++n) {            \
                memcpy(&path, links + i * width + b + n * SKCW_WIDTH,          \
                       sizeof(path));                                          \
                path += before[i];                                             \
                const MASK more = SKCW_MASK(path > top[n]);                    \
                top[n] = FROM((more & BITS(path)) | (~more & BITS(top[n])));   \
            }                                                                  \
        }                                                                      \
        for (int n = 0; n < N * SKCW_BLOCK / SKCW_WIDTH; ++n) {                \
            memcpy(&path, scores + t * stride + b + n * SKCW_WIDTH,            \
                   sizeof(path));                                              \
            top[n] += path;                                                    \
        }                                                                      \
        memcpy(best + t * stride + b, top, sizeof(top));                       \
        b += N * SKCW_BLOCK;                                                   \
    } while (0)

#define SKCW_DEFINE_LOOPS(REAL, BLOCK, MASK, BITS, FROM, SUFFIX)               \
                                                                               \
/* out[t, :] = sum of the weight rows of token t's features, times values. */  \
/* A feature that was never part of an update has the blank row of zeros. */   \
SKCW_CLONES static void skcw_emissions_##SUFFIX(                               \
    REAL *restrict out, const REAL *restrict weights, ptrdiff_t width,         \
    const int *restrict row_of, const long long *restrict indptr,              \
    ptrdiff_t n_tokens, const int *restrict indices,                           \
    const REAL *restrict values)                                               \
{                                                                              \
    const long long end = indptr[n_tokens];                                    \
    for (ptrdiff_t t = 0; t < n_tokens; ++t) {                                 \
        const long long lo = indptr[t], hi = indptr[t + 1];                    \
        const long long stop = hi + SKCW_AHEAD < end ? hi + SKCW_AHEAD : end;  \
        ptrdiff_t b = 0;                                                       \
        for (long long k = lo + SKCW_AHEAD; k < stop; ++k) {                   \
            if (k + SKCW_AHEAD < end)                                          \
                SKCW_PREFETCH(row_of + indices[k + SKCW_AHEAD]);               \
            const REAL *row = weights + (ptrdiff_t)row_of[indices[k]] * width; \
            for (ptrdiff_t c = 0; c < width; c += 64 / (ptrdiff_t)sizeof(REAL)) \
                SKCW_PREFETCH(row + c);                                        \
        }                                                                      \
        while (width - b >= 4 * SKCW_BLOCK)                                    \
            SKCW_SUM_BLOCKS(4, BLOCK);                                         \
        switch ((width - b) / SKCW_BLOCK) {                                    \
        case 3: SKCW_SUM_BLOCKS(3, BLOCK); break;                              \
        case 2: SKCW_SUM_BLOCKS(2, BLOCK); break;                              \
        case 1: SKCW_SUM_BLOCKS(1, BLOCK); break;                              \
        }                                                                      \
    }                                                                          \
}                                                                              \
                                                                               \
/* best[t, j] = scores[t, j] + max_i best[t - 1, i] + trans[i, j]. */          \
/* A negative stride walks from the last token to the first. Transitions move */ \
/* on by `step` numbers with every token; by none if all share them. */        \
SKCW_CLONES static void skcw_forward_max_##SUFFIX(                             \
    REAL *restrict best, const REAL *restrict scores,                          \
    const REAL *restrict trans, ptrdiff_t n_tokens, ptrdiff_t n_labels,        \
    ptrdiff_t width, ptrdiff_t stride, ptrdiff_t step)                         \
{                                                                              \
    memcpy(best, scores, width * sizeof(REAL));                                \
    for (ptrdiff_t t = 1; t < n_tokens; ++t) {                                 \
        const REAL *before = best + (t - 1) * stride;                          \
        const REAL *links = trans + t * step;                                  \
        ptrdiff_t b = 0;                                                       \
        while (width - b >= 4 * SKCW_BLOCK)                                    \
            SKCW_BEST_BLOCKS(4, REAL, BLOCK, MASK, BITS, FROM);                \
        switch ((width - b) / SKCW_BLOCK) {                                    \
        case 3: SKCW_BEST_BLOCKS(3, REAL, BLOCK, MASK, BITS, FROM); break;     \
        case 2: SKCW_BEST_BLOCKS(2, REAL, BLOCK, MASK, BITS, FROM); break;     \
        case 1: SKCW_BEST_BLOCKS(1, REAL, BLOCK, MASK, BITS, FROM); break;     \
        }                                                                      \
    }                                                                          \
}

SKCW_DEFINE_LOOPS(float, skcw_block_f, skcw_mask_f, SKCW_BITS_F, SKCW_FROM_F, f)
SKCW_DEFINE_LOOPS(double, skcw_block_d, skcw_mask_d, SKCW_BITS_D, SKCW_FROM_D, d)

/* Add up N short vectors of inflow: GCC keeps these in registers, but no wider ones. */
#define SKCW_SUM_INFLOW(N)                                                     \
    do {                                                                       \
        skcw_four sum[N], part;                                                \
        for (int n = 0; n < N; ++n)                                            \
            sum[n] = (skcw_four){0};                                           \
        for (ptrdiff_t i = 0; i < n_labels; ++i) {                             \
            for (int n = 0; n < N; ++n) {                                      \
                memcpy(&part, trans + i * width + b + n * SKCW_NARROW,         \
                       sizeof(part));                                          \
                sum[n] += before[i] * part;                                    \
            }                                                                  \
        }                                                                      \
        memcpy(inflow + b, sum, sizeof(sum));                                  \
        b += N * SKCW_NARROW;                                                  \
    } while (0)

/* inflow[j] = sum_i before[i] * trans[i, j], a row of the sum-product pass. */
SKCW_CLONES static void skcw_inflow(
    double *restrict inflow, const double *restrict before,
    const double *restrict trans, ptrdiff_t n_labels, ptrdiff_t width)
{
    ptrdiff_t b = 0;
    while (width - b >= 6 * SKCW_NARROW)
        SKCW_SUM_INFLOW(6);
    while (b < width)
        SKCW_SUM_INFLOW(2);
}

#endif
