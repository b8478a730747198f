/* The loops that gain most from wide registers, each for float and double.
 *
 * Rows are `width` numbers long, a multiple of SKCW_BLOCK, so that a block of
 * labels stays in one or two registers. Every label is summed on its own, in
 * the order of the features: the bits do not depend on the instruction set.
 */
#ifndef SKCW_WIDE_LOOPS_H
#define SKCW_WIDE_LOOPS_H

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#define SKCW_BLOCK 8

/* Clones choose AVX2 when the program starts; wheels still run without it. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) \
    && defined(__GLIBC__)
#define SKCW_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define SKCW_CLONES
#endif

#if defined(__GNUC__)
#define SKCW_PREFETCH(address) __builtin_prefetch(address)
#define SKCW_UNUSED __attribute__((unused))
#else
#define SKCW_PREFETCH(address) ((void)0)
#define SKCW_UNUSED
#endif

/* How many features ahead a weight row is asked for. */
#define SKCW_AHEAD 16

#define SKCW_DEFINE_LOOPS(REAL, SUFFIX)                                        \
                                                                               \
/* out[t, :] = sum of the weight rows of token t's features, times values. */  \
/* A feature that was never part of an update has the blank row of zeros. */   \
SKCW_UNUSED SKCW_CLONES static void skcw_emissions_##SUFFIX(                   \
    REAL *restrict out, const REAL *restrict weights, ptrdiff_t width,         \
    const int *restrict row_of, const long long *restrict indptr,              \
    ptrdiff_t n_tokens, const int *restrict indices,                           \
    const REAL *restrict values)                                               \
{                                                                              \
    const long long end = indptr[n_tokens];                                    \
    for (ptrdiff_t t = 0; t < n_tokens; ++t) {                                 \
        const long long lo = indptr[t], hi = indptr[t + 1];                    \
        for (long long k = lo + SKCW_AHEAD; k < hi + SKCW_AHEAD && k < end; ++k) { \
            const REAL *row = weights + (ptrdiff_t)row_of[indices[k]] * width; \
            for (ptrdiff_t b = 0; b < width; b += 64 / (ptrdiff_t)sizeof(REAL)) \
                SKCW_PREFETCH(row + b);                                        \
        }                                                                      \
        for (ptrdiff_t b = 0; b < width; b += SKCW_BLOCK) {                    \
            REAL sum[SKCW_BLOCK] = {0};                                        \
            for (long long k = lo; k < hi; ++k) {                              \
                const REAL *row =                                              \
                    weights + (ptrdiff_t)row_of[indices[k]] * width + b;       \
                if (values) {                                                  \
                    for (int l = 0; l < SKCW_BLOCK; ++l)                       \
                        sum[l] += values[k] * row[l];                          \
                } else {                                                       \
                    for (int l = 0; l < SKCW_BLOCK; ++l)                       \
                        sum[l] += row[l];                                      \
                }                                                              \
            }                                                                  \
            for (int l = 0; l < SKCW_BLOCK; ++l)                               \
                out[t * width + b + l] = sum[l];                               \
        }                                                                      \
    }                                                                          \
}                                                                              \
                                                                               \
/* best[t, j] = scores[t, j] + max_i best[t - 1, i] + trans[i, j]. */          \
/* A negative stride walks from the last token to the first. */                \
SKCW_UNUSED SKCW_CLONES static void skcw_forward_max_##SUFFIX(                 \
    REAL *restrict best, const REAL *restrict scores,                          \
    const REAL *restrict trans, ptrdiff_t n_tokens, ptrdiff_t n_labels,        \
    ptrdiff_t width, ptrdiff_t stride)                                         \
{                                                                              \
    for (ptrdiff_t j = 0; j < width; ++j)                                      \
        best[j] = scores[j];                                                   \
    for (ptrdiff_t t = 1; t < n_tokens; ++t) {                                 \
        const REAL *before = best + (t - 1) * stride;                          \
        for (ptrdiff_t b = 0; b < width; b += SKCW_BLOCK) {                    \
            REAL top[SKCW_BLOCK];                                              \
            for (int l = 0; l < SKCW_BLOCK; ++l)                               \
                top[l] = -INFINITY;                                            \
            for (ptrdiff_t i = 0; i < n_labels; ++i) {                         \
                const REAL *row = trans + i * width + b;                       \
                for (int l = 0; l < SKCW_BLOCK; ++l) {                         \
                    const REAL path = before[i] + row[l];                      \
                    top[l] = path > top[l] ? path : top[l];                    \
                }                                                              \
            }                                                                  \
            for (int l = 0; l < SKCW_BLOCK; ++l)                               \
                best[t * stride + b + l] = top[l] + scores[t * stride + b + l]; \
        }                                                                      \
    }                                                                          \
}

SKCW_DEFINE_LOOPS(float, f)
SKCW_DEFINE_LOOPS(double, d)

/* inflow[j] = sum_i before[i] * trans[i, j], a row of the sum-product pass. */
SKCW_UNUSED SKCW_CLONES static void skcw_inflow(
    double *restrict inflow, const double *restrict before,
    const double *restrict trans, ptrdiff_t n_labels, ptrdiff_t width)
{
    for (ptrdiff_t b = 0; b < width; b += SKCW_BLOCK) {
        double sum[SKCW_BLOCK] = {0};
        for (ptrdiff_t i = 0; i < n_labels; ++i)
            for (int l = 0; l < SKCW_BLOCK; ++l)
                sum[l] += before[i] * trans[i * width + b + l];
        for (int l = 0; l < SKCW_BLOCK; ++l)
            inflow[b + l] = sum[l];
    }
}

#endif
