#include "view.h"

#include <cstring>

#include "dlpack.h"

namespace gnomon {

bool reads_by_methods = false;
PyObject *gnomon_error = nullptr, *position_error = nullptr;

namespace {

PyObject *tensor_type = nullptr, *is_neg = nullptr;
const dlpack::ExchangeApi* exchange = nullptr;

PyObject* imported(const char* module, const char* name) {
    PyObject* found = PyImport_ImportModule(module);
    if (!found) return nullptr;
    PyObject* value = PyObject_GetAttrString(found, name);
    Py_DECREF(found);
    return value;
}

bool refuse(const char* why) {
    PyErr_Format(gnomon_error, "The compiled rotation reads dense tensors in CPU memory, got %s.", why);
    return false;
}

Kind kind_of(const dlpack::Tensor& tensor) {
    const auto dtype = tensor.dtype;
    if (dtype.lanes != 1) return IS_OTHER;
    if (dtype.code == dlpack::FLOAT) return dtype.bits == 32 ? IS_FLOAT32 : dtype.bits == 16 ? IS_FLOAT16 : IS_OTHER;
    if (dtype.code == dlpack::BFLOAT) return dtype.bits == 16 ? IS_BFLOAT16 : IS_OTHER;
    return dtype.code == dlpack::INT && dtype.bits == 64 ? IS_INT64 : IS_OTHER;
}

bool read_by_table(PyObject* object, View& out) {
    dlpack::Tensor tensor;
    if (exchange->look(object, &tensor) != 0) return PyErr_Clear(), refuse("one without plain memory");
    if (tensor.device.type != dlpack::CPU) return refuse("one on another device");
    if (tensor.dimensions > View::MOST) return refuse("one of more than four dimensions");
    out.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
    out.kind = kind_of(tensor);
    out.dimensions = tensor.dimensions;
    for (int i = 0; i < out.dimensions; ++i) out.shape[i] = tensor.shape[i], out.strides[i] = tensor.strides[i];
    return true;
}

// The text of an attribute, as in str(x.dtype), compared with what is wanted.
bool attribute_is(PyObject* object, const char* name, const char* wanted) {
    PyObject* value = PyObject_GetAttrString(object, name);
    PyObject* text = value ? PyObject_Str(value) : nullptr;
    const bool equal = text && PyUnicode_CompareWithASCIIString(text, wanted) == 0;
    Py_XDECREF(value);
    Py_XDECREF(text);
    return equal;
}

bool read_numbers(PyObject* numbers, int64_t* out, int& count) {
    if (!numbers) return false;
    count = int(PySequence_Size(numbers));
    for (int i = 0; i < count && i < View::MOST; ++i) {
        PyObject* number = PySequence_GetItem(numbers, i);
        out[i] = number ? PyLong_AsLongLong(number) : 0;
        Py_XDECREF(number);
    }
    Py_DECREF(numbers);
    return !PyErr_Occurred();
}

bool read_by_methods(PyObject* object, View& out) {
    if (!attribute_is(object, "device", "cpu")) return PyErr_Occurred() ? false : refuse("one on another device");
    if (!attribute_is(object, "layout", "torch.strided")) return PyErr_Occurred() ? false : refuse("a sparse one");
    int strides = 0;
    if (!read_numbers(PyObject_GetAttrString(object, "shape"), out.shape, out.dimensions)) return false;
    if (!read_numbers(PyObject_CallMethod(object, "stride", nullptr), out.strides, strides)) return false;
    if (out.dimensions > View::MOST) return refuse("one of more than four dimensions");
    const char* names[] = {"torch.float32", "torch.bfloat16", "torch.float16", "torch.int64"};
    int kind = 0;
    while (kind < IS_OTHER && !attribute_is(object, "dtype", names[kind])) ++kind;
    out.kind = Kind(kind);
    PyObject* address = PyErr_Occurred() ? nullptr : PyObject_CallMethod(object, "data_ptr", nullptr);
    if (!address) return false;
    out.data = static_cast<char*>(PyLong_AsVoidPtr(address));
    Py_DECREF(address);
    return !PyErr_Occurred();
}

// A tensor whose memory holds the negated numbers, as some views of complex tensors do.
bool is_negated(PyObject* object) {
    PyObject* answer = PyObject_CallMethodObjArgs(object, is_neg, nullptr);
    const bool negated = answer != Py_False;
    Py_XDECREF(answer);
    return negated;
}

}  // namespace

bool prepare_views() {
    gnomon_error = imported("gnomon.errors", "GnomonError");
    position_error = imported("gnomon.errors", "PositionError");
    tensor_type = imported("torch", "Tensor");
    is_neg = PyUnicode_InternFromString("is_neg");
    if (!gnomon_error || !position_error || !tensor_type || !is_neg) return false;
    PyObject* capsule = PyObject_GetAttrString(tensor_type, dlpack::ATTRIBUTE);
    if (capsule && PyCapsule_IsValid(capsule, dlpack::CAPSULE))
        exchange = dlpack::of_known_version(PyCapsule_GetPointer(capsule, dlpack::CAPSULE));
    Py_XDECREF(capsule);  // torch keeps the table for as long as the process lives
    PyErr_Clear();
    if (exchange && !exchange->look) exchange = nullptr;
    reads_by_methods = !exchange;
    return true;
}

bool read_view(PyObject* object, View& out) {
    if (!PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(tensor_type))) return refuse("something else");
    if (!(reads_by_methods || !exchange ? read_by_methods(object, out) : read_by_table(object, out))) return false;
    if (!is_negated(object)) return true;
    return PyErr_Occurred() ? false : refuse("a lazily negated one; call resolve_neg() on it first");
}

}  // namespace gnomon
