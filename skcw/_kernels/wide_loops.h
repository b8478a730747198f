/* The loops that gain most from wide registers, each for float and double.
 *
 * Rows are `width` numbers long, a multiple of SKCW_BLOCK. Every label is summed on its
 * own, in the order of the features: the bits do not depend on the instruction set.
 */
#ifndef SKCW_WIDE_LOOPS_H
#define SKCW_WIDE_LOOPS_H

#include "vectors.h"

/* How many features ahead a weight row is prefetched; its number twice as many. */
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

/* From so many labels on it pays to find out which of them a best path can come from;
 * for more than the second number there is no room on the stack. */
#define SKCW_MANY 64
#define SKCW_MOST_LABELS 4096

/* Find the best step into N blocks of labels: the labels before are walked once. These
 * are COUNT labels, of which LABEL is the p-th. */
#define SKCW_BEST_BLOCKS(N, REAL, BLOCK, MASK, BITS, FROM, LABEL, COUNT)       \
    do {                                                                       \
        BLOCK top[N * SKCW_BLOCK / SKCW_WIDTH], path;                          \
        for (int n = 0; n < N * SKCW_BLOCK / SKCW_WIDTH; ++n)                  \
            top[n] = (BLOCK){0} - (REAL)INFINITY;                              \
        for (ptrdiff_t p = 0; p < COUNT; ++p) {                                \
            const ptrdiff_t i = LABEL;                                         \
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

/* best[t, :] from the labels before, some or all of them. */
#define SKCW_BEST_STEP(REAL, BLOCK, MASK, BITS, FROM, LABEL, COUNT)            \
    do {                                                                       \
        ptrdiff_t b = 0;                                                       \
        while (width - b >= 4 * SKCW_BLOCK)                                    \
            SKCW_BEST_BLOCKS(4, REAL, BLOCK, MASK, BITS, FROM, LABEL, COUNT);  \
        switch ((width - b) / SKCW_BLOCK) {                                    \
        case 3:                                                                \
            SKCW_BEST_BLOCKS(3, REAL, BLOCK, MASK, BITS, FROM, LABEL, COUNT);  \
            break;                                                             \
        case 2:                                                                \
            SKCW_BEST_BLOCKS(2, REAL, BLOCK, MASK, BITS, FROM, LABEL, COUNT);  \
            break;                                                             \
        case 1:                                                                \
            SKCW_BEST_BLOCKS(1, REAL, BLOCK, MASK, BITS, FROM, LABEL, COUNT);  \
            break;                                                             \
        }                                                                      \
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
/* The greatest number of a row times `sign`, which is 1 or -1. */             \
SKCW_INLINE REAL skcw_greatest_##SUFFIX(                                       \
    const REAL *row, ptrdiff_t width, REAL sign)                               \
{                                                                              \
    enum { N = SKCW_BLOCK / SKCW_WIDTH };                                      \
    BLOCK top[2 * N], part;                                                    \
    REAL lane[2 * SKCW_BLOCK], found = -(REAL)INFINITY;                        \
    for (int n = 0; n < 2 * N; ++n)                                            \
        top[n] = (BLOCK){0} - (REAL)INFINITY;                                  \
    for (ptrdiff_t b = 0, odd = 0; b < width; b += SKCW_BLOCK, odd ^= N)       \
        for (int n = 0; n < N; ++n) {                                          \
            memcpy(&part, row + b + n * SKCW_WIDTH, sizeof(part));             \
            part *= sign;                                                      \
            const MASK more = SKCW_MASK(part > top[odd + n]);                  \
            top[odd + n] = FROM(                                               \
                (more & BITS(part)) | (~more & BITS(top[odd + n])));           \
        }                                                                      \
    memcpy(lane, top, sizeof(lane));                                           \
    for (int n = 0; n < 2 * SKCW_BLOCK; ++n)                                   \
        found = lane[n] > found ? lane[n] : found;                             \
    return found;                                                              \
}                                                                              \
                                                                               \
/* Fill `source` with the labels that a best step can come from, in their order, */ \
/* and return how many. Whatever label comes next, the step from the best label */ \
/* before scores `bound` or more. A label that scores less even by its greatest */ \
/* link, which is in `most`, is behind everywhere: rounding keeps the order. */ \
/* Returns -1 if constraints forbid a step from the best label: any may be needed. */ \
SKCW_INLINE ptrdiff_t skcw_sources_##SUFFIX(                                   \
    int *restrict source, REAL *restrict most, int *known,                     \
    const REAL *restrict before, const REAL *restrict trans,                   \
    ptrdiff_t n_labels, ptrdiff_t width)                                       \
{                                                                              \
    ptrdiff_t first = 0, n = 0;                                                \
    for (ptrdiff_t i = 1; i < n_labels; ++i)                                   \
        first = before[i] > before[first] ? i : first;                         \
    const REAL *row = trans + first * width;                                   \
    const REAL bound =                                                         \
        before[first] - skcw_greatest_##SUFFIX(row, width, (REAL)-1);          \
    if (!(bound > -(REAL)INFINITY))                                            \
        return -1;                                                             \
    if (!*known)                                                               \
        for (ptrdiff_t i = 0; i < n_labels; ++i)                               \
            most[i] =                                                          \
                skcw_greatest_##SUFFIX(trans + i * width, width, (REAL)1);     \
    *known = 1;                                                                \
    for (ptrdiff_t i = 0; i < n_labels; ++i) {                                 \
        source[n] = (int)i;                                                    \
        n += !(before[i] + most[i] < bound);                                   \
    }                                                                          \
    return n;                                                                  \
}                                                                              \
                                                                               \
/* skcw_forward_max for many labels and links that all tokens share. */        \
SKCW_CLONES static void skcw_forward_many_##SUFFIX(                            \
    REAL *restrict best, const REAL *restrict scores,                          \
    const REAL *restrict links, ptrdiff_t n_tokens, ptrdiff_t n_labels,        \
    ptrdiff_t width, ptrdiff_t stride)                                         \
{                                                                              \
    REAL most[SKCW_MOST_LABELS];                                               \
    int source[SKCW_MOST_LABELS], known = 0;                                   \
    memcpy(best, scores, width * sizeof(REAL));                                \
    for (ptrdiff_t t = 1; t < n_tokens; ++t) {                                 \
        const REAL *before = best + (t - 1) * stride;                          \
        const ptrdiff_t n_sources = skcw_sources_##SUFFIX(                     \
            source, most, &known, before, links, n_labels, width);             \
        if (n_sources < 0)                                                     \
            SKCW_BEST_STEP(REAL, BLOCK, MASK, BITS, FROM, p, n_labels);        \
        else                                                                   \
            SKCW_BEST_STEP(REAL, BLOCK, MASK, BITS, FROM, source[p], n_sources); \
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
    if (n_labels >= SKCW_MANY && n_labels <= SKCW_MOST_LABELS                  \
        && n_tokens > 2 && step == 0) {                                        \
        skcw_forward_many_##SUFFIX(                                            \
            best, scores, trans, n_tokens, n_labels, width, stride);           \
        return;                                                                \
    }                                                                          \
    memcpy(best, scores, width * sizeof(REAL));                                \
    for (ptrdiff_t t = 1; t < n_tokens; ++t) {                                 \
        const REAL *before = best + (t - 1) * stride;                          \
        const REAL *links = trans + t * step;                                  \
        SKCW_BEST_STEP(REAL, BLOCK, MASK, BITS, FROM, p, n_labels);            \
    }                                                                          \
}

SKCW_DEFINE_LOOPS(float, skcw_block_f, skcw_mask_f, SKCW_BITS_F, SKCW_FROM_F, f)
SKCW_DEFINE_LOOPS(double, skcw_block_d, skcw_mask_d, SKCW_BITS_D, SKCW_FROM_D, d)
#define skcw_emissions(out, ...)                                               \
    SKCW_OF_TYPE(skcw_emissions, out)(out, __VA_ARGS__)
#define skcw_forward_max(best, ...)                                            \
    SKCW_OF_TYPE(skcw_forward_max, best)(best, __VA_ARGS__)

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

/* Forward-backward in eight draws side by side, in double. */

/* So many labels are summed at once: what fits the registers. */
#define SKCW_SUMS 4

/* 1 / k!, the last one first. */
SKCW_UNUSED static const double SKCW_TAYLOR[] = {
    1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
    1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0};

/* x <= 0 becomes exp(x), right to 1e-15; below -690 it becomes 0.
 * exp(x) = 2^n exp(r) with |r| <= ln 2 / 2 and Taylor's series for exp(r).
 * Adding 1.5 * 2^52 rounds; the last bits of `shifted` are n, which goes to the
 * exponent. */
#define SKCW_DEFINE_EXPONENTIAL(NAME, BLOCK, MASK, BITS, FROM)                 \
SKCW_INLINE void NAME(BLOCK *x)                                                \
{                                                                              \
    const double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45; \
    const double to_integer = 0x1.8p52;                                        \
    const MASK seen = SKCW_MASK(*x > -690.0);                                  \
    const BLOCK near = FROM(BITS(*x) & seen);                                  \
    const BLOCK shifted = near * 0x1.71547652b82fep0 + to_integer;             \
    const BLOCK n = shifted - to_integer;                                      \
    const BLOCK r = (near - n * ln2_high) - n * ln2_low;                       \
    BLOCK sum = (BLOCK){0} + SKCW_TAYLOR[0];                                   \
    for (int k = 1; k < 13; ++k)                                               \
        sum = SKCW_TAYLOR[k] + sum * r;                                        \
    const MASK power = (BITS(shifted) << 52) + BITS(sum);                      \
    *x = FROM(power & seen);                                                   \
}
SKCW_DEFINE_EXPONENTIAL(
    skcw_exponential, skcw_block_d, skcw_mask_d, SKCW_BITS_D, SKCW_FROM_D)
SKCW_DEFINE_EXPONENTIAL(
    skcw_exponential_4, skcw_four, skcw_four_mask, SKCW_BITS_4, SKCW_FROM_4)

/* Sums over labels run in four columns, so that compilers see vectors. */
#define SKCW_COLUMNS 4
/* So many numbers of a row are looked at: labels, and zeros that fill the columns. */
#define SKCW_FILLED(n_labels) (((n_labels) + 3) / SKCW_COLUMNS * SKCW_COLUMNS)

/* factor[t, j] = exp((scores[t, j] - their maximum) / temperature), 0 in the padding.
 * Returns the summed maxima over the temperature: minus infinity where all are. */
#define SKCW_DEFINE_LABEL_EXPONENTIALS(REAL, SUFFIX)                           \
SKCW_CLONES static double skcw_label_exponentials_##SUFFIX(                    \
    double *restrict factor, const REAL *restrict scores, ptrdiff_t n_tokens,  \
    ptrdiff_t n_labels, ptrdiff_t width, double temperature)                   \
{                                                                              \
    const double per_unit = 1.0 / temperature;                                 \
    double total = 0.0;                                                        \
    for (ptrdiff_t t = 0; t < n_tokens; ++t) {                                 \
        const REAL *row = scores + t * width;                                  \
        double *out = factor + t * width;                                      \
        REAL top = row[0];                                                     \
        skcw_four x;                                                           \
        for (ptrdiff_t j = 1; j < n_labels; ++j)                               \
            top = row[j] > top ? row[j] : top;                                 \
        if (!(top > -(REAL)INFINITY))                                          \
            return -INFINITY;                                                  \
        for (ptrdiff_t j = 0; j < n_labels; ++j)                               \
            out[j] = ((double)row[j] - (double)top) * per_unit;                \
        for (ptrdiff_t j = n_labels; j < SKCW_FILLED(n_labels); ++j)           \
            out[j] = -INFINITY;                                                \
        for (ptrdiff_t j = 0; j < n_labels; j += SKCW_NARROW) {                \
            memcpy(&x, out + j, sizeof(x));                                    \
            skcw_exponential_4(&x);                                            \
            memcpy(out + j, &x, sizeof(x));                                    \
        }                                                                      \
        total += (double)top * per_unit;                                       \
    }                                                                          \
    return total;                                                              \
}
SKCW_DEFINE_LABEL_EXPONENTIALS(float, f)
SKCW_DEFINE_LABEL_EXPONENTIALS(double, d)
#define skcw_label_exponentials(factor, scores, ...)                           \
    SKCW_OF_TYPE(skcw_label_exponentials, scores)(factor, scores, __VA_ARGS__)

/* Below this a scaled row has lost its digits. */
#define SKCW_SMALLEST_SUM 1e-250
/* With every label of a row above this, what underflowed before is forgotten. */
#define SKCW_SAFE_SHARE 1e-20
/* Numbers below exp(-700) lose digits and then all. They may still be what counts if the
 * rest gets as small: by how much it does is multiplied, or added up as a logarithm, up
 * to this. */
#define SKCW_LARGEST_LOSS 600.0
#define SKCW_LARGEST_RATIO 3.7730203e260

/* Divide a row by its sum and return that; a row that has lost its digits stays. */
SKCW_INLINE double skcw_normalize(double *restrict row, ptrdiff_t width)
{
    double sum[SKCW_COLUMNS] = {0};
    for (ptrdiff_t j = 0; j < width; j += SKCW_COLUMNS)
        for (int k = 0; k < SKCW_COLUMNS; ++k)
            sum[k] += row[j + k];
    const double total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    if (total > SKCW_SMALLEST_SUM) {
        const double factor = 1.0 / total;
        for (ptrdiff_t j = 0; j < width; ++j)
            row[j] *= factor;
    }
    return total;
}

/* out[j] = p[j] / (1 + gain p[j]): what noise leaves of probabilities. Labels that are
 * nearly ruled out get 1 + gain times the odds, and equal ones stay equal. */
SKCW_INLINE void skcw_flatten(
    double *restrict out, const double *restrict p, double gain, ptrdiff_t width)
{
    for (ptrdiff_t j = 0; j < width; ++j)
        out[j] = p[j] / (1.0 + gain * p[j]);
}

/* One step of a pass on scaled numbers: state = factor * inflow with the sum one, and
 * the message that goes on. `lost` is how much smaller what is left may be than what
 * underflowed: this row was compared with one, and its sum is left; what underflowed
 * earlier can since have lost as little as the links allow. Returns the sum before. */
SKCW_CLONES static double skcw_pass_step(
    double *restrict state, double *restrict message, double *restrict lost,
    const double *restrict factor, const double *restrict inflow,
    const double *restrict best_link, double gain, ptrdiff_t n_labels)
{
    const ptrdiff_t width = SKCW_FILLED(n_labels);
    double bound = 0.0, low[SKCW_COLUMNS] = {1.0, 1.0, 1.0, 1.0}, least;
    ptrdiff_t last = n_labels / SKCW_COLUMNS * SKCW_COLUMNS;
    for (ptrdiff_t j = 0; j < width; ++j)
        state[j] = factor[j] * inflow[j];
    const double total = skcw_normalize(state, width);
    skcw_flatten(message, state, gain, width);
    if (!best_link)
        return total;
    for (ptrdiff_t j = 0; j < last; j += SKCW_COLUMNS)
        for (int k = 0; k < SKCW_COLUMNS; ++k)
            low[k] = state[j + k] < low[k] ? state[j + k] : low[k];
    for (; last < n_labels; ++last)
        low[0] = state[last] < low[0] ? state[last] : low[0];
    least = low[0] < low[1] ? low[0] : low[1];
    for (int k = 2; k < SKCW_COLUMNS; ++k)
        least = low[k] < least ? low[k] : least;
    /* A sum above the smallest cannot lose too much in one step. */
    if (*lost > 1.0 || least <= SKCW_SAFE_SHARE) {
        for (ptrdiff_t j = 0; j < n_labels; ++j)
            bound += factor[j] * best_link[j];
        bound = *lost * (bound / total);
        *lost = bound > 1.0 / total ? bound : 1.0 / total;
    }
    if (*lost < SKCW_LARGEST_RATIO && least > SKCW_SAFE_SHARE)
        *lost = 1.0;
    return total;
}

/* state becomes the marginals: what ends at a token times what begins after it.
 * Returns the sum before. */
SKCW_CLONES static double skcw_meet(
    double *restrict state, double *restrict message, const double *restrict inflow,
    double gain, ptrdiff_t n_labels)
{
    const ptrdiff_t width = SKCW_FILLED(n_labels);
    for (ptrdiff_t j = 0; j < width; ++j)
        state[j] *= inflow[j];
    const double total = skcw_normalize(state, width);
    if (gain > 0.0) {
        skcw_flatten(message, state, gain, width);
        memcpy(state, message, width * sizeof(double));
        skcw_normalize(state, width);
    }
    return total;
}

/* out[k, g] = exp((scores[k, g] - top[g]) * factor) for n vectors of scores. */
SKCW_CLONES static void skcw_lane_exponentials(
    double *restrict out, const float *restrict scores, const double *restrict top,
    ptrdiff_t n, double factor)
{
    skcw_block_d most, x;
    skcw_block_f score;
    for (int g = 0; g < SKCW_BLOCK; g += SKCW_WIDTH) {
        memcpy(&most, top + g, sizeof(most));
        for (ptrdiff_t k = 0; k < n; ++k) {
            memcpy(&score, scores + k * SKCW_BLOCK + g, sizeof(score));
            x = (SKCW_CONVERT(score, skcw_block_d) - most) * factor;
            skcw_exponential(&x);
            memcpy(out + k * SKCW_BLOCK + g, &x, sizeof(x));
        }
    }
}

/* inflow[j, g] = sum_i before[i, g] * links[i, j, g], for labels padded by fours. */
SKCW_CLONES static void skcw_lane_inflow(
    double *restrict inflow, const double *restrict before,
    const double *restrict links, ptrdiff_t n_labels, ptrdiff_t labels)
{
    const ptrdiff_t size = labels * SKCW_BLOCK;
    for (ptrdiff_t j = 0; j < size; j += SKCW_SUMS * SKCW_BLOCK) {
        double sum[SKCW_SUMS * SKCW_BLOCK] = {0};
        for (ptrdiff_t i = 0; i < n_labels; ++i)
            for (int n = 0; n < SKCW_SUMS; ++n)
                for (int g = 0; g < SKCW_BLOCK; ++g)
                    sum[n * SKCW_BLOCK + g] += before[i * SKCW_BLOCK + g]
                        * links[i * size + j + n * SKCW_BLOCK + g];
        memcpy(inflow + j, sum, sizeof(sum));
    }
}

#endif
