"""PE302: the order of the tokens changes nothing."""

import pytest
import torch
from torch import Tensor, nn

from gnomon.encodings import NoPE, Rotary
from tests.helpers.healthy import FOREIGN, decoder, encoder
from tests.helpers.healthy_plain import PLAIN
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import Toy, ToyDecoder, examine, only_finding


class NeverCalled(Toy):
    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.words(tokens)
        return x


class BlindDecoder(ToyDecoder):
    embed = NeverCalled.embed


def test_a_table_that_is_never_called_is_found_by_its_name() -> None:
    finding = only_finding(examine("PE302", NeverCalled()))
    assert finding.where == "positions.weight"
    assert finding.measured["effect"] < 1e-4
    assert "changes nothing but the order of the outputs" in finding.message
    assert "never called" in finding.fix
    assert examine("PE302", NeverCalled()).severity == "error"


def test_a_causal_model_of_one_layer_that_has_a_table_and_does_not_use_it_is_an_error() -> None:
    result = examine("PE302", BlindDecoder(layers=1))
    assert result.severity == "error"
    assert only_finding(result).message == "reordering the tokens changes nothing of the last output"


def test_a_causal_model_that_claims_no_positions_is_only_noted() -> None:
    torch.manual_seed(0)
    from gnomon.models import Decoder, ModelOptions

    model = Decoder(ModelOptions(vocabulary=40, dim=32, num_layers=1, num_heads=4), encoding=NoPE())
    result = examine("PE302", model)
    assert (result.status, result.severity) == ("failed", "note")


def test_an_encoder_that_claims_no_positions_is_told_to_add_some() -> None:
    finding = only_finding(examine("PE302", encoder(NoPE())))
    assert "add a position encoding" in finding.fix


@pytest.mark.parametrize("model", [Toy(), ToyDecoder(layers=1), encoder(Rotary(8)), decoder(NoPE())])
def test_models_that_see_order_pass(model: nn.Module) -> None:
    result = examine("PE302", model)
    assert result.status == "passed", result.findings
    assert float(result.measured[0].value) > 0.02


def test_weights_that_hardly_let_tokens_mix_do_not_make_a_model_blind() -> None:
    assert examine("PE302", tiny_model("xlnet")).status == "passed"


def test_a_model_whose_tokens_never_mix_is_not_judged() -> None:
    result = examine("PE302", nn.Sequential(nn.Embedding(10, 4), nn.Linear(4, 4)))
    assert (result.status, result.detail) == (
        "not-applicable",
        "no token has an effect on another's output: nothing mixes them",
    )


def test_a_classification_head_is_not_judged() -> None:
    class Pooled(Toy):
        def forward(
            self, tokens: Tensor, attention_mask: Tensor | None = None, position_ids: Tensor | None = None
        ) -> Tensor:
            return super().forward(tokens, attention_mask, position_ids).mean(1)

    result = examine("PE302", Pooled())
    assert (result.status, result.detail) == (
        "not-applicable",
        "the output (2, 32) has no vector for each of 13 places",
    )


def test_a_model_of_two_places_is_not_judged() -> None:
    result = examine("PE302", (Toy(rows=2), (torch.zeros(2, 2, dtype=torch.int64),)))
    assert (result.status, result.detail) == ("not-applicable", "the model takes 2 places; moving tokens needs 3")


def test_a_healthy_bert_passes() -> None:
    assert examine("PE302", FOREIGN["bert"]()).status == "passed"


def test_a_model_of_vectors_without_positions_gets_a_warning_since_it_may_be_one_of_sets() -> None:
    result = examine("PE302", PLAIN["set transformer"]())
    assert result.severity == "warning"
    assert "ordered=False" in only_finding(result).fix


def test_the_caller_can_say_that_order_must_not_matter() -> None:
    result = examine("PE302", PLAIN["set transformer"](), ordered=False)
    assert (result.status, result.detail) == (
        "not-applicable",
        "the caller says that order must not matter (ordered=False)",
    )
