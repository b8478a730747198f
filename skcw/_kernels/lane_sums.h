/* Forward-backward in eight draws side by side: the loops over labels, in double. */
#ifndef SKCW_LANE_SUMS_H
#define SKCW_LANE_SUMS_H

#include "vectors.h"

/* So many labels are summed at once: what fits the registers. */
#define SKCW_SUMS 4

/* 1 / k!, the last one first. */
static const double SKCW_TAYLOR[] = {
    1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
    1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0};

/* x <= 0 becomes exp(x), right to 1e-15; below -690 it becomes 0.
 * exp(x) = 2^n exp(r) with |r| <= ln 2 / 2 and Taylor's series for exp(r). */
SKCW_INLINE void skcw_exponential(skcw_block_d *x)
{
    const double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
    const double to_integer = 0x1.8p52; /* adding it rounds */
    const skcw_mask_d seen = SKCW_MASK(*x > -690.0);
    const skcw_block_d near = SKCW_FROM_D(SKCW_BITS_D(*x) & seen);
    const skcw_block_d shifted = near * 0x1.71547652b82fep0 + to_integer;
    const skcw_block_d n = shifted - to_integer;
    const skcw_block_d r = (near - n * ln2_high) - n * ln2_low;
    skcw_block_d sum = (skcw_block_d){0} + SKCW_TAYLOR[0];
    for (int k = 1; k < 13; ++k)
        sum = SKCW_TAYLOR[k] + sum * r;
    /* The last bits of `shifted` are n: it goes to the exponent. */
    const skcw_mask_d power = (SKCW_BITS_D(shifted) << 52) + SKCW_BITS_D(sum);
    *x = SKCW_FROM_D(power & seen);
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
