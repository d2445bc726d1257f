// Chooses how many threads share the work, and lists the instruction sets.
#include "cpu.h"
#include "job.h"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace gnomon {

extern const Level PORTABLE, AVX2, AVX512;
#ifdef GNOMON_X86_64
const Level* const LEVELS[] = {&AVX512, &AVX2, &PORTABLE, nullptr};
#else
const Level* const LEVELS[] = {&PORTABLE, nullptr};
#endif

namespace {

// Bytes that are worth a thread of their own: it costs a few microseconds to wake one.
constexpr int64_t BYTES_PER_THREAD = 64 * 1024;

int64_t at_most(int64_t value, int64_t most) { return value < most ? value : most; }

}  // namespace

int64_t written(Dtype dtype, const Job& job) {
    int64_t columns = 0;
    for (int i = 0; i < job.count; ++i) columns += job.rows[i].heads * job.rows[i].width;
    return columns * job.batch * job.length * element_size(dtype);
}

bool has_openmp() {
#ifdef _OPENMP
    return true;
#else
    return false;
#endif
}

void run(const Level& level, Dtype dtype, Layout layout, const Job& job, int threads) {
    const Kernel kernel = level.kernels[dtype][layout];
    const int64_t units = job.batch * tiles(job);
    const int64_t useful = at_most(at_most(threads, units), written(dtype, job) / BYTES_PER_THREAD);
#ifdef _OPENMP
    if (useful > 1) {
#pragma omp parallel num_threads(int(useful))
        {
            const int64_t index = omp_get_thread_num(), count = omp_get_num_threads();
            kernel(job, units * index / count, units * (index + 1) / count);
        }
        return;
    }
#endif
    kernel(job, 0, units);
}

}  // namespace gnomon
