/* Weights drawn from a Gaussian, eight draws side by side.
 *
 * A lane of a vector is a draw: a row holds `labels` vectors, one per label, padded to
 * a multiple of four. Every number is a pure function of the seed, the draw, the
 * feature and the label; no lane looks at another, and the bits do not depend on
 * the instruction set.
 */
#ifndef SKCW_DRAW_LOOPS_H
#define SKCW_DRAW_LOOPS_H

#include "vectors.h"

/* So many draws share one walk over the features. */
#define SKCW_DRAWS SKCW_BLOCK
/* How many labels are summed or maximized at once: what fits the registers. */
#define SKCW_LABELS 8

/* The finalizer of splitmix64: every bit of x moves every bit of the result. */
SKCW_INLINE unsigned long long skcw_mix64(unsigned long long x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/* The same for words of 32 bits, of which a vector holds eight (MurmurHash3's).
 * Vectors travel by address: by value, they would do so as the processor has them. */
SKCW_INLINE void skcw_mix32(skcw_bits *x)
{
    *x = (*x ^ (*x >> 16)) * 0x85ebca6bu;
    *x = (*x ^ (*x >> 13)) * 0xc2b2ae35u;
    *x ^= *x >> 16;
}

/* u in (0, 1] becomes -2 ln u: u = 2^e m, ln m = 2 artanh((m - 1) / (m + 1)). */
SKCW_INLINE void skcw_minus_two_ln(skcw_block_f *u)
{
    const int root_half = 0x3f3504f3; /* the bits of sqrt(1/2), the least m */
    const skcw_mask_f bits = SKCW_BITS_F(*u);
    const skcw_mask_f e = (bits - root_half) >> 23;
    const skcw_block_f m = SKCW_FROM_F(bits - (e << 23));
    const skcw_block_f s = (m - 1.0f) / (m + 1.0f), q = s * s;
    const skcw_block_f series =
        4.0f + q * (4.0f / 3 + q * (4.0f / 5 + q * (4.0f / 7)));
    *u = SKCW_CONVERT(e, skcw_block_f) * -1.38629436f - s * series;
}

/* x >= 0 becomes its square root, right to 5e-6: a first guess from the bits of
 * 1 / sqrt(x) and two steps of Newton's. (The library's sets errno, so that compilers
 * would do it number by number.) */
SKCW_INLINE void skcw_root(skcw_block_f *x)
{
    skcw_block_f y = SKCW_FROM_F(0x5f3759df - (SKCW_BITS_F(*x) >> 1));
    y *= 1.5f - 0.5f * *x * y * y;
    y *= 1.5f - 0.5f * *x * y * y;
    *x *= y;
}

/* Two independent normals from 64 random bits (Box and Muller). The angle runs
 * over half a turn and the lowest bit, which the radius does not use, gives the
 * other half. The Taylor series are right to 4e-6. */
SKCW_INLINE void skcw_two_normals(
    const skcw_bits *first, const skcw_bits *second, skcw_block_f *one,
    skcw_block_f *two)
{
    skcw_block_f radius =
        SKCW_CONVERT((skcw_mask_f)(*first >> 1), skcw_block_f)
            * 0x1p-31f + 0x1p-32f;
    /* y = 1 is a right angle. */
    const skcw_block_f y =
        SKCW_CONVERT((skcw_mask_f)*second, skcw_block_f) * 0x1p-31f;
    const skcw_block_f q = y * y;
    skcw_minus_two_ln(&radius);
    skcw_root(&radius);
    radius = SKCW_FROM_F((skcw_bits)SKCW_BITS_F(radius) ^ (*first << 31));
    *one = radius * (1.0f + q * (-1.23370055f + q * (0.253669508f
           + q * (-0.0208634808f + q * (0.000919260275f - q * 2.52020424e-5f)))));
    *two = radius * y * (1.57079633f + q * (-0.645964098f + q * (0.0796926262f
           + q * (-0.00468175414f + q * 0.000160441185f))));
}

/* Draw the weights of the labels 2p and 2p + 1 of a feature in the lanes of a vector. */
SKCW_INLINE void skcw_draw_pair(
    float *restrict out, const skcw_bits key[2], unsigned p,
    const float *restrict mean, const float *restrict deviation)
{
    skcw_bits random[2];
    skcw_block_f z[2];
    for (int n = 0; n < 2; ++n) {
        random[n] = key[n] + p * 0x9e3779b9u;
        skcw_mix32(&random[n]);
    }
    skcw_two_normals(&random[0], &random[1], &z[0], &z[1]);
    for (int n = 0; n < 2; ++n) {
        z[n] = mean[n] + deviation[n] * z[n];
        memcpy(out + n * SKCW_DRAWS, &z[n], sizeof(z[n]));
    }
}

/* out[r, j, g] = mean[r, j] + deviation[r, j] * normal(seed, draw g, ids[r], j).
 * keys holds two words for each draw; the padding of rows is left as it is. */
SKCW_CLONES static void skcw_draw_rows(
    float *restrict out, const float *restrict mean,
    const float *restrict deviation, const long long *restrict ids,
    ptrdiff_t n_rows, ptrdiff_t n_labels, ptrdiff_t labels,
    const unsigned *restrict keys)
{
    for (int g = 0; g < SKCW_DRAWS; g += SKCW_WIDTH) {
        skcw_bits key[2];
        memcpy(&key[0], keys + g, sizeof(key[0]));
        memcpy(&key[1], keys + SKCW_DRAWS + g, sizeof(key[1]));
        for (ptrdiff_t r = 0; r < n_rows; ++r) {
            const unsigned long long id = skcw_mix64((unsigned long long)ids[r]);
            skcw_bits own[2] = {key[0] ^ (unsigned)id, key[1] ^ (unsigned)(id >> 32)};
            skcw_mix32(&own[0]);
            skcw_mix32(&own[1]);
            for (ptrdiff_t j = 0; j < n_labels; j += 2)
                skcw_draw_pair(out + (r * labels + j) * SKCW_DRAWS + g, own,
                               (unsigned)j / 2, mean + r * labels + j,
                               deviation + r * labels + j);
        }
    }
}

/* Add up the drawn rows of one token's features for n labels from b on. */
SKCW_INLINE void skcw_sum_some(
    const int n, float *restrict out, const float *restrict rows, ptrdiff_t size,
    ptrdiff_t n_entries, const int *restrict slots, const float *restrict values)
{
    skcw_block_f sum[SKCW_LABELS], part;
    for (int g = 0; g < SKCW_DRAWS; g += SKCW_WIDTH) {
        for (int i = 0; i < n; ++i)
            sum[i] = (skcw_block_f){0};
        for (ptrdiff_t k = 0; k < n_entries; ++k) {
            const float *row = rows + slots[k] * size + g;
            for (int i = 0; i < n; ++i) {
                memcpy(&part, row + i * SKCW_DRAWS, sizeof(part));
                sum[i] += values ? values[k] * part : part;
            }
        }
        for (int i = 0; i < n; ++i)
            memcpy(out + i * SKCW_DRAWS + g, &sum[i], sizeof(part));
    }
}

/* Call f(n, ...) for all labels: by eights, then for a last four. */
#define SKCW_FOR_LABELS(labels, b, f, ...)                                     \
    do {                                                                       \
        ptrdiff_t b = 0;                                                       \
        for (; labels - b >= SKCW_LABELS; b += SKCW_LABELS)                    \
            f(SKCW_LABELS, __VA_ARGS__);                                       \
        if (b < labels)                                                        \
            f(SKCW_LABELS / 2, __VA_ARGS__);                                   \
    } while (0)

/* out[t, j, g] = sum of values[k] rows[slots[k], j, g] over the features k of token t */
SKCW_CLONES static void skcw_sum_rows(
    float *restrict out, const float *restrict rows, ptrdiff_t labels,
    const long long *restrict indptr, ptrdiff_t n_tokens,
    const int *restrict slots, const float *restrict values)
{
    const ptrdiff_t size = labels * SKCW_DRAWS;
    for (ptrdiff_t t = 0; t < n_tokens; ++t) {
        const ptrdiff_t lo = indptr[t], n = indptr[t + 1] - indptr[t];
        SKCW_FOR_LABELS(labels, b, skcw_sum_some,
                        out + t * size + b * SKCW_DRAWS, rows + b * SKCW_DRAWS, size,
                        n, slots + lo, values ? values + lo : 0);
    }
}

/* best[j] += max over the label before, for n labels. Written number by number: so
 * compilers see the maximum, for which processors have an instruction. */
SKCW_INLINE void skcw_max_some(
    const int n, float *restrict best, const float *restrict before,
    const float *restrict trans, ptrdiff_t n_labels, ptrdiff_t size)
{
    float top[SKCW_LABELS * SKCW_DRAWS];
    for (int k = 0; k < n * SKCW_DRAWS; ++k)
        top[k] = -INFINITY;
    for (ptrdiff_t i = 0; i < n_labels; ++i)
        for (int j = 0; j < n; ++j)
            for (int g = 0; g < SKCW_DRAWS; ++g) {
                const int k = j * SKCW_DRAWS + g;
                const float path = before[i * SKCW_DRAWS + g] + trans[i * size + k];
                top[k] = path > top[k] ? path : top[k];
            }
    for (int k = 0; k < n * SKCW_DRAWS; ++k)
        best[k] += top[k];
}

/* Viterbi's pass ahead in every lane: scores[t, j, g] becomes the score of the best
 * labeling up to t that ends in j. Token t has its own transitions `step` numbers
 * behind those of t - 1, or, with 0, those of all. */
SKCW_CLONES static void skcw_max_ahead(
    float *restrict scores, const float *restrict trans, ptrdiff_t n_tokens,
    ptrdiff_t n_labels, ptrdiff_t labels, ptrdiff_t step)
{
    const ptrdiff_t size = labels * SKCW_DRAWS;
    for (ptrdiff_t t = 1; t < n_tokens; ++t)
        SKCW_FOR_LABELS(labels, b, skcw_max_some,
                        scores + t * size + b * SKCW_DRAWS, scores + (t - 1) * size,
                        trans + t * step + b * SKCW_DRAWS, n_labels, size);
}

/* step[g] = trans[i, label[g], g]. Most words have the same label in all lanes. */
SKCW_INLINE void skcw_steps_to(
    skcw_block_f *step, const float *restrict trans, const skcw_mask_f *label,
    const int all_same)
{
    if (all_same)
        memcpy(step, trans + SKCW_LANE(*label, 0) * SKCW_DRAWS, sizeof(*step));
    else
        for (int g = 0; g < SKCW_WIDTH; ++g)
            SKCW_LANE(*step, g) = trans[SKCW_LANE(*label, g) * SKCW_DRAWS + g];
}

/* The label at t on the best path to `label` at t + 1 in every lane, which takes its
 * place; the first wins a tie. Without transitions, the best end. */
SKCW_INLINE void skcw_best_before(
    skcw_mask_f *label, const float *restrict best, const float *restrict trans,
    ptrdiff_t n_labels, ptrdiff_t size)
{
    skcw_block_f top = (skcw_block_f){0} - INFINITY, path, step = {0};
    skcw_mask_f found = {0};
    int all_same = 1;
    for (int g = 1; g < SKCW_WIDTH; ++g)
        all_same &= SKCW_LANE(*label, g) == SKCW_LANE(*label, 0);
    for (ptrdiff_t i = 0; i < n_labels; ++i) {
        if (trans)
            skcw_steps_to(&step, trans + i * size, label, all_same);
        memcpy(&path, best + i * SKCW_DRAWS, sizeof(path));
        path += step;
        const skcw_mask_f more = SKCW_MASK(path > top);
        top = SKCW_FROM_F((more & SKCW_BITS_F(path)) | (~more & SKCW_BITS_F(top)));
        found = (more & (int)i) | (~more & found);
    }
    *label = found;
}

/* Viterbi's way back: out[t, g] is the label of token t in lane g. Labels before are
 * looked for again, as in lattice.pyx. */
SKCW_CLONES static void skcw_max_back(
    int *restrict out, const float *restrict best, const float *restrict trans,
    ptrdiff_t n_tokens, ptrdiff_t n_labels, ptrdiff_t labels, ptrdiff_t step)
{
    const ptrdiff_t size = labels * SKCW_DRAWS;
    for (int g = 0; g < SKCW_DRAWS; g += SKCW_WIDTH) {
        skcw_mask_f label = {0};
        for (ptrdiff_t t = n_tokens - 1; t >= 0; --t) {
            skcw_best_before(&label, best + t * size + g,
                             t < n_tokens - 1 ? trans + (t + 1) * step + g : 0,
                             n_labels, size);
            memcpy(out + t * SKCW_DRAWS + g, &label, sizeof(label));
        }
    }
}

#endif
