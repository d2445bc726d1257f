"""PE307: pairs, direction, width, base, start and size of the rotation that a forward really does."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gnomon.adapters.claims import Claim
from gnomon.report.document import CheckResult
from tests.helpers.healthy import FOREIGN, SIZES
from tests.helpers.healthy_plain import PLAIN
from tests.helpers.healthy_plain.rotary import Block
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import examine, llama, only_finding

Rotate = Callable[[Tensor, Tensor, Tensor], Tensor]


@pytest.fixture
def rotating(monkeypatch: pytest.MonkeyPatch) -> Callable[..., CheckResult]:
    """Examine a Llama whose apply_rotary_pos_emb is replaced: `query(x, cos, sin)`, and `key` where it differs."""

    def with_rotation(query: Rotate, key: Rotate | None = None, **options: Any) -> CheckResult:
        from transformers.models.llama import modeling_llama

        def apply(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
            cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
            return query(q, cos, sin), (key or query)(k, cos, sin)

        monkeypatch.setattr(modeling_llama, "apply_rotary_pos_emb", apply)
        return examine("PE307", llama(**options))

    return with_rotation


def halves(x: Tensor) -> Tensor:
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def neighbours(x: Tensor) -> Tensor:
    return torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)


def right(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    return x * cos + halves(x) * sin


WHERE = "model.layers.*.self_attn"


def test_the_spelling_of_transformers_passes(rotating: Callable[..., CheckResult]) -> None:
    assert rotating(right).status == "passed"


def test_a_flipped_sign_runs_backwards(rotating: Callable[..., CheckResult]) -> None:
    finding = only_finding(rotating(lambda x, cos, sin: x * cos - halves(x) * sin))
    assert finding.where == WHERE
    assert finding.measured == {"direction": -1}
    assert "sign of the sine is flipped" in finding.message
    assert "rotate_half" in finding.fix


def test_neighbours_turned_by_tables_made_for_halves_are_found(rotating: Callable[..., CheckResult]) -> None:
    result = rotating(lambda x, cos, sin: x * cos + neighbours(x) * sin)
    assert result.severity == "error"
    mixed = result.findings[0]
    assert mixed.measured == {"pairs": "interleaved", "tables": "half"}
    assert mixed.fix == "repeat the tables by repeat_interleave(2)"


def test_neighbours_in_a_family_of_halves_are_found(rotating: Callable[..., CheckResult]) -> None:
    def interleaved(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        half = x.shape[-1] // 2
        cos, sin = (table[..., :half].repeat_interleave(2, dim=-1) for table in (cos, sin))
        return x * cos + neighbours(x) * sin

    finding = only_finding(rotating(interleaved))
    assert finding.measured == {"pairs": "interleaved", "claimed": "half"}
    assert "weights of this kind are made for half pairs" in finding.message
    assert "permute the rows" in finding.fix


def test_a_rotation_of_half_the_width_is_found(rotating: Callable[..., CheckResult]) -> None:
    def partial(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        cos, sin = cos[..., [0, 1, 0, 1]], sin[..., [0, 1, 0, 1]]
        return torch.cat((right(x[..., :4], cos, sin), x[..., 4:]), dim=-1)

    finding = only_finding(rotating(partial))
    assert finding.message == "4 lanes of each head are rotated, the config says 8"


def test_a_factor_on_the_tables_is_found(rotating: Callable[..., CheckResult]) -> None:
    finding = only_finding(rotating(lambda x, cos, sin: right(x, 1.1 * cos, 1.1 * sin)))
    assert finding.measured["factor"] == pytest.approx(1.1)
    assert "multiplies lengths by 1.1000" in finding.message


def test_keys_that_start_one_later_than_queries_are_found(rotating: Callable[..., CheckResult]) -> None:
    def late(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        step = torch.atan2(sin[:, :, 1:2], cos[:, :, 1:2])
        return right(x, cos * step.cos() - sin * step.sin(), sin * step.cos() + cos * step.sin())

    finding = only_finding(rotating(right, late))
    assert finding.where == WHERE
    assert "queries and keys start at different positions (0, 1): off by 1" in finding.message
    assert "same position ids" in finding.fix


YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 2.0, "original_max_position_embeddings": 64}
LLAMA3 = {"rope_type": "llama3", "rope_theta": 50.0, "factor": 2.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}


def scaled(rope: dict[str, Any]) -> Any:
    length = rope.get("original_max_position_embeddings", 64)
    return llama(max_position_embeddings=2 * length, rope_parameters={"original_max_position_embeddings": 32} | rope)


def test_the_attention_factor_of_a_scaling_rule_is_measured_and_expected() -> None:
    result = examine("PE307", scaled(YARN))
    assert result.status == "passed", result.findings
    [size] = {(m.value, m.threshold) for m in result.measured if m.name.startswith("size factor")}
    assert size == pytest.approx((1.0693, 1.0693), abs=5e-5)  # 0.1 ln 2 + 1


@pytest.mark.parametrize(("factor", "status"), [(1.0693 * 1.004, "passed"), (1.0693 * 1.006, "failed")])
def test_the_attention_factor_may_be_off_by_half_a_percent(factor: float, status: str) -> None:
    model = scaled(YARN)
    model.model.rotary_emb.attention_scaling = factor
    assert examine("PE307", model).status == status


def test_a_forgotten_attention_factor_is_found() -> None:
    model = scaled(YARN)
    model.model.rotary_emb.attention_scaling = 1.0
    finding = only_finding(examine("PE307", model))
    assert finding.where == WHERE
    assert finding.message.endswith("by 1.0000, and so every score by its square; the config's yarn rule has 1.0693")
    assert finding.fix.startswith("multiply cos and sin by 1.0693 once")
    assert finding.measured == {"factor": pytest.approx(1.0), "expected": pytest.approx(1.0693, abs=5e-5)}


def test_an_attention_factor_that_the_rule_does_not_have_is_found() -> None:
    model = scaled(LLAMA3)
    model.model.rotary_emb.attention_scaling = 1.1
    finding = only_finding(examine("PE307", model))
    assert finding.message.endswith("llama3 frequencies have no such factor")
    assert finding.fix.startswith("remove the factor")


@pytest.mark.parametrize("code", ["PE307", "PE203"])
@pytest.mark.parametrize("rope", [YARN, LLAMA3], ids=["yarn", "llama3"])
def test_frequencies_of_another_factor_are_found(code: str, rope: dict[str, Any]) -> None:
    model = scaled(rope)
    assert examine(code, model).status == "passed"
    model.model.rotary_emb.inv_freq = scaled(rope | {"factor": 2.1}).model.rotary_emb.inv_freq
    finding = only_finding(examine(code, model))
    assert "frequencies differ from the config's" in finding.message
    assert finding.measured[{"PE307": "relative error", "PE203": "error"}[code]] == pytest.approx(1 - 2 / 2.1, rel=1e-3)


def test_both_starting_at_one_is_only_noted() -> None:
    model = llama()
    plain = model.model.rotary_emb.forward
    model.model.rotary_emb.forward = lambda x, position_ids: plain(x, position_ids + 1)
    result = examine("PE307", model)
    assert (result.status, result.severity) == ("failed", "note")
    assert only_finding(result).measured == {"shift": 1.0}


def test_another_base_than_the_config_says_is_named() -> None:
    model = llama(rope_parameters={"rope_type": "default", "rope_theta": 5e5})
    model.model.rotary_emb.inv_freq = 1e4 ** -(torch.arange(0, 8, 2) / 8)
    finding = only_finding(examine("PE307", model))
    assert "follow base 10000, the config says 500000" in finding.message
    assert "config's base 500000" in finding.fix
    assert finding.measured["base"] == pytest.approx(1e4, rel=1e-3)


def test_frequencies_that_follow_no_base_are_told_by_their_error() -> None:
    model = llama()
    model.model.rotary_emb.inv_freq = model.model.rotary_emb.inv_freq * torch.tensor([1.0, 1.0, 1.0, 3.0])
    finding = only_finding(examine("PE307", model))
    assert "by up to 2 (relative)" in finding.message
    assert finding.measured["relative error"] == pytest.approx(2, rel=1e-3)


def test_frequencies_of_zero_are_found() -> None:
    model = llama()
    model.model.rotary_emb.inv_freq = torch.zeros(4)
    messages = [f.message for f in examine("PE307", model).findings]
    layers = "model.layers.0.self_attn, model.layers.1.self_attn"
    assert f"every angle is zero in {layers}: nothing is rotated" in messages


def test_angles_along_the_batch_are_found() -> None:
    model = llama()
    plain = model.model.rotary_emb.forward
    model.model.rotary_emb.forward = lambda x, position_ids: plain(x, torch.arange(len(x))[:, None])
    findings = examine("PE307", model).findings
    assert any("angles vary along the batch axis" in f.message for f in findings)


@pytest.mark.parametrize("family", ["llama", "gptj", "gpt_neox", "cohere", "persimmon", "codegen"])
def test_families_of_every_layout_and_width_pass(family: str) -> None:
    result = examine("PE307", tiny_model(family))
    assert result.status == "passed", (result.detail, result.findings)


def test_modernbert_is_compared_with_the_claim_of_each_kind_of_layer() -> None:
    result = examine("PE307", tiny_model("modernbert", num_hidden_layers=3))
    assert result.status == "passed", result.findings


def test_a_model_without_rotation_is_not_judged() -> None:
    result = examine("PE307", FOREIGN["gpt-2"]())
    assert result.status == "not-applicable"
    assert result.detail == "no rotation of queries and keys was seen in the forward"


@pytest.mark.parametrize("factor", [0.5, "2.0", [2.0]])
def test_numbers_that_no_rule_can_have_are_not_judged(factor: Any) -> None:
    frequencies = {"kind": "yarn", "base": 1e4, "factor": factor, "original_max_length": 64}
    claim = Claim("rotary", "attention", {"head_dim": 8, "frequencies": frequencies})
    result = examine("PE307", llama(), claims=(claim,))
    assert result.status == "not-applicable"
    assert "the config's frequencies cannot be built" in result.detail


def test_a_scaling_rule_without_a_formula_here_is_not_judged() -> None:
    claim = Claim("rotary", "attention", {"head_dim": 8, "frequencies": {"kind": "secret", "base": 1e4}})
    result = examine("PE307", llama(), claims=(claim,))
    assert result.status == "not-applicable"
    assert "no reference formula for the frequency rule 'secret'" in result.detail


def test_bases_swapped_between_kinds_of_layer_are_found() -> None:
    model = FOREIGN["gemma3, both kinds"]()
    rotary: Any = model.model.rotary_emb  # type: ignore[union-attr]
    sliding = rotary.sliding_attention_inv_freq.clone()
    rotary.sliding_attention_inv_freq = rotary.full_attention_inv_freq.clone()
    rotary.full_attention_inv_freq = sliding
    assert len([f for f in examine("PE307", model).findings if "base" in f.message]) == 2


def test_a_layer_that_should_have_no_positions_must_not_rotate() -> None:
    import transformers

    sizes = {**SIZES, "num_hidden_layers": 4, "num_key_value_heads": 2}
    model: Any = transformers.SmolLM3ForCausalLM(transformers.SmolLM3Config(**sizes)).eval()
    assert [layer.self_attn.use_rope for layer in model.model.layers] == [1, 1, 1, 0]
    assert examine("PE307", model).status == "passed"
    for layer in model.model.layers:
        layer.self_attn.use_rope = 1
    finding = only_finding(examine("PE307", model))
    assert finding.measured["layers"] == [3]
    assert "have no positions" in finding.message


def test_a_family_that_turns_the_other_way_is_no_fault() -> None:
    import transformers

    torch.manual_seed(0)
    model = transformers.NanoChatForCausalLM(transformers.NanoChatConfig(**SIZES, num_key_value_heads=2)).eval()
    assert examine("PE307", model).severity == "note"


@pytest.mark.parametrize(("keys", "severity"), [(True, "warning"), (False, "error")])
def test_without_a_config_the_mirrored_rotation_is_grave_where_one_side_has_it(*, keys: bool, severity: str) -> None:
    """Queries turn backwards; keys too, or not. A block turns queries first."""
    model, calls = PLAIN["llama, cosine and sine buffers"](), itertools.count()
    assert isinstance(model, nn.Module)

    def turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        return x * cos - halves(x) * sin if keys or next(calls) % 2 == 0 else x * cos + halves(x) * sin

    for part in model.modules():
        if isinstance(part, Block):
            part.turn = turn  # type: ignore[assignment]
    result = examine("PE307", model)
    assert (result.status, result.severity) == ("failed", severity)


def test_a_table_of_sines_with_a_minus_turns_backwards_as_a_flipped_rotation_does(rotating: Any) -> None:
    result = rotating(lambda x, cos, sin: x * cos + halves(x) * -sin)
    assert any(f.message.startswith("the rotation runs backwards") for f in result.findings), result.findings


def test_two_signs_that_cancel_are_the_published_rotation(rotating: Any) -> None:
    result = rotating(lambda x, cos, sin: x * cos + -halves(x) * -sin)
    assert result.status == "passed", result.findings
