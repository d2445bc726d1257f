// Eight float32 at a time with AVX2 and F16C. See lanes_portable.h for what the functions are.
//
// No fused multiply-add: its single rounding would make results depend on the machine.
// bfloat16 is split without a shuffle: 32 bits hold two columns, and the even one is a float32 after a shift, the odd
// one after a mask. So one vector has the even columns and one the odd ones, which in the layout of pairs are the
// first and second members already; for halves, the table is put into that order once for all heads.
#pragma once
#include <immintrin.h>

#include <type_traits>

#include "lanes_portable.h"

namespace gnomon {
namespace {

struct Avx2 {
    static constexpr int64_t width = 8;
    using Smaller = Portable;
    using Floats = __m256;

    static Floats load(const float* from) { return _mm256_loadu_ps(from); }
    static void store(float* to, Floats x) { _mm256_storeu_ps(to, x); }
    static Floats times(Floats x, Floats y) { return _mm256_mul_ps(x, y); }
    static Floats plus(Floats x, Floats y) { return _mm256_add_ps(x, y); }
    static Floats minus(Floats x, Floats y) { return _mm256_sub_ps(x, y); }

    // Eight columns, one vector.
    static Floats read(const float* from) { return _mm256_loadu_ps(from); }
    static Floats read(const Float16* from) {
        return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    }
    template <bool Stream>
    static void write(float* to, Floats x) {
        Stream ? _mm256_stream_ps(to, x) : _mm256_storeu_ps(to, x);
    }
    template <bool Stream>
    static void write(Float16* to, Floats x) {
        const __m128i half = _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
        auto* at = reinterpret_cast<__m128i*>(to);
        Stream ? _mm_stream_si128(at, half) : _mm_storeu_si128(at, half);
    }

    template <class Element>
    static void split_halves(const Element* from, Floats& x, Floats& y) {
        x = read(from), y = read(from + width);
    }
    template <bool Stream, class Element>
    static void join_halves(Element* to, Floats x, Floats y) {
        write<Stream>(to, x), write<Stream>(to + width, y);
    }
    // Within each 128 bits: pairs 0 1 4 5 | 2 3 6 7, an order that unpacking undoes.
    template <class Element>
    static void split_pairs(const Element* from, Floats& first, Floats& second) {
        const Floats x = read(from), y = read(from + width);
        first = _mm256_shuffle_ps(x, y, 0x88), second = _mm256_shuffle_ps(x, y, 0xdd);
    }
    template <bool Stream, class Element>
    static void join_pairs(Element* to, Floats first, Floats second) {
        write<Stream>(to, _mm256_unpacklo_ps(first, second));
        write<Stream>(to + width, _mm256_unpackhi_ps(first, second));
    }
    template <class Element>
    static void halves_order(Floats& x, Floats& y) {
        if constexpr (std::is_same_v<Element, Bfloat16>) {
            const Floats even = _mm256_shuffle_ps(x, y, 0x88), odd = _mm256_shuffle_ps(x, y, 0xdd);
            x = plain_nan(by_quarters(even)), y = plain_nan(by_quarters(odd));
        }
    }
    template <class Element>
    static void pairs_order(Floats& x) {
        x = std::is_same_v<Element, Bfloat16> ? plain_nan(x) : by_quarters(x);
    }
    static Floats by_quarters(Floats x) {  // 64-bit quarters 0 2 1 3
        return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(x), 0xd8));
    }

    static void split_halves(const Bfloat16* from, Floats& even, Floats& odd) {
        const __m256i both = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
        even = _mm256_castsi256_ps(_mm256_slli_epi32(both, 16));
        odd = _mm256_castsi256_ps(_mm256_and_si256(both, _mm256_set1_epi32(int(0xffff0000))));
    }
    static void split_pairs(const Bfloat16* from, Floats& first, Floats& second) { split_halves(from, first, second); }
    template <bool Stream>
    static void join_halves(Bfloat16* to, Floats even, Floats odd) {
        const __m256i both = _mm256_blend_epi16(_mm256_srli_epi32(rounded(even), 16), rounded(odd), 0xaa);
        auto* at = reinterpret_cast<__m256i*>(to);
        Stream ? _mm256_stream_si256(at, both) : _mm256_storeu_si256(at, both);
    }
    template <bool Stream>
    static void join_pairs(Bfloat16* to, Floats first, Floats second) {
        join_halves<Stream>(to, first, second);
    }
    // The upper 16 bits are the nearest bfloat16, the even one of two. A NaN stays one if its lower bits are zero, as
    // in all that come from bfloat16, from the processor, and from `plain_nan`.
    static __m256i rounded(Floats x) {
        const __m256i bits = _mm256_castps_si256(x);
        const __m256i last = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
        return _mm256_add_epi32(bits, _mm256_add_epi32(last, _mm256_set1_epi32(0x7fff)));
    }
    static Floats plain_nan(Floats x) {
        const Floats nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000));
        return _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    }
    static void finish_streams() { _mm_sfence(); }
};

}  // namespace
}  // namespace gnomon
