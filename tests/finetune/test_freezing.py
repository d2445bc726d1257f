"""Freezing stops positions and nothing else; unfreezing brings back what was learned and leaves fixed tables alone."""

from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import AdamW

from gnomon.encodings import Learned
from gnomon.errors import GnomonError
from gnomon.finetune import freeze, low_rank, train_rows, unfreeze
from gnomon.models import Decoder, ModelOptions
from tests.helpers.tiny_transformers import tiny_model

SMALL = ModelOptions(vocabulary=50, dim=32, num_layers=2, num_heads=4)


def trained(model: nn.Module) -> list[str]:
    return [name for name, parameter in model.named_parameters() if parameter.requires_grad]


@pytest.mark.parametrize("model_type", ["bert", "gpt2", "t5"])
def test_positions_stop_and_start_and_the_rest_goes_on(model_type: str) -> None:
    model = tiny_model(model_type)
    before = trained(model)
    stopped = freeze(model)
    assert stopped
    assert trained(model) == [name for name in before if name not in stopped]
    assert freeze(model) == ()
    assert unfreeze(model) == stopped
    assert trained(model) == before


def test_a_frozen_table_keeps_its_bits_under_a_step_with_decay() -> None:
    model: Any = Decoder(SMALL, encoding=Learned(16, 32))
    freeze(model)
    table = model.encoding.weight
    before, words = table.detach().clone(), model.stack.embedding.words.weight.detach().clone()
    optimizer = AdamW(model.parameters(), lr=0.1, weight_decay=0.5)
    model(torch.randint(50, (2, 7))).square().mean().backward()
    optimizer.step()
    assert torch.equal(table, before)
    assert not torch.equal(model.stack.embedding.words.weight, words)


def test_names_choose_and_a_wrong_one_is_an_error_before_anything_changes() -> None:
    model = Decoder(SMALL, encoding=[Learned(16, 32), Learned(16, 32)])
    first, second = freeze(model)
    with pytest.raises(GnomonError, match=r"no position parameter stack\.norm\.weight; it has stack"):
        unfreeze(model, [second, "stack.norm.weight"])
    assert second not in trained(model)
    assert unfreeze(model, [second]) == (second,)
    assert (first in trained(model), second in trained(model)) == (False, True)


def test_one_name_is_enough_and_a_name_given_twice_counts_once() -> None:
    model = Decoder(SMALL, encoding=[Learned(16, 32), Learned(16, 32)])
    first, second = freeze(model)
    assert unfreeze(model, first) == (first,)
    assert unfreeze(model, [second, first, second]) == (second,)
    with pytest.raises(GnomonError, match="no position parameter stack; it has"):
        unfreeze(model, "stack")


def test_sinusoids_kept_as_a_parameter_stay_frozen() -> None:
    model = tiny_model("distilbert", sinusoidal_pos_embds=True)
    name = "embeddings.position_embeddings.weight"
    model.get_parameter(name).requires_grad_(False)
    assert unfreeze(model) == ()
    assert unfreeze(model, [name]) == (name,)  # who names it means it


def test_what_an_adapter_keeps_beneath_it_stays_frozen() -> None:
    adapted, extended = low_rank(Learned(16, 32), rank=2), train_rows(Learned(16, 32), first=9)
    for encoding, names in (
        (adapted, ["parametrizations.weight.0.rows", "parametrizations.weight.0.columns"]),
        (extended, ["parametrizations.weight.original"]),
    ):
        freeze(encoding)
        assert trained(encoding) == []
        unfreeze(encoding)
        assert trained(encoding) == names
