// What a kernel is asked to do, and the kernels that there are. Strides count elements.
#pragma once
#include <cstdint>

namespace gnomon {

enum Dtype { FLOAT32, BFLOAT16, FLOAT16, DTYPES };
enum Layout { HALF, INTERLEAVED, LAYOUTS };
constexpr int64_t element_size(Dtype dtype) { return dtype == FLOAT32 ? 4 : 2; }

// Vectors (B, H, S, D) to read, and where their turned form goes; the two may be the same memory.
struct Rows {
    const void* source;
    void* destination;
    int64_t heads, width;
    int64_t source_strides[3], destination_strides[3];  // batch, head, position
    bool stream;  // write past the caches: `destination` is large, and everything in it aligned to 64 bytes
};

// Cosines and sines, float32, `pairs` a row. Row = position where there are positions, else batch and place.
struct Table {
    const float *cos, *sin;
    int64_t batch_rows;  // from one row of the batch to the next; 0 if all share the rows
    const int64_t* positions;  // or null
    int64_t position_strides[2];  // batch, place
    float sign;  // +1 turns, -1 turns back
};

struct Job {
    const Rows* rows;
    int count;
    int64_t batch, length, pairs;
    Table table;
};

// The work is cut into units: up to TILE consecutive places of one row of the batch, all heads of all tensors. The
// table's rows for a tile stay in the first-level cache while the heads go by.
constexpr int64_t TILE = 32;
inline int64_t tiles(const Job& job) { return (job.length + TILE - 1) / TILE; }

using Kernel = void (*)(const Job& job, int64_t first_unit, int64_t end_unit);

// The kernels of one instruction set. All sets round alike: results are equal to the last bit.
struct Level {
    const char* name;
    bool (*runs_here)();
    Kernel kernels[DTYPES][LAYOUTS];
};

// Best first, ends with a null; the last one runs anywhere.
extern const Level* const LEVELS[];

// Bytes of all destinations.
int64_t written(Dtype dtype, const Job& job);

// Does all units with at most so many threads; few for little work.
void run(const Level& level, Dtype dtype, Layout layout, const Job& job, int threads);
bool has_openmp();

}  // namespace gnomon
