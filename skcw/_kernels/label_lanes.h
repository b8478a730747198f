/* Which of some independent normal scores is the greatest: the loops over labels.
 *
 * Vectors have four lanes, not SKCW_BLOCK: GCC takes wider ones of doubles apart number
 * by number. They travel by address, as in draw_loops.h. The bits do not depend on the
 * instruction set.
 */
#ifndef SKCW_LABEL_LANES_H
#define SKCW_LABEL_LANES_H

#include "vectors.h"

/* So many places of a panel are looked at. */
#define SKCW_PLACES 16
#define SKCW_VECTORS (SKCW_PLACES / SKCW_NARROW)

/* The fits below are minimax ones, the highest power first.
 * 2^-f for |f| <= 1/2, right to 1.4e-14. */
static const double SKCW_HALVING[] = {
    -1.0150330745064066e-7, 1.3259405560113988e-6, -1.5252984871976608e-5,
    1.5403434948317428e-4, -1.333355761754247e-3, 9.618129192066864e-3,
    -5.550410866868604e-2, 2.4022650695649655e-1, -6.93147180559871e-1,
    1.0000000000000127};
/* (1 - cdf) / density for x >= 0, Mills' ratio, as a quotient of polynomials. The cdf
 * is right to 2e-14 and its lower tail to 1e-9 of itself. All coefficients are
 * positive, so that nothing cancels. */
static const double SKCW_MILLS_OVER[] = {
    3.460908537457213e-4, 6.119807597416183e-3, 5.054248835775455e-2,
    2.4708309446079155e-1, 7.550541883874033e-1, 1.3848712006862276,
    1.2533141373155123};
static const double SKCW_MILLS_UNDER[] = {
    3.460907976197276e-4, 6.119813516443104e-3, 5.0888325629335096e-2,
    2.532089194174802e-1, 8.048126471948363e-1, 1.6207022403356994,
    1.9028519105327744, 1.0};

/* Places and weights of Gauss and Radau's rule on [0, 1], exact for powers up to 30.
 * One place is the lower end. */
static const double SKCW_PLACE[SKCW_PLACES] = {
    0.0, 0.014269454736825775, 0.047299590094166686, 0.097713299320621973,
    0.16356903939438988, 0.24233526096865729, 0.33098480497004012,
    0.42611083909331412, 0.52405769153676514, 0.62106131135302196,
    0.71339391374247294, 0.79750724494989595, 0.87016897444640894,
    0.92858704688484116, 0.97051770135205751, 0.99435931102748829};
static const double SKCW_WEIGHT[SKCW_PLACES] = {
    0.00390625, 0.02385111347384286, 0.041992640722482589, 0.058510176551930029,
    0.072777772610101121, 0.084248198924961245, 0.09248089074433268,
    0.097159544855783922, 0.098104394119515841, 0.095279147127677544,
    0.088792396376369756, 0.07889346090210101, 0.065962849966534067,
    0.050497839810891954, 0.033094754305068217, 0.014448569508407164};

/* density = exp(-z^2 / 2) / sqrt(2 pi), below = its integral up to z. Further from zero
 * than `limit`, 37 at most, both are taken as they are there. */
SKCW_INLINE void skcw_normal(
    const skcw_four *z, skcw_four *density, skcw_four *below, const double limit)
{
    const double to_integer = 0x1.8p52; /* adding it rounds */
    const skcw_four zero = {0}, one = zero + 1.0, most = zero + limit;
    const skcw_four_mask sign = SKCW_BITS_4(-zero);
    const skcw_four_mask above = SKCW_MASK(*z >= 0.0);
    skcw_four x = SKCW_FROM_4(SKCW_BITS_4(*z) & ~sign);
    const skcw_four_mask near = SKCW_MASK(x < most);
    x = SKCW_FROM_4((near & SKCW_BITS_4(x)) | (~near & SKCW_BITS_4(most)));
    const skcw_four halvings = x * x * 0.72134752044448170368; /* log2(e) / 2 */
    const skcw_four shifted = halvings + to_integer;
    const skcw_four rest = halvings - (shifted - to_integer);
    skcw_four power = zero + SKCW_HALVING[0];
    skcw_four over = zero + SKCW_MILLS_OVER[0], under = zero + SKCW_MILLS_UNDER[0];
    for (int i = 1; i < 10; ++i)
        power = SKCW_HALVING[i] + power * rest;
    for (int i = 1; i < 7; ++i)
        over = SKCW_MILLS_OVER[i] + over * x;
    for (int i = 1; i < 8; ++i)
        under = SKCW_MILLS_UNDER[i] + under * x;
    /* The last bits of `shifted` say how often to halve: they go to the exponent. */
    power = SKCW_FROM_4(SKCW_BITS_4(power) - (SKCW_BITS_4(shifted) << 52));
    *density = power * 0.39894228040143267794;
    const skcw_four_mask tail = SKCW_BITS_4(*density * over / under);
    *below = SKCW_FROM_4(above & SKCW_BITS_4(one)) + SKCW_FROM_4(tail ^ (above & sign));
}

/* z[k] becomes the normal cdf at z[k], zero from -37 down, for a multiple of four. */
SKCW_CLONES static void skcw_normal_cdf(double *restrict z, ptrdiff_t n)
{
    for (ptrdiff_t k = 0; k < n; k += SKCW_NARROW) {
        skcw_four here, density, below;
        memcpy(&here, z + k, sizeof(here));
        skcw_normal(&here, &density, &below, 37.0);
        below = SKCW_FROM_4(SKCW_BITS_4(below) & SKCW_MASK(here > -37.0));
        memcpy(z + k, &below, sizeof(below));
    }
}

/* Numbers below 1e-100 become zero: processors are slow where numbers underflow. */
SKCW_INLINE void skcw_flush(skcw_four *x)
{
    *x = SKCW_FROM_4(SKCW_BITS_4(*x) & SKCW_MASK(*x > 1e-100));
}

/* The panel from `low` on, with n labels of means `center` and deviations 1 / rate.
 *
 * chance[k] = the integral over the panel of the density of k times the cdfs of all
 *             others: k is the greatest, and in the panel
 * edge[k]   = what the place `low` adds to chance[k]
 *
 * Returns the probability that all are below `low`. The products come from those over
 * the labels before and after k: nothing is divided by a cdf, which may be zero. */
SKCW_CLONES static double skcw_label_panel(
    double *restrict chance, double *restrict edge, double *restrict room,
    const double *restrict center, const double *restrict rate, ptrdiff_t n,
    double low, double width)
{
    skcw_four place[SKCW_VECTORS], before[SKCW_VECTORS], after[SKCW_VECTORS];
    skcw_four z, part, below;
    double *cdf = room + n * SKCW_PLACES;
    memcpy(place, SKCW_PLACE, sizeof(place));
    memcpy(after, SKCW_WEIGHT, sizeof(after));
    for (int v = 0; v < SKCW_VECTORS; ++v) {
        place[v] = low + width * place[v];
        before[v] = (skcw_four){0} + 1.0;
    }
    for (ptrdiff_t k = 0; k < n; ++k)
        for (int v = 0; v < SKCW_VECTORS; ++v) {
            const ptrdiff_t at = k * SKCW_PLACES + v * SKCW_NARROW;
            z = (place[v] - center[k]) * rate[k];
            skcw_normal(&z, &part, &below, 20.0);
            part *= rate[k] * width * before[v];
            before[v] *= below;
            skcw_flush(&before[v]);
            memcpy(room + at, &part, sizeof(part));
            memcpy(cdf + at, &below, sizeof(below));
        }
    for (ptrdiff_t k = n - 1; k >= 0; --k) {
        /* Four sums, each of every fourth place. */
        skcw_four sum[SKCW_FOUR / SKCW_NARROW] = {0};
        double four[SKCW_FOUR];
        for (int v = 0; v < SKCW_VECTORS; ++v) {
            const ptrdiff_t at = k * SKCW_PLACES + v * SKCW_NARROW;
            memcpy(&part, room + at, sizeof(part));
            memcpy(&below, cdf + at, sizeof(below));
            part *= after[v];
            after[v] *= below;
            skcw_flush(&after[v]);
            sum[v % (SKCW_FOUR / SKCW_NARROW)] += part;
            edge[k] = v == 0 ? SKCW_LANE(part, 0) : edge[k];
        }
        memcpy(four, sum, sizeof(four));
        chance[k] = (four[0] + four[1]) + (four[2] + four[3]);
    }
    return SKCW_LANE(before[0], 0);
}

/* winner[d] = the label with the greatest mean[k] + deviation[k] * noise[k, d], the
 * first of equals, for a multiple of four draws. */
SKCW_CLONES static void skcw_label_winners(
    long long *restrict winner, const double *restrict mean,
    const double *restrict deviation, const double *restrict noise,
    ptrdiff_t n_labels, ptrdiff_t n_draws)
{
    for (ptrdiff_t d = 0; d < n_draws; d += SKCW_NARROW) {
        skcw_four score, best = (skcw_four){0} - INFINITY;
        skcw_four_mask found = {0};
        for (ptrdiff_t k = 0; k < n_labels; ++k) {
            memcpy(&score, noise + k * n_draws + d, sizeof(score));
            score = mean[k] + deviation[k] * score;
            const skcw_four_mask more = SKCW_MASK(score > best);
            best = SKCW_FROM_4((more & SKCW_BITS_4(score)) | (~more & SKCW_BITS_4(best)));
            found = (more & (long long)k) | (~more & found);
        }
        memcpy(winner + d, &found, sizeof(found));
    }
}

#endif
