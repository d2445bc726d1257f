// Four float32 at a time in plain C++, which compilers turn into SSE2 or NEON: the instruction set of every machine.
//
// What a set of lanes gives the kernel: `width` numbers a vector; `Smaller`, the lanes that take what is left over;
// float32 `load`, `store`, `times`, `plus`, `minus`; and, for each element type, four ways between memory and vectors:
//   split_halves   2 width columns -> two vectors, in any order that `halves_order` gives the table's columns too
//   split_pairs    2 width columns -> the first and the second members of pairs, in the order of `pairs_order`
//   join_halves, join_pairs   back, each number rounded once; with Stream, past the caches
#pragma once
#include "scalar.h"

namespace gnomon {
namespace {

struct Portable {
    static constexpr int64_t width = 4;
    using Smaller = Scalar;
    struct Floats {
        float at[4];
    };

    static Floats load(const float* from) { return {from[0], from[1], from[2], from[3]}; }
    static void store(float* to, Floats x) { std::memcpy(to, x.at, sizeof x.at); }
    static Floats times(Floats x, Floats y) {
        for (int i = 0; i < 4; ++i) x.at[i] *= y.at[i];
        return x;
    }
    static Floats plus(Floats x, Floats y) {
        for (int i = 0; i < 4; ++i) x.at[i] += y.at[i];
        return x;
    }
    static Floats minus(Floats x, Floats y) {
        for (int i = 0; i < 4; ++i) x.at[i] -= y.at[i];
        return x;
    }

    template <class Element>
    static void split_halves(const Element* from, Floats& x, Floats& y) {
        for (int i = 0; i < 4; ++i) x.at[i] = widen(from[i]), y.at[i] = widen(from[4 + i]);
    }
    template <class Element>
    static void split_pairs(const Element* from, Floats& x, Floats& y) {
        for (int i = 0; i < 4; ++i) x.at[i] = widen(from[2 * i]), y.at[i] = widen(from[2 * i + 1]);
    }
    template <bool Stream, class Element>
    static void join_halves(Element* to, Floats x, Floats y) {
        for (int i = 0; i < 4; ++i) narrow(x.at[i], to[i]), narrow(y.at[i], to[4 + i]);
    }
    template <bool Stream, class Element>
    static void join_pairs(Element* to, Floats x, Floats y) {
        for (int i = 0; i < 4; ++i) narrow(x.at[i], to[2 * i]), narrow(y.at[i], to[2 * i + 1]);
    }
    template <class Element>
    static void halves_order(Floats&, Floats&) {}
    template <class Element>
    static void pairs_order(Floats&) {}
    static void finish_streams() {}
};

}  // namespace
}  // namespace gnomon
