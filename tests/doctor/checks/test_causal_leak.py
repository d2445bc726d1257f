"""PE304: a causal model that sees what comes after."""

import pytest
import torch
from torch import Tensor

from gnomon.doctor import run
from tests.helpers.healthy import FOREIGN
from tests.helpers.healthy_transformers import ROWS
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import Toy, ToyDecoder, examine, only_finding, subject_of


class BiasInsteadOfMaskDecoder(ToyDecoder):
    """ALiBi as tril(-m |i - j|), taken for a mask: zeros above the diagonal let the future in."""

    def bias(self, mask: Tensor) -> Tensor:
        places = torch.arange(mask.shape[1])
        return torch.tril(-0.5 * (places[:, None] - places).abs())[None, None]


class OneAhead(Toy):
    """Not declared causal, with a mask that is off by one: each place sees the next."""

    def bias(self, mask: Tensor) -> Tensor:
        seen = torch.ones(mask.shape[1], mask.shape[1], dtype=torch.bool).tril(1)
        return torch.zeros(seen.shape).masked_fill(~seen, -torch.inf)[None, None]


def test_a_bias_used_in_place_of_the_mask_lets_the_future_in() -> None:
    result = examine("PE304", BiasInsteadOfMaskDecoder())
    finding = only_finding(result)
    assert result.severity == "error"
    assert finding.where == "attention"
    assert finding.measured["places"] == 12
    assert finding.measured["leak"] > 1e-3
    assert "changes 12 earlier outputs, first at place 0" in finding.message
    assert "apart from any position bias" in finding.fix


def test_a_mask_that_is_off_by_one_is_found_even_where_nothing_declares_a_causal_model() -> None:
    finding = only_finding(examine("PE304", OneAhead(layers=1)))
    assert finding.measured["places"] == 1
    assert "first at place 11" in finding.message


@pytest.mark.parametrize("name", ["llama", "gpt-2", "bloom", "falcon, alibi"])
def test_causal_families_pass(name: str) -> None:
    result = examine("PE304", FOREIGN[name]())
    assert result.status == "passed", (result.detail, result.findings)
    assert result.measured[0].value <= 1e-5  # type: ignore[operator]


def test_a_model_that_looks_both_ways_is_not_judged() -> None:
    reasons = []
    for model in (FOREIGN["bert"](), Toy()):
        result = examine("PE304", model)
        assert result.status == "not-applicable"
        reasons.append(result.detail)
    assert reasons[0] == "the model looks both ways, as it is meant to"
    assert reasons[1].startswith("the model looks both ways, and nothing says which is meant")


def test_the_caller_may_say_that_a_model_is_meant_to_look_backwards() -> None:
    result = run("PE304", subject_of(Toy()).with_evidence(causal=True))
    assert result.status == "failed"
    assert run("PE304", subject_of(Toy()).with_evidence(causal=False)).status == "not-applicable"


def test_xlnet_is_declared_to_look_both_ways() -> None:
    assert examine("PE304", tiny_model("xlnet")).status == "not-applicable"


class MaskInItsPlaceDecoder(ToyDecoder):
    """Causal by itself; a padding mask that is passed takes the causal mask's place."""

    def forward(self, tokens: Tensor, attention_mask: Tensor | None = None) -> Tensor:  # type: ignore[override]
        x: Tensor = self.embed(tokens, self.ids(torch.ones(tokens.shape)))
        for layer in self.layers:
            causal = ToyDecoder.bias(self, torch.ones(tokens.shape))
            x = layer(x, causal if attention_mask is None else Toy.bias(self, attention_mask))
        return x


class OddlyNamedDecoder(MaskInItsPlaceDecoder):
    def forward(self, tokens: Tensor, src_key_padding_mask: Tensor | None = None) -> Tensor:  # type: ignore[override]
        return super().forward(tokens, None if src_key_padding_mask is None else 1 - src_key_padding_mask.long())


@pytest.mark.parametrize(
    ("model", "name"), [(MaskInItsPlaceDecoder, "attention_mask"), (OddlyNamedDecoder, "src_key_padding_mask")]
)
def test_a_mask_that_takes_the_causal_mask_s_place_is_found(model: type[ToyDecoder], name: str) -> None:
    result = examine("PE304", model())
    finding = only_finding(result)
    assert result.severity == "error"
    assert finding.where == f"the argument {name}"
    assert "the last token changes earlier outputs" in finding.message
    assert "merge the padding mask with the causal mask" in finding.fix


def test_a_window_to_both_sides_is_no_mask_that_works_in_part() -> None:
    result = examine("PE304", ROWS["LongformerModel"].build())
    assert result.status == "not-applicable"


class Transposed(Toy):
    """A causal mask with its axes swapped."""

    def bias(self, mask: Tensor) -> Tensor:
        seen = torch.ones(mask.shape[1], mask.shape[1], dtype=torch.bool).triu()
        return torch.zeros(seen.shape).masked_fill(~seen, -torch.inf)[None, None]


class TransposedDecoder(Transposed):
    """Its name says that it should look backwards."""


@pytest.mark.parametrize(("model", "severity"), [(Transposed, "warning"), (TransposedDecoder, "error")])
def test_a_mask_the_wrong_way_round_is_told_from_one_that_leaks(model: type[Toy], severity: str) -> None:
    result = examine("PE304", model())
    finding = only_finding(result)
    assert (result.severity, finding.where) == (severity, "attention")
    assert "each token sees only the later ones" in finding.message
    assert "triu(diagonal=1)" in finding.fix
    assert finding.measured["carried forward"] == 0
