// A torch.Tensor as an address, a shape and strides, read without torch's headers.
#pragma once
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>

#include <cstdint>

namespace gnomon {

enum Kind { IS_FLOAT32, IS_BFLOAT16, IS_FLOAT16, IS_INT64, IS_OTHER };

struct View {
    static constexpr int MOST = 4;
    char* data;
    Kind kind;
    int dimensions;
    int64_t shape[MOST], strides[MOST];  // strides in elements
};

// Finds torch and its DLPack table. False with a Python exception set.
bool prepare_views();

// True if tensors are read by the methods of torch.Tensor: with an old torch, or because a test asks for it.
extern bool reads_by_methods;

// False with a Python exception set: not a tensor, not on the CPU, more than four dimensions, a lazy negation.
// The view holds while the tensor lives and is not resized.
bool read_view(PyObject* object, View& out);

// Sets gnomon.errors.GnomonError, or PositionError.
extern PyObject *gnomon_error, *position_error;

}  // namespace gnomon
