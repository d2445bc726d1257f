"""PE406: the vectors of tokens give other outputs than their ids."""

import pytest
import torch
from torch import Tensor

from tests.helpers.healthy import MODELS, decoder
from tests.helpers.toys import Toy, ToyDecoder, examine, only_finding


class TakesVectors(ToyDecoder):
    """`shift` moves the positions of vectors; `extra` is added to the vectors of ids alone."""

    shift, extra = 0, 0.0

    def forward(  # type: ignore[override]
        self, tokens: Tensor | None = None, inputs_embeds: Tensor | None = None
    ) -> Tensor:
        x = inputs_embeds if tokens is None else self.words(tokens) + self.extra
        assert x is not None
        ids = torch.arange(x.shape[1])[None] + (self.shift if tokens is None else 0)
        x = x + torch.as_tensor(self.positions(ids))
        for layer in self.layers:
            x = layer(x, self.bias(torch.ones(x.shape[:2])))
        return torch.as_tensor(x)


def test_vectors_that_start_elsewhere_in_one_pass_are_found() -> None:
    class Shifted(TakesVectors):
        shift = 3

    result = examine("PE406", (Shifted(), {"tokens": torch.zeros(2, 9, dtype=torch.int64)}))
    finding = only_finding(result)
    assert result.severity == "error"
    assert finding.message == "given vectors it uses positions 3, 4, 5, 6, 7, 8, 9, not those of ids"


def test_a_model_that_takes_more_from_ids_is_not_judged() -> None:
    class More(TakesVectors):
        extra = 0.5

    result = examine("PE406", (More(), {"tokens": torch.zeros(2, 9, dtype=torch.int64)}))
    assert result.status == "not-applicable"
    assert result.detail.startswith("the model takes more from ids than their vectors")


@pytest.mark.parametrize("name", ["llama", "gpt-2", "opt", "bloom", "roberta", "gemma3"])
def test_healthy_families_pass(name: str) -> None:
    result = examine("PE406", MODELS[name]())
    assert result.status == "passed", (result.detail, result.findings)


def test_a_toy_that_takes_vectors_passes() -> None:
    target = (TakesVectors(), {"tokens": torch.zeros(2, 9, dtype=torch.int64)})
    assert examine("PE406", target).status == "passed"


def test_models_without_vectors_are_not_judged() -> None:
    from gnomon.encodings import Rotary

    for target in (Toy(), decoder(Rotary(8))):
        result = examine("PE406", target)
        assert (result.status, result.detail) == ("not-applicable", "the forward takes no vectors in place of ids")
