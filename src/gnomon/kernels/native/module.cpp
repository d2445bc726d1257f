// The Python module `_rotary`: reads the arguments, checks everything that memory safety rests on, and runs the job.
#include <cstring>

#include "job.h"
#include "view.h"

namespace gnomon {
namespace {

constexpr int MOST_TENSORS = 8;
constexpr int64_t STREAM_BYTES = 8 << 20;   // below this, what is written is likely to be read from the caches
constexpr int64_t STREAM_ALIGNMENT = 64;
constexpr int64_t HOLD_BYTES = 256 << 10;   // above this, other Python threads may run meanwhile

const Level* level = nullptr;

// What a job points to.
struct Work {
    Rows rows[MOST_TENSORS];
    Job job;
    Dtype dtype;
    Layout layout;
};

bool refuse(const char* message) {
    PyErr_SetString(gnomon_error, message);
    return false;
}

bool is_contiguous(const View& view) {
    int64_t expected = 1;
    for (int i = view.dimensions - 1; i >= 0; --i) {
        if (view.shape[i] != 1 && view.strides[i] != expected) return false;
        expected *= view.shape[i];
    }
    return true;
}

bool has_shape_of(const View& x, const View& y) {
    return x.dimensions == y.dimensions && std::memcmp(x.shape, y.shape, sizeof(int64_t) * x.dimensions) == 0;
}

bool can_stream(const Work& work, const View& source, const View& destination) {
    const int64_t size = element_size(work.dtype), *n = destination.shape;
    if (source.data == destination.data || n[0] * n[1] * n[2] * n[3] * size <= STREAM_BYTES) return false;
    int64_t misaligned = int64_t(reinterpret_cast<uintptr_t>(destination.data)) % STREAM_ALIGNMENT;
    for (int i = 0; i < 3; ++i) misaligned |= destination.strides[i] * size % STREAM_ALIGNMENT;
    return !misaligned && (work.layout == INTERLEAVED || work.job.pairs * size % STREAM_ALIGNMENT == 0);
}

bool read_tensor(PyObject* pair, Work& work) {
    View source, destination;
    if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2)
        return refuse("Each tensor to turn is given as (source, destination).");
    if (!read_view(PyTuple_GetItem(pair, 0), source) || !read_view(PyTuple_GetItem(pair, 1), destination)) return false;
    if (source.dimensions != 4 || !has_shape_of(source, destination))
        return refuse("Source and destination of a rotation are of one shape (B, H, S, D).");
    if (source.kind > IS_FLOAT16 || source.kind != destination.kind)
        return refuse("Source and destination of a rotation are of one dtype: float32, bfloat16 or float16.");
    if (source.shape[3] > 1 && (source.strides[3] != 1 || destination.strides[3] != 1))
        return refuse("The last dimension of source and destination must be contiguous.");
    Job& job = work.job;
    const int64_t* n = source.shape;
    if (job.count == 0) job.batch = n[0], job.length = n[2], work.dtype = Dtype(source.kind);
    if (n[0] != job.batch || n[2] != job.length || Dtype(source.kind) != work.dtype)
        return refuse("Tensors that are turned together have one dtype, one batch and one length.");
    if (2 * job.pairs > n[3]) return refuse("The angles turn more columns than the vectors have.");
    Rows& rows = work.rows[job.count++];
    rows = {source.data, destination.data, n[1], n[3], {}, {}, can_stream(work, source, destination)};
    for (int i = 0; i < 3; ++i)
        rows.source_strides[i] = source.strides[i], rows.destination_strides[i] = destination.strides[i];
    return true;
}

bool read_tensors(PyObject* tensors, Work& work) {
    if (!PyTuple_Check(tensors) || PyTuple_Size(tensors) < 1 || PyTuple_Size(tensors) > MOST_TENSORS)
        return refuse("The compiled rotation takes a tuple of one to eight (source, destination).");
    for (Py_ssize_t i = 0; i < PyTuple_Size(tensors); ++i)
        if (!read_tensor(PyTuple_GetItem(tensors, i), work)) return false;
    return true;
}

bool read_table(PyObject* cos_object, PyObject* sin_object, View& cos, Table& table) {
    View sin;
    if (!read_view(cos_object, cos) || !read_view(sin_object, sin)) return false;
    if (cos.kind != IS_FLOAT32 || sin.kind != IS_FLOAT32 || !has_shape_of(cos, sin) || !is_contiguous(cos) ||
        !is_contiguous(sin) || cos.dimensions < 2 || cos.dimensions > 3)
        return refuse("Cosines and sines are contiguous float32 of one shape, (S, P) or (B, S, P).");
    table.cos = reinterpret_cast<const float*>(cos.data), table.sin = reinterpret_cast<const float*>(sin.data);
    return true;
}

bool fits_tokens(const View& cos, Job& job) {
    const bool per_row = cos.dimensions == 3 && cos.shape[0] != 1;
    if (cos.shape[cos.dimensions - 2] != job.length || (per_row && cos.shape[0] != job.batch))
        return refuse("Cosines and sines have one row for each token, or positions: (S, P), (1, S, P) or (B, S, P).");
    job.table.batch_rows = per_row ? job.length : 0;
    return true;
}

// Looks at every position before anything is written; `outside` becomes the first that has no row in the table.
bool read_positions(PyObject* object, const View& cos, Job& job, int64_t& outside) {
    View view;
    if (!read_view(object, view)) return false;
    if (cos.dimensions != 2) return refuse("A table that positions look up has the shape (positions, P).");
    if (view.kind != IS_INT64 || view.dimensions != 2 || view.shape[1] != job.length ||
        (view.shape[0] != 1 && view.shape[0] != job.batch))
        return refuse("Positions are int64 of shape (B, S) or (1, S).");
    Table& table = job.table;
    table.positions = reinterpret_cast<const int64_t*>(view.data);
    table.position_strides[0] = view.shape[0] == 1 ? 0 : view.strides[0], table.position_strides[1] = view.strides[1];
    for (int64_t b = 0; b < view.shape[0]; ++b) {
        const int64_t* row = table.positions + b * table.position_strides[0];
        for (int64_t i = 0; i < job.length; ++i) {
            outside = row[i * table.position_strides[1]];
            if (outside < 0)
                return PyErr_Format(position_error, "Positions count from 0, got %lld.", (long long)outside), false;
            if (outside >= cos.shape[0]) return true;
        }
    }
    outside = -1;
    return true;
}

PyObject* rotate(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 7) return refuse("The compiled rotation takes seven arguments."), nullptr;
    Work work{};
    View cos;
    work.job.rows = work.rows;
    if (!read_table(arguments[1], arguments[2], cos, work.job.table)) return nullptr;
    work.job.pairs = cos.shape[cos.dimensions - 1];
    const int interleaved = PyObject_IsTrue(arguments[4]);
    work.job.table.sign = float(PyFloat_AsDouble(arguments[5]));
    const long threads = PyLong_AsLong(arguments[6]);
    if (PyErr_Occurred()) return nullptr;
    work.layout = interleaved ? INTERLEAVED : HALF;
    if (!read_tensors(arguments[0], work)) return nullptr;
    int64_t outside = -1;
    if (arguments[3] == Py_None ? !fits_tokens(cos, work.job) : !read_positions(arguments[3], cos, work.job, outside))
        return nullptr;
    if (outside >= 0) return PyLong_FromLongLong(outside);
    const bool small = written(work.dtype, work.job) < HOLD_BYTES;
    PyThreadState* state = small ? nullptr : PyEval_SaveThread();
    run(*level, work.dtype, work.layout, work.job, int(threads));
    if (state) PyEval_RestoreThread(state);
    return PyLong_FromLong(-1);
}

PyObject* levels(PyObject*, PyObject*) {
    PyObject* names = PyList_New(0);
    for (const Level* const* each = LEVELS; names && *each; ++each) {
        if (!(*each)->runs_here()) continue;
        PyObject* name = PyUnicode_FromString((*each)->name);
        if (!name || PyList_Append(names, name) != 0) Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

PyObject* use_level(PyObject*, PyObject* name) {
    for (const Level* const* each = LEVELS; *each; ++each)
        if ((*each)->runs_here() && PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, (*each)->name) == 0)
            return level = *each, Py_NewRef(Py_None);
    return refuse("This processor has no such level."), nullptr;
}

PyObject* read_by_methods(PyObject*, PyObject* wanted) {
    reads_by_methods = PyObject_IsTrue(wanted);
    return Py_NewRef(Py_None);
}

PyMethodDef METHODS[] = {
    {"rotate", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(rotate)), METH_FASTCALL, nullptr},
    {"levels", levels, METH_NOARGS, nullptr},
    {"use_level", use_level, METH_O, nullptr},
    {"read_by_methods", read_by_methods, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_rotary", nullptr, -1, METHODS, nullptr, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace gnomon

PyMODINIT_FUNC PyInit__rotary() {
    using namespace gnomon;
    if (!prepare_views()) return nullptr;
    const Level* const* best = LEVELS;
    while (!(*best)->runs_here()) ++best;
    level = *best;
    PyObject* module = PyModule_Create(&MODULE);
    if (module) PyModule_AddStringConstant(module, "THREADS", has_openmp() ? "OpenMP" : "one thread");
    return module;
}
