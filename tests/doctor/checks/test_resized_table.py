"""PE222: a table for another grid or length, beside the one it was made from."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate

from gnomon.doctor import diagnose
from tests.helpers.gallery_tables import Patches, resized, trained_grid, with_class_token
from tests.helpers.toys import Toy, only_finding

OLD, NEW = (4, 6), (5, 9)
BEFORE = Patches(with_class_token(trained_grid(*OLD)), OLD)


def judge(table: Tensor, grid: tuple[int, int] = NEW, before: Patches = BEFORE) -> Any:
    [check] = diagnose(Patches(table, grid), select="PE222", reference=before).checks
    return check


def table_of(before: Patches) -> Tensor:
    return before.pos_embed.detach()[0]


def image(before: Patches, grid: tuple[int, int] = OLD) -> Tensor:
    return table_of(before)[1:].T.reshape(1, -1, *grid)


def flat(before: Patches, made: Tensor) -> Tensor:
    return torch.cat([table_of(before)[:1], made[0].flatten(1).T])


@pytest.mark.parametrize("mode", ["bicubic", "bilinear", "nearest"])
@pytest.mark.parametrize("antialias", [True, False])
def test_every_usual_interpolation_passes(mode: str, antialias: bool) -> None:
    more = {} if mode == "nearest" else {"antialias": antialias}
    for size in (NEW, (2, 3), (8, 6)):
        assert judge(flat(BEFORE, interpolate(image(BEFORE), size=size, mode=mode, **more)), size).status == "passed"


def test_a_table_in_half_precision_and_one_that_was_kept_pass() -> None:
    assert judge(resized(table_of(BEFORE), OLD, NEW).bfloat16().float()).status == "passed"
    assert judge(table_of(BEFORE), OLD).status == "passed"


def test_swapped_axes_are_found() -> None:
    turned = flat(BEFORE, interpolate(image(BEFORE).transpose(2, 3), size=NEW, mode="bicubic"))
    finding = only_finding(judge(turned))
    assert "rows and columns are swapped" in finding.message
    assert "interpolate the old table as 4 x 6 to size 5 x 9" in finding.fix


def test_the_new_grid_turned_is_found() -> None:
    finding = only_finding(judge(resized(table_of(BEFORE), OLD, (9, 5))))
    assert "swapped (9 x 5)" in finding.message


def test_a_list_taken_for_a_square_is_found() -> None:
    before = Patches(with_class_token(trained_grid(2, 8)), (2, 8))
    wrong = flat(before, interpolate(image(before, (4, 4)), size=(4, 8), mode="bicubic"))
    assert "read as 4 x 4" in only_finding(judge(wrong, (4, 8), before)).message


def test_a_table_left_alone_because_the_numbers_agree_is_found() -> None:
    before = Patches(with_class_token(trained_grid(2, 8)), (2, 8))
    assert "left as it was" in only_finding(judge(table_of(before), (4, 4), before)).message


def test_one_patch_short_is_found() -> None:
    finding = only_finding(judge(resized(table_of(BEFORE), OLD, (4, 8))))
    assert finding.measured["expected rows"] == 46
    assert "scale_factor= rounds down" in finding.fix


def test_a_class_row_behind_the_patches_is_found() -> None:
    good = resized(table_of(BEFORE), OLD, NEW)
    assert "behind the patches" in only_finding(judge(torch.cat([good[1:], good[:1]]))).message


def test_a_table_that_was_trained_on_tells_nothing() -> None:
    check = judge(torch.randn(46, 24, generator=torch.Generator().manual_seed(3)))
    assert (check.status, check.detail[:11]) == ("not-applicable", "cannot tell")


@pytest.mark.parametrize("rows", [40, 64, 100])
def test_text_tables_may_be_cut_or_stretched(rows: int) -> None:
    before, after = Toy(rows=64), Toy(rows=rows)
    old = before.positions.weight.detach()
    line = interpolate(old.T[None], size=rows, mode="linear", align_corners=True)[0].T
    for values in (line, *([old[:rows]] if rows <= 64 else [])):
        after.positions = nn.Embedding.from_pretrained(values)
        [check] = diagnose(after, select="PE222", reference=before).checks
        assert check.status == "passed", check.detail
