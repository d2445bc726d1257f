// One number at a time: the element types, and their conversion from and to float32 with rounding to nearest even.
// Static on purpose: each instruction set compiles its own copy of this file.
#pragma once
#include <cstdint>
#include <cstring>

namespace gnomon {
namespace {

struct Bfloat16 {
    uint16_t bits;
};
struct Float16 {
    uint16_t bits;
};

inline uint32_t bits_of(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline float float_of(uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

inline float widen(float value) { return value; }
inline float widen(Bfloat16 value) { return float_of(uint32_t(value.bits) << 16); }

inline float widen(Float16 value) {
    const uint32_t sign = uint32_t(value.bits & 0x8000) << 16, size = value.bits & 0x7fff;
    if (size >= 0x7c00) return float_of(sign | 0x7f800000 | (size & 0x3ff) << 13 | (size > 0x7c00 ? 0x400000 : 0));
    if (size >= 0x400) return float_of(sign | ((size << 13) + 0x38000000));
    return float_of(sign | bits_of(float(size) * 0x1p-24f));  // a subnormal number of float16 is normal in float32
}

inline void narrow(float value, float& out) { out = value; }

inline void narrow(float value, Bfloat16& out) {
    const uint32_t bits = bits_of(value);
    if ((bits & 0x7fffffff) > 0x7f800000)
        out.bits = 0x7fc0;
    else
        out.bits = uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

inline void narrow(float value, Float16& out) {
    const uint32_t sign = bits_of(value) >> 16 & 0x8000, size = bits_of(value) & 0x7fffffff;
    uint32_t half;
    if (size > 0x7f800000)
        half = 0x7e00 | (size >> 13 & 0x3ff);
    else if (size >= 0x477ff000)  // 65520 and more round to infinity
        half = 0x7c00;
    else if (size >= 0x38800000)
        half = (size + 0xfff + (size >> 13 & 1) - 0x38000000) >> 13;
    else  // below 2^-14: adding 0.5 rounds to a multiple of 2^-24, the last place of a subnormal number
        half = bits_of(float_of(size) + 0.5f) - bits_of(0.5f);
    out.bits = uint16_t(sign | half);
}

// Asks for memory that is needed soon. Any address may be given.
inline void prefetch(const void* address, int64_t bytes) {
#ifdef __GNUC__
    for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(static_cast<const char*>(address) + i);
#endif
}

// The end of the chain of vectors: one pair a step.
struct Scalar {
    static constexpr int64_t width = 1;
    using Floats = float;
    static float load(const float* from) { return *from; }
    static void store(float* to, float value) { *to = value; }
};

}  // namespace
}  // namespace gnomon
