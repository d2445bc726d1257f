#include "cpu.h"

#ifdef GNOMON_X86_64
#ifdef _MSC_VER
#include <intrin.h>
#else
#include <cpuid.h>
#endif

namespace gnomon {
namespace {

struct Registers {
    unsigned a, b, c, d;
};

Registers identify(unsigned leaf) {
    Registers r{};
#ifdef _MSC_VER
    int all[4];
    __cpuid(all, 0);
    if (unsigned(all[0]) < leaf) return r;
    __cpuidex(all, int(leaf), 0);
    r = {unsigned(all[0]), unsigned(all[1]), unsigned(all[2]), unsigned(all[3])};
#else
    __get_cpuid_count(leaf, 0, &r.a, &r.b, &r.c, &r.d);
#endif
    return r;
}

bool bit(unsigned value, int index) { return value >> index & 1; }

// The registers that the operating system saves when it switches tasks.
unsigned saved_registers() {
    if (!bit(identify(1).c, 27)) return 0;
#ifdef _MSC_VER
    return unsigned(_xgetbv(0));
#else
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
#endif
}

}  // namespace

static bool find_avx2() {
    const Registers first = identify(1);
    const bool avx_and_f16c = bit(first.c, 28) && bit(first.c, 29);
    return avx_and_f16c && bit(identify(7).b, 5) && (saved_registers() & 0x06) == 0x06;
}

static bool find_avx512() {
    const Registers seventh = identify(7);
    return has_avx2() && bit(seventh.b, 16) && bit(seventh.b, 30) && (saved_registers() & 0xe6) == 0xe6;
}

bool has_avx2() {
    static const bool found = find_avx2();
    return found;
}

bool has_avx512() {
    static const bool found = find_avx512();
    return found;
}

bool anywhere() { return true; }

}  // namespace gnomon

#else
namespace gnomon {
bool has_avx2() { return false; }
bool has_avx512() { return false; }
bool anywhere() { return true; }
}  // namespace gnomon
#endif
