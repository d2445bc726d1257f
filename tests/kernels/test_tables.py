"""Tables of cosines and sines: exact far out, in little memory, the same bits in whatever piece, and never too long."""

import numpy as np
import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.kernels import tables
from gnomon.kernels.tables import cos_sin_at, cos_sin_rows
from tests.helpers.exact_waves import EXACT, errors
from tests.helpers.peaks import peak_growth

INVERSE = tuple(500.0 ** (-i / 7) for i in range(7))


@pytest.mark.parametrize("start", [0, 1, 255, 256, 1_000_003, 9_999_999, 10_000_000, 123_456_789, -300])
@pytest.mark.parametrize("count", [1, 2, 517])
def test_rows_are_exact_from_any_start_on(start: int, count: int) -> None:
    cos, sin = cos_sin_rows(INVERSE, start, count)
    assert cos.shape == sin.shape == (count, len(INVERSE))
    assert cos.dtype == sin.dtype == torch.float32
    seen = sorted({0, count // 3, count // 2, count - 1})
    assert errors(cos[seen], sin[seen], [start + row for row in seen], INVERSE) < EXACT


def test_every_row_of_a_long_table_is_exact() -> None:
    cos, sin = cos_sin_rows(INVERSE, 9_900_001, 20_001)
    turned = np.arange(9_900_001, 9_920_002, dtype=np.longdouble)[:, None] * np.array(INVERSE, dtype=np.longdouble)
    assert np.abs(cos.numpy() - np.cos(turned)).max() < EXACT
    assert np.abs(sin.numpy() - np.sin(turned)).max() < EXACT


@pytest.mark.parametrize("inverse", [(1.0,), (0.0,), tuple(1 / (1 + i) for i in range(1025))], ids=len)
def test_one_pair_and_more_than_are_computed_together(inverse: tuple[float, ...]) -> None:
    cos, sin = cos_sin_rows(inverse, 300, 2, factor=1.25)
    assert errors(cos, sin, [300, 301], inverse, 1.25) < 1.25 * EXACT


def test_a_row_has_the_same_bits_in_every_piece() -> None:
    whole = cos_sin_rows(INVERSE, 0, 1500)
    for start, count in ((0, 1), (7, 700), (255, 2), (256, 256), (511, 989), (1499, 1)):
        piece = cos_sin_rows(INVERSE, start, count)
        assert all(torch.equal(part, table[start : start + count]) for part, table in zip(piece, whole, strict=True))


def test_frequencies_come_as_numbers_array_or_tensor() -> None:
    array = np.array(INVERSE)
    want = cos_sin_rows(INVERSE, 3, 5)
    for given in (array, torch.from_numpy(array)):
        assert all(torch.equal(a, b) for a, b in zip(cos_sin_rows(given, 3, 5), want, strict=True))


def test_memory_that_is_given_is_written_and_nothing_beside_it() -> None:
    memory = torch.full((2, 9, 7), 5.0)
    cos, sin = cos_sin_rows(INVERSE, 40, 6, out=(memory[0, 2:8], memory[1, 1:7]))
    assert cos.data_ptr() == memory[0, 2:].data_ptr()
    assert errors(cos, sin, range(40, 46), INVERSE) < EXACT
    assert (memory[0, [0, 1, 8]] == 5).all()
    assert (memory[1, [0, 7, 8]] == 5).all()


def test_no_rows_are_no_rows() -> None:
    assert [tuple(part.shape) for part in cos_sin_rows(INVERSE, 3, 0)] == [(0, 7), (0, 7)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inverse": np.ones(3, np.float32)}, "are float64, got float32"),
        ({"inverse": torch.ones(3, dtype=torch.bfloat16)}, r"are float64, got torch\.bfloat16"),
        ({"inverse": np.ones((1, 3))}, r"shape \(1, 3\)"),
        ({"count": -1}, "count=-1"),
        ({"out": (torch.empty(4, 7), torch.empty(5, 7))}, r"of shape \(4, 7\), got torch\.float32 on cpu of shape \(5"),
        ({"out": (torch.empty(4, 7).double(),) * 2}, r"got torch\.float64"),
    ],
    ids=["float32", "bfloat16", "matrix", "negative", "shape", "dtype"],
)
@pytest.mark.usefixtures("unchecked")
def test_what_does_not_fit_is_named(options: dict[str, object], message: str) -> None:
    arguments: dict[str, object] = {"inverse": INVERSE, "start": 0, "count": 4, **options}
    with pytest.raises(GnomonError, match=message):
        cos_sin_rows(**arguments)  # type: ignore[arg-type]


def test_a_table_of_any_length_needs_its_own_memory_and_16_megabytes_at_most() -> None:
    code = (
        "from gnomon.kernels.tables import cos_sin_rows\n"
        "def setup(rows): return rows\n"
        "def warm_up(rows): cos_sin_rows([1.0] * 64, 0, 600)\n"
        "def run(rows): return cos_sin_rows([10000 ** (-i / 64) for i in range(64)], 5, rows)\n"
    )
    for rows in (50_000, 200_000):
        extra = peak_growth(code, rows=rows) - rows * 64 * 2 * 4
        assert -1_000_000 < extra < 16_000_000, (rows, extra)


def test_cosines_of_single_positions_are_exact_in_both_dtypes() -> None:
    positions = torch.tensor([[0, 3, 10_000_000], [-7, 4097, 2**31]])
    for dtype, bound in ((torch.float32, EXACT), (torch.float64, 1e-15)):
        cos, sin = cos_sin_at(positions, torch.tensor(INVERSE, dtype=torch.float64), dtype=dtype)
        assert cos.shape == (2, 3, 7)
        assert cos.dtype == sin.dtype == dtype
        assert errors(cos.view(6, 7), sin.view(6, 7), positions.flatten().tolist(), INVERSE) < bound


def test_the_working_memory_is_what_the_docstring_says() -> None:
    assert 4 * tables.STEP * tables.COLUMNS * 8 <= 8 * 2**20
