"""PE308: sign, slopes and heads of the ALiBi bias that a forward really adds."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gnomon.adapters.claims import Claim
from tests.helpers.healthy import FOREIGN, SIZES, SPECIAL
from tests.helpers.toys import HEADS, Toy, ToyDecoder, examine, only_finding

ALIBI = Claim("alibi", "layers.*.attention", {"num_heads": HEADS})
PUBLISHED = [2.0 ** (-8 * h / HEADS) for h in range(1, HEADS + 1)]


class Biased(ToyDecoder):
    """A causal mask, and slopes times the distance."""

    def __init__(self, slopes: list[float]) -> None:
        super().__init__()
        self.slopes = torch.tensor(slopes)

    def bias(self, mask: Tensor) -> Tensor:
        places = torch.arange(mask.shape[1])
        return super().bias(mask) - self.slopes[:, None, None] * (places[:, None] - places).abs()


def test_the_published_slopes_pass() -> None:
    result = examine("PE308", Biased(PUBLISHED), claims=(ALIBI,))
    assert result.status == "passed"
    assert float(result.measured[-1].value) < 1e-5


def test_a_flipped_sign_is_named() -> None:
    result = examine("PE308", Biased([-s for s in PUBLISHED]), claims=(ALIBI,))
    assert {f.where for f in result.findings} == {"layers.*"}
    assert result.severity == "error"
    assert result.findings[0].message == "the bias grows with distance: its sign is flipped"
    assert result.findings[0].fix == "subtract slope times distance"


def test_slopes_of_another_rule_are_told_by_their_error() -> None:
    # 2^(-8/H), 2^(-9/H), ...: a rule that is often printed
    finding = examine("PE308", Biased([2.0 ** (-(8 + h) / HEADS) for h in range(HEADS)]), claims=(ALIBI,)).findings[0]
    assert "slopes differ by up to" in finding.message
    assert finding.measured["relative error"] == pytest.approx(2 ** (-11 / 4) / 2**-8 - 1, rel=1e-3)
    assert "2^(-8h/H)" in finding.fix


def test_another_number_of_heads_is_found() -> None:
    finding = examine("PE308", Biased(PUBLISHED), claims=(Claim("alibi", "", {"num_heads": 8}),)).findings[0]
    assert finding.message == "the bias has 4 heads, the config 8"


def _falcon(**options: Any) -> nn.Module:
    import transformers

    torch.manual_seed(0)
    model: nn.Module = transformers.FalconForCausalLM(transformers.FalconConfig(**SIZES, alibi=True, **options))
    return model.eval()


def test_falcon_in_eager_attention_adds_its_bias_twice() -> None:
    """A fault that transformers 5.24 has: the bias is in the mask, and the eager path adds it again."""
    result = examine("PE308", _falcon(attn_implementation="eager"))
    assert result.findings[0].where == "transformer.h.*.self_attention"
    assert result.findings[0].message == "the bias is 2 times the published one"
    assert result.findings[0].fix.startswith("add it once")


def test_mpt_ignores_the_largest_exponent_of_its_config() -> None:
    """A fault that transformers 5.24 has: alibi_bias_max is not passed on, so slopes are those of 8."""
    import transformers

    sizes = {**SPECIAL, "d_model": 32, "n_layers": 2, "n_heads": 4, "max_seq_len": 64}
    model = transformers.MptForCausalLM(transformers.MptConfig(**sizes, attn_config={"alibi_bias_max": 16})).eval()
    finding = examine("PE308", model).findings[0]
    assert finding.measured["relative error"] == pytest.approx(2.0**-8 / 2.0**-16 - 1, rel=1e-3)


@pytest.mark.parametrize("build", [FOREIGN[n] for n in ("bloom", "bloom, six heads", "mpt", "falcon, alibi")])
def test_the_families_pass(build: Callable[[], nn.Module]) -> None:
    result = examine("PE308", build())
    assert result.status == "passed", (result.detail, result.findings)
    assert float(result.measured[-1].value) < 1e-3


def test_a_model_that_claims_none_is_not_judged() -> None:
    result = examine("PE308", FOREIGN["llama"]())
    assert (result.status, result.detail) == ("not-applicable", "no position bias was added to the attention logits")
    assert examine("PE308", Toy()).status == "not-applicable"


def test_a_claim_without_a_bias_in_the_forward_is_not_judged() -> None:
    result = examine("PE308", ToyDecoder(), claims=(ALIBI,))
    assert (result.status, result.detail) == (
        "not-applicable",
        "no position bias was added to the attention logits",
    )


class Rewarding(Toy):
    """Adds a bias that grows with distance, and says nothing about it."""

    def bias(self, mask: Tensor) -> Tensor:
        places = torch.arange(mask.shape[1])
        return super().bias(mask) + 0.25 * (places[:, None] - places[None]).abs()


def test_a_bias_that_grows_with_distance_is_found_without_a_claim() -> None:
    finding = only_finding(examine("PE308", Rewarding()))
    assert "grows with distance" in finding.message
    assert finding.measured["slope"] == pytest.approx(-0.25, abs=1e-3)


@pytest.mark.parametrize(
    ("slopes", "message"),
    [
        ([0.25] * HEADS, "all 4 heads have one slope, 0.25: slopes are to differ from head to head"),
        ([2 * s for s in PUBLISHED], "the bias is 2 times the published one"),
        ([0.5, 0.25, 0.125, 0.0625], "slopes 0.5, 0.25, 0.125, 0.0625 are not the published ones"),
    ],
)
def test_without_a_claim_other_slopes_than_the_published_are_a_warning(slopes: list[float], message: str) -> None:
    result = examine("PE308", Biased(slopes))
    finding = only_finding(result)
    assert (result.severity, finding.message) == ("warning", message)
    assert "0.25, 0.0625, 0.01562, 0.003906" in finding.fix


@pytest.mark.parametrize("slopes", [PUBLISHED, PUBLISHED[::-1]])
def test_without_a_claim_the_published_slopes_pass_in_any_order_of_the_heads(slopes: list[float]) -> None:
    assert examine("PE308", Biased(slopes)).status == "passed"
