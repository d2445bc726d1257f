"""PE224: sinusoids over rows and columns."""

import pytest
import torch
from torch import Tensor, nn

from gnomon.doctor import run
from tests.helpers.gallery_tables import sinusoids, sinusoids_of_grid, trained_grid
from tests.helpers.subjects import holding, noise
from tests.helpers.toys import examine, only_finding

ROWS, COLUMNS = 3, 5
CONFIG = {"image_size": [48, 80], "patch_size": 16}
ZERO = torch.zeros(1, 32)


def check(table: Tensor, **more: object) -> object:
    return run("PE224", holding({"pos_embed": table[None]}, config=CONFIG, **more))


def status(table: Tensor) -> str:
    return str(check(table).status)  # type: ignore[attr-defined]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_grid_of_the_config_passes_with_a_class_row_in_front_and_without(dtype: torch.dtype) -> None:
    table = sinusoids_of_grid(ROWS, COLUMNS).to(dtype)
    columns_first = torch.cat([table[:, 16:], table[:, :16]], dim=1)  # as MAE has it
    for values in (table, columns_first, torch.cat([ZERO.to(dtype), table])):
        assert status(values) == "passed"


def test_swapped_axes_are_found() -> None:
    finding = only_finding(check(sinusoids_of_grid(COLUMNS, ROWS)))  # type: ignore[arg-type]
    assert "5 x 3 patches, but images have 3 x 5: rows and columns are swapped" in finding.message


def test_another_size_is_found() -> None:
    assert "4 x 5" in only_finding(check(sinusoids_of_grid(4, 5))).message  # type: ignore[arg-type]


def test_a_class_row_at_the_end_is_a_warning() -> None:
    result = check(torch.cat([sinusoids_of_grid(ROWS, COLUMNS), ZERO]))
    assert result.severity == "warning"  # type: ignore[attr-defined]
    assert "behind the 3 x 5 patches" in only_finding(result).message  # type: ignore[arg-type]


@pytest.mark.parametrize("table", [sinusoids(15, 32), noise(15, 32), trained_grid(3, 5, 32), torch.ones(15, 32)])
def test_other_tables_are_not_judged(table: Tensor) -> None:
    assert status(table) == "not-applicable"


@pytest.mark.parametrize("code", ["PE203", "PE205", "PE206", "PE207", "PE208"])
def test_no_other_check_takes_a_grid_for_a_broken_line(code: str) -> None:
    """Two halves that turn at other places fit one line of sinusoids badly, which is no fault."""
    for grid in ((3, 5), (8, 8), (14, 10)):
        table = sinusoids_of_grid(*grid)
        for values in (table, torch.cat([ZERO, table])):
            assert run(code, holding({"pos_embed": values[None]})).status != "failed"


class Patches(nn.Module):
    """Cuts an image by a convolution and adds a table that it is given."""

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.cut, self.table = nn.Conv2d(3, 32, 16, 16), nn.Buffer(table)
        self.mix = nn.TransformerEncoderLayer(32, 4, 48, batch_first=True)

    def forward(self, pixels: Tensor) -> Tensor:
        x: Tensor = self.mix(self.cut(pixels).flatten(2).mT + self.table)
        return x


@pytest.mark.parametrize(("grid", "expected"), [((ROWS, COLUMNS), "passed"), ((COLUMNS, ROWS), "failed")])
def test_without_a_config_the_grid_is_the_one_that_the_model_cuts_the_image_into(
    grid: tuple[int, int], expected: str
) -> None:
    result = examine("PE224", (Patches(sinusoids_of_grid(*grid)), (torch.randn(1, 3, 48, 80),)))
    assert result.status == expected
    if expected == "failed":
        assert "5 x 3 patches, but images have 3 x 5: rows and columns are swapped" in only_finding(result).message
