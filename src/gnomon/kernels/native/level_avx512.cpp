// The kernels for x86-64 with AVX-512. All code of this file is for that instruction set, down to the end.
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cpu.h"
#include "job.h"

#ifdef GNOMON_X86_64
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx2,f16c"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC target("avx512f,avx512bw,avx2,f16c")
#endif

#include "lanes_avx512.h"
#include "kernel.h"

namespace gnomon {
extern const Level AVX512;
const Level AVX512 = level_of<Avx512>("avx512", has_avx512);
}  // namespace gnomon

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
