// The part of DLPack 1.x (dmlc/dlpack, version 1.3) that is needed to look at a tensor without owning it.
//
// A library puts a table of C functions, `ExchangeApi`, in a capsule on its tensor type, as the attribute
// `__dlpack_c_exchange_api__`. Its layout is stable within a major version, and the header tells the version.
#pragma once
#include <cstdint>

namespace gnomon::dlpack {

constexpr uint32_t MAJOR = 1;
constexpr const char* CAPSULE = "dlpack_exchange_api";
constexpr const char* ATTRIBUTE = "__dlpack_c_exchange_api__";

constexpr int32_t CPU = 1;  // the device type
constexpr uint8_t INT = 0, FLOAT = 2, BFLOAT = 4;  // codes of types

struct Tensor {
    void* data;
    struct {
        int32_t type, index;
    } device;
    int32_t dimensions;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t* shape;
    int64_t* strides;  // in elements
    uint64_t byte_offset;
};
static_assert(sizeof(void*) != 8 || sizeof(Tensor) == 48, "the layout that DLPack fixes");

struct ExchangeApiHeader {
    struct {
        uint32_t major, minor;
    } version;
    ExchangeApiHeader* previous;  // the table of an older major version, or null
};

struct ExchangeApi {
    ExchangeApiHeader header;
    void* allocate;
    void* export_managed;
    void* import_managed;
    int (*look)(void* object, Tensor* out);  // borrows: 0, or -1 with a Python exception set. May be null
    void* current_stream;
};

// The table of the major version that this file knows, or null.
inline const ExchangeApi* of_known_version(const void* table) {
    auto* header = static_cast<const ExchangeApiHeader*>(table);
    while (header && header->version.major != MAJOR) header = header->previous;
    return reinterpret_cast<const ExchangeApi*>(header);
}

}  // namespace gnomon::dlpack
