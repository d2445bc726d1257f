"""PE203: fixed tables and stored frequencies against the formula."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from gnomon.adapters import load_subject
from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from tests.helpers.sinusoids import marian, table, tensor2tensor, vaswani
from tests.helpers.subjects import DictTensors, claim, holding, noise, rotary_claim, value

TABLE = "encoder.embed_positions.weight"
LARGEST = f"largest difference of {TABLE} to the formula"
FREQUENCIES = "model.rotary_emb.inv_freq"
ERROR = f"largest error of {FREQUENCIES} (relative)"


def rotary(pairs: int, base: float = 10_000.0) -> Tensor:
    return torch.tensor([base ** (-i / pairs) for i in range(pairs)], dtype=torch.float64).float()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("formula", [vaswani, marian, tensor2tensor])
def test_published_tables_pass_in_every_dtype(formula: object, dtype: torch.dtype) -> None:
    result = run("PE203", holding({TABLE: table(formula, 60, 24).to(dtype)}))
    assert result.status == "passed"
    assert 0 < value(result, LARGEST) < 8e-3


def test_a_wrong_base_is_an_error_against_a_claim_and_a_warning_without_one() -> None:
    values = table(vaswani, 60, 24, base=1000.0).float()
    claimed = run("PE203", holding({TABLE: values}, claims=(claim("sinusoidal", TABLE, base=10_000.0),)))
    assert (claimed.severity, claimed.findings[0].message) == ("error", "the frequencies follow base 1000, not 10000")
    assert claimed.findings[0].fix.startswith("compute them with base 10000")
    alone = run("PE203", holding({TABLE: values}))
    assert (alone.severity, len(alone.findings)) == ("warning", 1)
    assert alone.findings[0].message.endswith("as published")


@pytest.mark.parametrize(("base", "status"), [(10_040.0, "passed"), (10_060.0, "failed")])
def test_a_base_may_be_off_by_half_a_percent(base: float, status: str) -> None:
    values = table(vaswani, 60, 24, base=base).float()
    result = run("PE203", holding({TABLE: values}, claims=(claim("sinusoidal", TABLE, base=10_000.0),)))
    assert result.status == status


def test_a_base_that_is_claimed_is_not_a_fault() -> None:
    values = table(marian, 60, 24, base=777.7).float()
    claims = (claim("sinusoidal", TABLE, base=777.7, layout="half", exponent="paper"),)
    assert run("PE203", holding({TABLE: values}, claims=claims)).status == "passed"


@pytest.mark.parametrize("base", [10_000.0, 777.7])
def test_the_exponent_is_held_against_the_claim(base: float) -> None:
    for name, other, formula in (("endpoint", "paper", tensor2tensor), ("paper", "endpoint", marian)):
        values = {TABLE: table(formula, 60, 24, base=base).float()}
        right = (claim("sinusoidal", TABLE, base=base, exponent=name),)
        assert run("PE203", holding(values, claims=right)).status == "passed"
        result = run("PE203", holding(values, claims=(claim("sinusoidal", TABLE, base=base, exponent=other),)))
        assert (result.severity, len(result.findings)) == ("error", 1)


def test_a_wrong_exponent_of_the_published_base_is_named() -> None:
    claims = (claim("sinusoidal", TABLE, exponent="paper"),)
    [finding] = run("PE203", holding({TABLE: table(tensor2tensor, 60, 24).float()}, claims=claims)).findings
    assert finding.message == "the exponents are those of base^(-i/(d/2-1)), but base^(-2i/d) is claimed"


def test_a_flipped_sine_is_named() -> None:
    values = table(vaswani, 60, 24).float()
    values[:, ::2] *= -1
    [finding] = run("PE203", holding({TABLE: values})).findings
    assert finding.message == "the sine columns have the wrong sign: the table runs backwards"
    assert "minus sign" in finding.fix


@pytest.mark.parametrize(("start", "status"), [(0.0, "passed"), (1.0, "failed"), (-1.0, "failed"), (2.0, "failed")])
def test_a_shifted_table_is_named_with_its_shift(start: float, status: str) -> None:
    result = run("PE203", holding({TABLE: table(vaswani, 60, 24, start=start).float()}))
    assert result.status == status
    if status == "failed":
        assert result.findings[0].message == f"row 0 holds position {start:g}: the table is off by {abs(start):g}"
        assert result.findings[0].fix == "start counting positions at 0"


def test_reserved_rows_explain_a_shift() -> None:
    claims = (claim("sinusoidal", TABLE, padding_offset=2),)
    assert run("PE203", holding({TABLE: table(marian, 60, 24, start=-2).float()}, claims=claims)).status == "passed"


def test_a_padding_row_of_zeros_is_not_an_overwritten_row() -> None:
    values = table(tensor2tensor, 60, 24).float()
    values[1] = 0.0
    assert run("PE203", holding({TABLE: values})).status == "passed"


def test_a_layout_other_than_the_claimed_one_is_named() -> None:
    claims = (claim("sinusoidal", TABLE, layout="interleaved"),)
    [finding] = run("PE203", holding({TABLE: table(marian, 60, 24).float()}, claims=claims)).findings
    assert finding.message == "sines and cosines stand in half order, but interleaved is claimed"


def test_overwritten_rows_are_counted_and_placed() -> None:
    values = table(vaswani, 60, 24).float()
    values[7:10] = noise(3, 24)
    result = run("PE203", holding({TABLE: values}))
    [finding] = result.findings
    assert finding.message == "3 of 60 rows differ from the formula, first row 7"
    assert finding.measured["rows"] == 3
    assert value(result, LARGEST) > 0.5


@pytest.mark.parametrize(("error", "status"), [(1.8e-4, "passed"), (2.2e-4, "failed")])
def test_a_number_may_be_off_by_the_threshold(error: float, status: str) -> None:
    values = table(vaswani, 60, 24)
    values[5, 3] += error
    assert run("PE203", holding({TABLE: values})).status == status


@pytest.mark.parametrize(("error", "status"), [(0.005, "passed"), (0.02, "failed")])
def test_a_half_precision_table_may_be_off_by_its_rounding(error: float, status: str) -> None:
    values = table(vaswani, 60, 24)
    values[5, 3] += error
    assert run("PE203", holding({TABLE: values.to(torch.float16)})).status == status


def test_a_long_float32_table_as_tutorials_write_it_passes() -> None:
    position = torch.arange(5000).unsqueeze(1)
    division = torch.exp(torch.arange(0, 256, 2) * (-math.log(10000.0) / 256))
    values = torch.zeros(5000, 256)
    values[:, 0::2] = torch.sin(position * division)
    values[:, 1::2] = torch.cos(position * division)
    result = run("PE203", holding({TABLE: values}))
    assert result.status == "passed"
    assert value(result, LARGEST) > 2e-4, "longer than the plain threshold allows for"


def test_angles_computed_in_bfloat16_are_found() -> None:
    position = torch.arange(400).bfloat16().unsqueeze(1)
    angles = position * rotary(16).bfloat16()
    values = torch.cat([angles.sin(), angles.cos()], dim=1)
    assert run("PE203", holding({TABLE: values}, claims=(claim("sinusoidal", TABLE),))).status == "failed"


def test_a_claimed_sinusoid_that_is_noise_is_found() -> None:
    result = run("PE203", holding({TABLE: noise(60, 24)}, claims=(claim("sinusoidal", TABLE),)))
    [finding] = result.findings
    assert finding.message == "the config claims a sinusoid table, but these numbers are not sinusoids"
    assert "overwritten" in finding.fix


def test_a_transposed_table_is_left_to_the_check_that_names_it() -> None:
    values = table(vaswani, 24, 32).T.contiguous()
    assert run("PE203", holding({TABLE: values}, claims=(claim("sinusoidal", TABLE),))).status == "not-applicable"


def test_right_frequencies_pass() -> None:
    result = run("PE203", holding({FREQUENCIES: rotary(8)}, claims=(rotary_claim(16),)))
    assert result.status == "passed"
    assert value(result, ERROR) < 1e-6


def test_frequencies_of_another_base_are_found_with_that_base() -> None:
    result = run("PE203", holding({FREQUENCIES: rotary(8)}, claims=(rotary_claim(16, base=500_000.0),)))
    [finding] = result.findings
    assert finding.where == FREQUENCIES
    assert finding.message.startswith("frequencies differ from the config's by up to 30")
    assert finding.message.endswith("they follow base 10000")
    expected = max(10_000.0 ** (-i / 8) / 500_000.0 ** (-i / 8) - 1 for i in range(8))
    assert value(result, ERROR) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("error", "status"), [(0.9e-4, "passed"), (1.1e-4, "failed")])
def test_frequencies_may_be_off_by_one_in_ten_thousand(error: float, status: str) -> None:
    frequencies = rotary(8).double()
    frequencies[3] *= 1 + error
    assert run("PE203", holding({FREQUENCIES: frequencies}, claims=(rotary_claim(16),))).status == status


def test_frequencies_over_the_whole_head_of_a_partial_rotation_are_found() -> None:
    partial = rotary_claim(16)
    partial.options["rotary_dim"] = 8  # type: ignore[index]
    [finding] = run("PE203", holding({FREQUENCIES: rotary(8)}, claims=(partial,))).findings
    assert finding.message == "the table has 8 frequencies but the config rotates 4 pairs"


@pytest.mark.parametrize("name", ["h.0.attn.embed_positions", "encoder.embed_positions.weight"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_angles_that_a_rotation_keeps_as_a_table_are_held_against_its_frequencies(
    name: str, dtype: torch.dtype
) -> None:
    tensors = DictTensors({name: table(marian, 64, 16).to(dtype)}, role="buffer", persistent=False)
    right = replace(rotary_claim(16), table_names=(name,))
    assert run("PE203", Subject("x", tensors=tensors, claims=(right,))).status == "passed"
    wrong = replace(rotary_claim(16, base=5e5), table_names=(name,))
    assert run("PE203", Subject("x", tensors=tensors, claims=(wrong,))).status == "failed"


@pytest.mark.parametrize(("tail", "status"), [(0.0, "passed"), (1.1e-4, "failed")])
def test_pairs_that_stand_still_must_be_zero(tail: float, status: str) -> None:
    frequencies = rotary(8)
    frequencies[4:] = tail
    still = rotary_claim(16, kind="proportional", fraction=0.5)
    assert run("PE203", holding({FREQUENCIES: frequencies}, claims=(still,))).status == status


def test_frequencies_without_a_config_are_only_described() -> None:
    result = run("PE203", holding({FREQUENCIES: rotary(8, 5e5)}))
    assert (result.status, value(result, f"base of {FREQUENCIES}")) == ("passed", pytest.approx(5e5, rel=1e-5))


def test_a_scaling_rule_without_a_formula_is_not_applicable() -> None:
    result = run("PE203", holding({FREQUENCIES: rotary(8)}, claims=(rotary_claim(16, kind="nonesuch"),)))
    assert result.status == "not-applicable"
    assert "nonesuch" in result.detail


def test_learned_tables_have_no_formula() -> None:
    result = run("PE203", holding({TABLE: noise(60, 24)}))
    assert result.detail == "no fixed table among the tensors (learned tables have no formula)"
    assert run("PE203", holding({})).detail == "no table of positions among the tensors"


def test_the_factors_of_a_gguf_file_are_not_taken_for_frequencies() -> None:
    factors = torch.tensor(np.linspace(1.0, 8.0, 8)).float()
    assert run("PE203", holding({"rope_freqs.weight": factors}, claims=(rotary_claim(16),))).status == "not-applicable"


def test_distilbert_s_sinusoids_overwritten_by_an_initialiser_are_found() -> None:
    """transformers issue 29807: the table is a parameter under the name of a learned one."""
    import transformers

    sizes = {"vocab_size": 60, "dim": 32, "n_layers": 1, "n_heads": 4, "hidden_dim": 48, "max_position_embeddings": 64}
    model = transformers.DistilBertModel(transformers.DistilBertConfig(**sizes, sinusoidal_pos_embds=True)).eval()
    assert run("PE203", load_subject(model)).status == "passed"
    torch.nn.init.normal_(model.embeddings.position_embeddings.weight, std=0.02)
    [finding] = run("PE203", load_subject(model)).findings
    assert finding.where == "embeddings.position_embeddings.weight"
    assert "claims a sinusoid table" in finding.message


class SinusoidalPositions(nn.Embedding):
    """What people call a table that they fill once."""


def _named(values: Tensor) -> nn.Module:
    module = nn.Module()
    rows, dims = values.shape
    module.positions = SinusoidalPositions(rows, dims, _weight=values)
    return module


def _buffer(values: Tensor) -> nn.Module:
    module = nn.Module()
    module.register_buffer("pe", values)
    return module


@pytest.mark.parametrize("make", [_named, _buffer])
def test_random_numbers_where_names_or_a_buffer_say_fixed_are_a_warning(make: Any) -> None:
    result = run("PE203", load_subject(make(noise(40, 16))))
    [finding] = result.findings
    assert (result.severity, finding.severity) == ("warning", "warning")
    assert "unrelated to their neighbours" in finding.message
    assert "after all weight initialisation" in finding.fix


@pytest.mark.parametrize("make", [_named, _buffer])
def test_smooth_tables_and_codes_are_not_taken_for_noise(make: Any) -> None:
    smooth = torch.cumsum(noise(40, 16), dim=0)
    bits = ((torch.arange(64)[:, None] >> torch.arange(8)) & 1).float()
    for values in (smooth, torch.eye(16), bits, table(vaswani, 40, 16).float()):
        assert run("PE203", load_subject(make(values))).status in ("passed", "not-applicable")


def test_a_learned_table_of_noise_is_what_a_learned_table_is() -> None:
    module = nn.Module()
    module.position_embeddings = nn.Embedding(40, 16)
    assert run("PE203", load_subject(module)).status == "not-applicable"


@pytest.mark.parametrize(("first", "last"), [(29, -29), (-29, 29), (59, 0)])
def test_a_table_of_offsets_may_run_backwards_and_below_zero(first: int, last: int) -> None:
    rows = table(vaswani, abs(first - last) + 1, 24, start=min(first, last)).float()
    result = run("PE203", holding({TABLE: rows if first < last else rows.flip(0)}))
    assert result.status == "passed", result.findings
