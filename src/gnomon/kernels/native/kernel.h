// The rotation itself, (a, b) -> (a cos - b sin, b cos + a sin), over any lanes, element type and layout.
//
// Products and sums are float32, one rounding each and in this order, as in plain torch; the result is rounded once.
#pragma once
#include "job.h"

namespace gnomon {
namespace {

// Rows of the table for one tile, in the order of the lanes, sines with the sign of the job.
struct Prepared {
    static constexpr int64_t CAPACITY = 2048;
    alignas(64) float cos[CAPACITY];
    alignas(64) float sin[CAPACITY];
};

// Bytes of one head that are turned before the next: with what is asked for in advance, from and to, they have to fit
// into the first-level cache beside Prepared.
constexpr int64_t RUN = 8 * 1024;

inline int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

// Consecutive pairs of the table, brought into the order that `turn` reads them in.
template <Layout layout, class Lanes, class Element>
inline void arrange(const float* from, float* to, int64_t count, float factor) {
    int64_t i = 0;
    if constexpr (Lanes::width == 1) {
        for (; i < count; ++i) to[i] = from[i] * factor;
    } else {
        const float factors[16] = {factor, factor, factor, factor, factor, factor, factor, factor,
                                   factor, factor, factor, factor, factor, factor, factor, factor};
        const auto each = Lanes::load(factors);
        constexpr int64_t step = layout == HALF ? 2 * Lanes::width : Lanes::width;
        for (; i + step <= count; i += step) {
            auto x = Lanes::times(Lanes::load(from + i), each);
            if constexpr (layout == HALF) {
                auto y = Lanes::times(Lanes::load(from + i + Lanes::width), each);
                Lanes::template halves_order<Element>(x, y);
                Lanes::store(to + i + Lanes::width, y);
            } else {
                Lanes::template pairs_order<Element>(x);
            }
            Lanes::store(to + i, x);
        }
        arrange<layout, typename Lanes::Smaller, Element>(from + i, to + i, count - i, factor);
    }
}

// One vector of D columns: `count` pairs of columns (i, i + apart) for halves, (2 i, 2 i + 1) for interleaved pairs.
template <Layout layout, class Lanes, bool Stream, class Element>
inline void turn(const Element* from, Element* to, int64_t apart, const float* cos, const float* sin, int64_t count) {
    int64_t i = 0;
    if constexpr (Lanes::width == 1) {
        constexpr int64_t step = layout == HALF ? 1 : 2;
        for (; i < count; ++i) {
            const float a = widen(from[step * i]), b = widen(from[step * i + apart]);
            narrow(a * cos[i] - b * sin[i], to[step * i]);
            narrow(b * cos[i] + a * sin[i], to[step * i + apart]);
        }
    } else if constexpr (layout == HALF) {
        constexpr int64_t w = Lanes::width;
        typename Lanes::Floats a, b, a2, b2;
        for (; i + 2 * w <= count; i += 2 * w) {
            Lanes::split_halves(from + i, a, a2);
            Lanes::split_halves(from + apart + i, b, b2);
            const auto c = Lanes::load(cos + i), c2 = Lanes::load(cos + i + w);
            const auto s = Lanes::load(sin + i), s2 = Lanes::load(sin + i + w);
            Lanes::template join_halves<Stream>(to + i, Lanes::minus(Lanes::times(a, c), Lanes::times(b, s)),
                                                Lanes::minus(Lanes::times(a2, c2), Lanes::times(b2, s2)));
            Lanes::template join_halves<Stream>(to + apart + i, Lanes::plus(Lanes::times(b, c), Lanes::times(a, s)),
                                                Lanes::plus(Lanes::times(b2, c2), Lanes::times(a2, s2)));
        }
        turn<layout, typename Lanes::Smaller, Stream>(from + i, to + i, apart, cos + i, sin + i, count - i);
    } else {
        typename Lanes::Floats a, b;
        for (; i + Lanes::width <= count; i += Lanes::width) {
            Lanes::split_pairs(from + 2 * i, a, b);
            const auto c = Lanes::load(cos + i), s = Lanes::load(sin + i);
            Lanes::template join_pairs<Stream>(to + 2 * i, Lanes::minus(Lanes::times(a, c), Lanes::times(b, s)),
                                               Lanes::plus(Lanes::times(b, c), Lanes::times(a, s)));
        }
        turn<layout, typename Lanes::Smaller, Stream>(from + 2 * i, to + 2 * i, apart, cos + i, sin + i, count - i);
    }
}

// A tile of the rows' places and a chunk of the pairs that fits into Prepared.
struct Part {
    int64_t batch, place, places, pair, pairs, row;  // row: floats from one row of Prepared to the next
};

template <Layout layout, class Lanes, class Element>
inline void prepare(const Table& table, int64_t pairs, const Part& part, Prepared& out) {
    for (int64_t i = 0; i < part.places; ++i) {
        int64_t row = part.batch * table.batch_rows + part.place + i;
        if (table.positions)
            row = table.positions[part.batch * table.position_strides[0] +
                                  (part.place + i) * table.position_strides[1]];
        const int64_t at = row * pairs + part.pair;
        arrange<layout, Lanes, Element>(table.cos + at, out.cos + i * part.row, part.pairs, 1.0f);
        arrange<layout, Lanes, Element>(table.sin + at, out.sin + i * part.row, part.pairs, table.sign);
    }
}

// Goes over heads and places, outside the one that is further apart in the destination. With the heads outside, memory
// is read in short runs that no processor foresees, so the same run of the next head is asked for in advance.
template <Layout layout, class Lanes, bool Stream, class Element>
inline void turn_part(const Rows& rows, int64_t pairs, const Part& part, const Prepared& table) {
    const int64_t *in = rows.source_strides, *out = rows.destination_strides;
    const int64_t column = layout == HALF ? part.pair : 2 * part.pair, apart = layout == HALF ? pairs : 1;
    const bool in_place = rows.source == rows.destination;
    const int64_t rest = part.pair == 0 && !in_place ? (rows.width - 2 * pairs) * int64_t(sizeof(Element)) : 0;
    const int64_t touched = (in_place ? 2 * pairs : rows.width) * int64_t(sizeof(Element));
    const auto* source = static_cast<const Element*>(rows.source) + part.batch * in[0] + part.place * in[2];
    auto* destination = static_cast<Element*>(rows.destination) + part.batch * out[0] + part.place * out[2];

    const int head = out[1] >= out[2] ? 0 : 1;  // which loop the heads are: outer or inner
    const int64_t counts[] = {head ? part.places : rows.heads, head ? rows.heads : part.places};
    const int64_t from_strides[] = {in[1 + head], in[2 - head]}, to_strides[] = {out[1 + head], out[2 - head]};
    const int64_t table_strides[] = {head ? part.row : 0, head ? 0 : part.row};
    const bool foresees = !head && part.places > 1;
    for (int64_t i = 0; i < counts[0]; ++i) {
        const Element* from = source + i * from_strides[0];
        Element* to = destination + i * to_strides[0];
        const float *cos = table.cos + i * table_strides[0], *sin = table.sin + i * table_strides[0];
        const int64_t ahead = i + 1 < counts[0] ? in[1] : part.places * in[2] - i * in[1];
        const int64_t ahead_to = i + 1 < counts[0] ? out[1] : part.places * out[2] - i * out[1];
        for (int64_t j = 0; j < counts[1]; ++j) {
            if (foresees) {
                prefetch(from + ahead, touched);
                if (!Stream && !in_place) prefetch(to + ahead_to, touched);
            }
            turn<layout, Lanes, Stream>(from + column, to + column, apart, cos, sin, part.pairs);
            if (rest) std::memcpy(to + 2 * pairs, from + 2 * pairs, rest);
            from += from_strides[1], to += to_strides[1], cos += table_strides[1], sin += table_strides[1];
        }
    }
}

template <Layout layout, class Lanes, class Element>
void turn_units(const Job& job, int64_t first, int64_t end) {
    Prepared table;
    const int64_t in_batch = tiles(job);
    for (int64_t unit = first; unit < end; ++unit) {
        const int64_t batch = unit / in_batch, tile = unit % in_batch * TILE;
        const int64_t last = least(tile + TILE, job.length);
        int64_t chunk = 0;
        do {
            const int64_t most = Prepared::CAPACITY, pairs = least(job.pairs - chunk, most);
            const int64_t row = pairs < 1 ? 16 : (pairs + 15) / 16 * 16;
            const int64_t fit = least(most / row, RUN / (row * 2 * int64_t(sizeof(Element))));
            const int64_t step = fit < 1 ? 1 : least(fit, TILE);
            for (int64_t place = tile; place < last; place += step) {
                const Part part{batch, place, least(step, last - place), chunk, pairs, row};
                prepare<layout, Lanes, Element>(job.table, job.pairs, part, table);
                for (const Rows* rows = job.rows; rows < job.rows + job.count; ++rows)
                    rows->stream ? turn_part<layout, Lanes, true, Element>(*rows, job.pairs, part, table)
                                 : turn_part<layout, Lanes, false, Element>(*rows, job.pairs, part, table);
            }
            chunk += pairs;
        } while (chunk < job.pairs);
    }
    if constexpr (Lanes::width > 1) Lanes::finish_streams();
}

template <class Lanes>
constexpr Level level_of(const char* name, bool (*runs_here)()) {
    return {name,
            runs_here,
            {{turn_units<HALF, Lanes, float>, turn_units<INTERLEAVED, Lanes, float>},
             {turn_units<HALF, Lanes, Bfloat16>, turn_units<INTERLEAVED, Lanes, Bfloat16>},
             {turn_units<HALF, Lanes, Float16>, turn_units<INTERLEAVED, Lanes, Float16>}}};
}

}  // namespace
}  // namespace gnomon
