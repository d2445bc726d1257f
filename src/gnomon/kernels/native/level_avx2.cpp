// The kernels for x86-64 with AVX2. All code of this file is for that instruction set, down to the end.
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cpu.h"
#include "job.h"

#ifdef GNOMON_X86_64
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,f16c"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC target("avx2,f16c")
#endif

#include "lanes_avx2.h"
#include "kernel.h"

namespace gnomon {
extern const Level AVX2;
const Level AVX2 = level_of<Avx2>("avx2", has_avx2);
}  // namespace gnomon

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
