// Sixteen float32 at a time with AVX-512 (F, BW); otherwise as lanes_avx2.h.
//
// Rounding to bfloat16 is by integers here too: the processor's own instruction for it takes subnormal numbers as zero.
#pragma once
#include "lanes_avx2.h"

namespace gnomon {
namespace {

struct Avx512 {
    static constexpr int64_t width = 16;
    using Smaller = Avx2;
    using Floats = __m512;

    static Floats load(const float* from) { return _mm512_loadu_ps(from); }
    static void store(float* to, Floats x) { _mm512_storeu_ps(to, x); }
    static Floats times(Floats x, Floats y) { return _mm512_mul_ps(x, y); }
    static Floats plus(Floats x, Floats y) { return _mm512_add_ps(x, y); }
    static Floats minus(Floats x, Floats y) { return _mm512_sub_ps(x, y); }

    // Sixteen columns, one vector.
    static Floats read(const float* from) { return _mm512_loadu_ps(from); }
    static Floats read(const Float16* from) {
        return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
    }
    template <bool Stream>
    static void write(float* to, Floats x) {
        Stream ? _mm512_stream_ps(to, x) : _mm512_storeu_ps(to, x);
    }
    template <bool Stream>
    static void write(Float16* to, Floats x) {
        const __m256i half = _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        auto* at = reinterpret_cast<__m256i*>(to);
        Stream ? _mm256_stream_si256(at, half) : _mm256_storeu_si256(at, half);
    }

    template <class Element>
    static void split_halves(const Element* from, Floats& x, Floats& y) {
        x = read(from), y = read(from + width);
    }
    template <bool Stream, class Element>
    static void join_halves(Element* to, Floats x, Floats y) {
        write<Stream>(to, x), write<Stream>(to + width, y);
    }
    template <class Element>
    static void split_pairs(const Element* from, Floats& first, Floats& second) {
        const Floats x = read(from), y = read(from + width);
        first = evens(x, y), second = odds(x, y);
    }
    template <bool Stream, class Element>
    static void join_pairs(Element* to, Floats first, Floats second) {
        const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
        write<Stream>(to, _mm512_permutex2var_ps(first, low, second));
        write<Stream>(to + width, _mm512_permutex2var_ps(first, high, second));
    }
    template <class Element>
    static void halves_order(Floats& x, Floats& y) {
        if constexpr (std::is_same_v<Element, Bfloat16>) {
            const Floats even = evens(x, y), odd = odds(x, y);
            x = plain_nan(even), y = plain_nan(odd);
        }
    }
    template <class Element>
    static void pairs_order(Floats& x) {
        if constexpr (std::is_same_v<Element, Bfloat16>) x = plain_nan(x);
    }
    static Floats evens(Floats x, Floats y) {
        const __m512i index = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        return _mm512_permutex2var_ps(x, index, y);
    }
    static Floats odds(Floats x, Floats y) {
        const __m512i index = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
        return _mm512_permutex2var_ps(x, index, y);
    }

    static void split_halves(const Bfloat16* from, Floats& even, Floats& odd) {
        const __m512i both = _mm512_loadu_si512(from);
        even = _mm512_castsi512_ps(_mm512_slli_epi32(both, 16));
        odd = _mm512_castsi512_ps(_mm512_and_si512(both, _mm512_set1_epi32(int(0xffff0000))));
    }
    static void split_pairs(const Bfloat16* from, Floats& first, Floats& second) { split_halves(from, first, second); }
    template <bool Stream>
    static void join_halves(Bfloat16* to, Floats even, Floats odd) {
        const __m512i both = _mm512_mask_blend_epi16(0xaaaaaaaa, _mm512_srli_epi32(rounded(even), 16), rounded(odd));
        auto* at = reinterpret_cast<__m512i*>(to);
        Stream ? _mm512_stream_si512(at, both) : _mm512_storeu_si512(at, both);
    }
    template <bool Stream>
    static void join_pairs(Bfloat16* to, Floats first, Floats second) {
        join_halves<Stream>(to, first, second);
    }
    static __m512i rounded(Floats x) {
        const __m512i bits = _mm512_castps_si512(x);
        const __m512i last = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
        return _mm512_add_epi32(bits, _mm512_add_epi32(last, _mm512_set1_epi32(0x7fff)));
    }
    static Floats plain_nan(Floats x) {
        const Floats nan = _mm512_castsi512_ps(_mm512_set1_epi32(0x7fc00000));
        return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), x, nan);
    }
    static void finish_streams() { _mm_sfence(); }
};

}  // namespace
}  // namespace gnomon
