// Which instruction sets this processor and its operating system have. Asked once: virtual machines answer slowly.
#pragma once

#if defined(__x86_64__) || defined(_M_X64)
#define GNOMON_X86_64 1
#endif

namespace gnomon {
bool has_avx2();    // and F16C
bool has_avx512();  // F and BW, and all of the above
bool anywhere();
}  // namespace gnomon
