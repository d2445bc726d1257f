"""PE221: caches of cosines and sines in the shapes that people keep them in."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from gnomon.doctor import run
from tests.helpers.subjects import holding, rotary_claim
from tests.helpers.toys import examine, only_finding


def angles(rows: int = 64, pairs: int = 4, base: float = 1e4, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.arange(rows).to(dtype)[:, None] * (base ** (-torch.arange(pairs, dtype=torch.float64) / pairs)).to(
        dtype
    )


FORMS: dict[str, Callable[[Tensor], dict[str, Tensor]]] = {
    "one column a pair": lambda a: {"rope.cos": a.cos(), "rope.sin": a.sin()},
    "halves": lambda a: {"cos_cached": a.repeat(1, 2).cos(), "sin_cached": a.repeat(1, 2).sin()},
    "pairs, with axes": lambda a: {
        "attn.cos_cached": a.repeat_interleave(2, 1).cos()[None, None],
        "attn.sin_cached": a.repeat_interleave(2, 1).sin()[None, None],
    },
    "complex": lambda a: {"freqs_cis": torch.polar(torch.ones_like(a), a)},
    "stacked": lambda a: {"rope_cache": torch.stack([a.cos(), a.sin()], dim=-1)},
    "side by side": lambda a: {"cos_sin_cache": torch.cat([a.cos(), a.sin()], dim=1)},
}
form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def check(tensors: dict[str, Tensor], base: float = 1e4, **options: int) -> object:
    from dataclasses import replace

    claim = rotary_claim(8, base=base)
    return run("PE221", holding(tensors, claims=(replace(claim, options={**claim.options, **options}),)))


@form
@pytest.mark.parametrize("base", [1e4, 5e5])
def test_caches_of_the_config_pass(form: Callable[[Tensor], dict[str, Tensor]], base: float) -> None:
    for dtype in (torch.float32, torch.bfloat16):
        tensors = {k: v.to(dtype) if not v.is_complex() else v for k, v in form(angles(base=base)).items()}
        result = check(tensors, base=base)
        assert result.status == "passed", (dtype, result.findings)  # type: ignore[attr-defined]


@form
def test_another_base_is_found(form: Callable[[Tensor], dict[str, Tensor]]) -> None:
    finding = only_finding(check(form(angles(base=1e6))))  # type: ignore[arg-type]
    assert "other frequencies than the config's" in finding.message


@form
def test_a_cache_in_the_dtype_of_the_ids_is_found(form: Callable[[Tensor], dict[str, Tensor]]) -> None:
    tensors = {name: value.long() for name, value in form(angles()).items() if not value.is_complex()}
    if tensors:
        finding = only_finding(run("PE221", holding(tensors)))
        assert "int64" in finding.message
        assert "float32" in finding.fix


@form
def test_positions_in_half_precision_share_rows(form: Callable[[Tensor], dict[str, Tensor]]) -> None:
    rounded = angles(rows=1025)[torch.arange(1024).bfloat16().long()]
    finding = only_finding(run("PE221", holding(form(rounded))))
    assert "only 513 of 1024 rows are distinct" in finding.message  # bfloat16 counts to 256, then by twos and fours


@form
def test_a_cache_that_starts_at_one_is_a_warning(form: Callable[[Tensor], dict[str, Tensor]]) -> None:
    result = check(form(angles(65)[1:]))
    assert result.severity == "warning"  # type: ignore[attr-defined]
    assert "turned by 1 radians" in only_finding(result).message  # type: ignore[arg-type]


@form
def test_numbers_that_are_no_rotation_are_found(form: Callable[[Tensor], dict[str, Tensor]]) -> None:
    noise = {n: torch.randn(v.shape, dtype=v.dtype) for n, v in form(angles()).items()}
    assert "no cosines and sines" in only_finding(run("PE221", holding(noise))).message
    zeros = {n: torch.zeros_like(v) for n, v in form(angles()).items()}
    assert "64 of 64 rows" in only_finding(run("PE221", holding(zeros))).message


def test_a_factor_on_both_is_a_scaling_rule() -> None:
    assert run("PE221", holding({"cos": 1.2 * angles().cos(), "sin": 1.2 * angles().sin()})).status == "passed"


def test_a_cache_shorter_than_the_stated_length_is_a_warning() -> None:
    tensors = FORMS["halves"](angles())
    assert check(tensors, stated_length=64).status == "passed"  # type: ignore[attr-defined]
    finding = only_finding(check(tensors, stated_length=128))  # type: ignore[arg-type]
    assert "64 rows, but 128 positions" in finding.message


def test_plain_attributes_of_a_module_are_seen() -> None:
    module = nn.Linear(2, 2)
    module.cos, module.sin = angles().cos().long(), angles().sin().long()
    assert examine("PE221", module).status == "failed"


def test_a_grid_and_other_tables_are_left_alone() -> None:
    grid = angles(8)[torch.arange(64) // 8]
    both = torch.cat([grid, angles(8)[torch.arange(64) % 8]], dim=1)
    for values in (both, grid, both[:, 4:]):
        assert run("PE221", holding({"cos": values.cos(), "sin": values.sin()})).status == "passed"
    assert run("PE221", holding({"cosine_head.weight": torch.randn(64, 8)})).status == "not-applicable"
