/* Vectors of the compiler's own kind, or plain numbers in their place.
 *
 * GCC and Clang (clang-cl too) have vector types, which they split to what the processor
 * has. Elsewhere, and with SKCW_PORTABLE, a vector is a single number: loops over the
 * numbers of a block take steps of SKCW_WIDTH (or SKCW_NARROW), which is then 1. Every
 * number goes through the same operations in the same order: the bits are the same.
 */
#ifndef SKCW_VECTORS_H
#define SKCW_VECTORS_H

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* So many numbers are a block: of labels, or of draws. */
#define SKCW_BLOCK 8
/* The same for loops over doubles: GCC takes wider ones apart number by number. */
#define SKCW_FOUR 4

#if defined(__GNUC__)
#define SKCW_INLINE static inline __attribute__((always_inline, unused))
#define SKCW_UNUSED __attribute__((unused))
#define SKCW_PREFETCH(address) __builtin_prefetch(address)
/* Into the second cache: the first one is left to what is needed now. */
#define SKCW_PREFETCH_FAR(address) __builtin_prefetch(address, 0, 2)
#else
#define SKCW_INLINE static inline
#define SKCW_UNUSED
#define SKCW_PREFETCH(address) ((void)(address))
#define SKCW_PREFETCH_FAR(address) ((void)(address))
#endif

/* The function for what a pointer points to: NAME_f for float, NAME_d for double. */
#define SKCW_OF_TYPE(NAME, pointer)                                            \
    _Generic(*(pointer), float: NAME##_f, double: NAME##_d)

/* Clones choose AVX2 when the program starts; wheels still run without it. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
#define SKCW_CLONES __attribute__((unused, target_clones("avx2", "default")))
#else
#define SKCW_CLONES SKCW_UNUSED
#endif

#if defined(__GNUC__) && !defined(SKCW_PORTABLE)

/* How many numbers a vector holds. */
#define SKCW_WIDTH SKCW_BLOCK
#define SKCW_NARROW SKCW_FOUR

#define SKCW_VECTOR(TYPE, N) TYPE __attribute__((vector_size((N) * sizeof(TYPE))))
typedef SKCW_VECTOR(float, SKCW_BLOCK) skcw_block_f;
typedef SKCW_VECTOR(int, SKCW_BLOCK) skcw_mask_f;
typedef SKCW_VECTOR(unsigned, SKCW_BLOCK) skcw_bits;
typedef SKCW_VECTOR(double, SKCW_BLOCK) skcw_block_d;
typedef SKCW_VECTOR(long long, SKCW_BLOCK) skcw_mask_d;
typedef SKCW_VECTOR(float, SKCW_FOUR) skcw_four_f;
typedef SKCW_VECTOR(double, SKCW_FOUR) skcw_four;
typedef SKCW_VECTOR(long long, SKCW_FOUR) skcw_four_mask;

/* The bits of numbers as integers, and back. */
#define SKCW_BITS_F(x) ((skcw_mask_f)(x))
#define SKCW_FROM_F(x) ((skcw_block_f)(x))
#define SKCW_BITS_D(x) ((skcw_mask_d)(x))
#define SKCW_FROM_D(x) ((skcw_block_d)(x))
#define SKCW_BITS_4(x) ((skcw_four_mask)(x))
#define SKCW_FROM_4(x) ((skcw_four)(x))
#define SKCW_CONVERT(x, TYPE) __builtin_convertvector(x, TYPE)
/* All bits set where a comparison holds. */
#define SKCW_MASK(test) (test)
#define SKCW_LANE(x, g) ((x)[g])

#else

#define SKCW_WIDTH 1
#define SKCW_NARROW 1

typedef float skcw_block_f;
typedef int skcw_mask_f;
typedef unsigned skcw_bits;
typedef double skcw_block_d;
typedef long long skcw_mask_d;
typedef float skcw_four_f;
typedef double skcw_four;
typedef long long skcw_four_mask;

SKCW_INLINE int skcw_bits_f(float x)
{
    int bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

SKCW_INLINE float skcw_from_f(int bits)
{
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

SKCW_INLINE long long skcw_bits_d(double x)
{
    long long bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

SKCW_INLINE double skcw_from_d(long long bits)
{
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

#define SKCW_BITS_F(x) skcw_bits_f(x)
#define SKCW_FROM_F(x) skcw_from_f((int)(x))
#define SKCW_BITS_D(x) skcw_bits_d(x)
#define SKCW_FROM_D(x) skcw_from_d(x)
#define SKCW_BITS_4(x) skcw_bits_d(x)
#define SKCW_FROM_4(x) skcw_from_d(x)
#define SKCW_CONVERT(x, TYPE) ((TYPE)(x))
#define SKCW_MASK(test) (-(test))
#define SKCW_LANE(x, g) (x)

#endif

#endif
