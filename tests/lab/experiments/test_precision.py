import math
import struct
from collections.abc import Callable
from itertools import pairwise

import pytest
import torch

from gnomon.encodings.rotary import reference
from gnomon.errors import GnomonError
from gnomon.lab.experiments import Context, build_experiment
from gnomon.lab.experiments import precision as module
from gnomon.lab.experiments.precision import DistinctPositions, LogitShift, SineError
from gnomon.report.lab.results import Series

Rounding = Callable[[float], float]
FREQUENCIES = [10000 ** (-i / 64) for i in range(64)]


def measured(experiment: DistinctPositions | SineError | LogitShift, seed: int = 0) -> Series:
    [series] = experiment.run(Context(seed)).measured[""].values()
    return series


def in_bits(number: int, bits: int) -> int:
    """The nearest integer with so many significant bits; halfway, the one whose last bit is 0."""
    step = 2 ** max(0, number.bit_length() - bits)
    whole, rest = divmod(number, step)
    up = 2 * rest > step or (2 * rest == step and whole % 2 == 1)
    return int((whole + up) * step)


def single(number: float) -> float:
    return float(struct.unpack("f", struct.pack("f", number))[0])


def half(number: float) -> float:
    return float(struct.unpack("e", struct.pack("e", number))[0])


def brain(number: float) -> float:
    """float32 with its last 16 bits rounded off."""
    bits = struct.unpack("I", struct.pack("f", number))[0]
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return float(struct.unpack("f", struct.pack("I", bits))[0])


@pytest.mark.parametrize(("name", "bits"), [("bfloat16", 8), ("float16", 11), ("float32", 24), ("int64", 63)])
def test_as_many_positions_stay_apart_as_there_are_roundings(name: str, bits: int) -> None:
    at = [1, 256, 257, 258, 2049, 2051, 4097, 60000]
    expected = tuple(len({in_bits(position, bits) for position in range(count)}) for count in at)
    series = measured(DistinctPositions(name, at))  # type: ignore[arg-type]
    assert (series.at, series.values) == (tuple(at), expected)


def test_float16_has_one_infinity_for_all_that_is_too_large() -> None:
    below, above = measured(DistinctPositions("float16", [65_520, 131_072])).values
    assert above == below + 1  # type: ignore[operator]


def test_float32_angles_are_wrong_by_their_own_rounding() -> None:
    for last in (300, 20_000, 10_000_000):
        positions = range(last - 63, last + 1)
        errors = [
            abs(math.sin(single(p * single(w))) - math.sin(p * w)) for p in positions for w in FREQUENCIES
        ]  # a product of two float32 is exact in float64
        assert measured(SineError("float32", "float32", [last])).values[0] == pytest.approx(max(errors), abs=2e-7)


@pytest.mark.parametrize(("name", "rounded"), [("bfloat16", brain), ("float16", half)])
def test_half_precision_angles_are_wrong_by_their_own_rounding(name: str, rounded: Rounding) -> None:
    def sine(position: int, frequency: float) -> float:
        return rounded(math.sin(rounded(rounded(position) * rounded(frequency))))

    positions = range(700 - 63, 700 + 1)
    errors = [abs(sine(p, w) - math.sin(p * w)) for p in positions for w in FREQUENCIES]
    assert measured(SineError(name, name, [700])).values[0] == pytest.approx(max(errors), rel=1e-3)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "rounded"), [("bfloat16", brain), ("float16", half), ("float32", single)])
def test_a_finished_table_is_wrong_by_its_last_bit_at_any_position(name: str, rounded: Rounding) -> None:
    for last in (63, 10_000_000):
        exact = [math.sin(p * w) for p in range(last - 63, last + 1) for w in FREQUENCIES]
        expected = max(abs(rounded(each) - each) for each in exact)
        error = measured(SineError("reduced", name, [last])).values[0]  # type: ignore[arg-type]
        assert error == pytest.approx(expected, abs=2.5e-7)


def test_a_position_beyond_the_format_is_not_measured_and_it_says_why() -> None:
    series = measured(SineError("float16", "float16", [2000, 70_000]))
    assert series.values[0] is not None
    assert series.values[1] is None
    assert series.why == "float16 has no number as large as the position"
    assert measured(LogitShift("float16", "float16", [70_000])).values == (None,)


def test_rounded_queries_and_keys_change_their_logits_as_the_paper_formula_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "HEADS", 2)
    monkeypatch.setattr(module, "TOKENS", 5)
    generator = Context(3).generator("queries and keys")
    drawn = torch.randn(2, 1, 2, 5, 128, dtype=torch.float64, generator=generator).half().tolist()

    def logits(shift: int) -> list[float]:
        q, k = (
            [
                [[half(x) for x in reference(row, shift + t, FREQUENCIES, "half")] for t, row in enumerate(head)]
                for head in each[0]
            ]
            for each in drawn
        )
        return [
            math.fsum(a * b for a, b in zip(one, other, strict=True)) / math.sqrt(128)
            for h in range(2)
            for one in q[h]
            for other in k[h]
        ]

    expected = max(abs(a - b) for a, b in zip(logits(40), logits(0), strict=True))
    assert measured(LogitShift("reduced", "float16", [40]), seed=3).values[0] == pytest.approx(expected, rel=0.05)


def test_a_shift_does_not_change_logits_in_float64_and_changes_them_more_the_coarser_the_arithmetic() -> None:
    pairs = (("reduced", "float64"), ("reduced", "float32"), ("reduced", "bfloat16"), ("bfloat16", "bfloat16"))
    changes = [max(measured(LogitShift(*pair, [300, 5000])).values) for pair in pairs]  # type: ignore[arg-type,type-var]
    assert changes[0] < 1e-10  # type: ignore[operator]
    assert all(10 * fine < coarse for fine, coarse in pairwise(changes))  # type: ignore[operator]


def test_seeds_draw_queries_and_keys() -> None:
    one, again, other = (measured(LogitShift("reduced", "bfloat16", [16]), seed).values for seed in (0, 0, 1))
    assert one == again != other


@pytest.mark.parametrize(
    ("name", "options", "word"),
    [
        ("distinct_positions", {"format": "fp8", "at": [4]}, "format"),
        ("distinct_positions", {"format": "int64", "at": []}, "places"),
        ("sine_error", {"angles": "float64", "stored": "float32", "at": [4]}, "angles"),
        ("sine_error", {"angles": "float32", "stored": "int64", "at": [4]}, "stored"),
        ("logit_shift", {"angles": "reduced", "vectors": "int64", "at": [4]}, "vectors"),
        ("logit_shift", {"angles": "reduced", "vectors": "float32", "at": [0]}, "places"),
    ],
)
def test_bad_options_are_refused(name: str, options: dict[str, object], word: str) -> None:
    with pytest.raises(GnomonError, match=word):
        build_experiment(name, options)
