"""Where only new rows train, old ones keep their bits under every optimizer."""

from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import SGD, AdamW

from gnomon.encodings import FIRE, ALiBi, Learned, T5Bias
from gnomon.errors import GnomonError
from gnomon.finetune import adapter_state, merge, train_rows
from gnomon.models import Decoder, ModelOptions
from tests.helpers.tiny_transformers import tiny_model

SMALL = ModelOptions(vocabulary=50, dim=32, num_layers=2, num_heads=4)


@pytest.mark.parametrize("optimizer", [AdamW, SGD])
def test_old_rows_keep_their_bits_and_new_ones_move(optimizer: type[AdamW | SGD]) -> None:
    model: Any = train_rows(Decoder(SMALL, encoding=Learned(16, 32)), first=10)
    before = model.encoding.weight.detach().clone()
    steps = optimizer([p for p in model.parameters() if p.requires_grad], lr=0.1, weight_decay=0.3)
    for _ in range(2):
        steps.zero_grad()
        model(torch.randint(50, (2, 13))).square().mean().backward()
        steps.step()
    assert torch.equal(model.encoding.weight[:10], before[:10])
    assert (model.encoding.weight[10:13] != before[10:13]).any(dim=-1).all()


def test_an_optimizer_made_before_holds_the_rows_too() -> None:
    encoding: Any = Learned(16, 4)
    optimizer = SGD(encoding.parameters(), lr=1.0)
    train_rows(encoding, first=12)
    before = encoding.weight.detach().clone()
    encoding.embed(torch.zeros(1, 16, 4), torch.arange(16)[None]).sum().backward()
    optimizer.step()
    torch.testing.assert_close(encoding.weight.detach(), before - (torch.arange(16) >= 12)[:, None].float())


def test_merging_makes_one_table_again() -> None:
    encoding: Any = Learned(16, 4, padding_offset=2)
    before = encoding.weight.detach().clone()
    train_rows(encoding, first=7)
    assert {name: tuple(value.shape) for name, value in encoding.state_dict().items()} == {
        "parametrizations.weight.original": (11, 4),
        "parametrizations.weight.0.kept": (7, 4),
    }
    assert list(adapter_state(encoding)) == ["parametrizations.weight.original"]
    with torch.no_grad():
        encoding.parametrizations.weight.original.add_(1.0)
    merge(encoding)
    assert type(encoding) is Learned
    assert encoding.weight.requires_grad
    assert torch.equal(encoding.weight.detach(), torch.cat((before[:7], before[7:] + 1.0)))


def test_a_table_of_transformers_takes_it() -> None:
    model = train_rows(tiny_model("gpt2"), first=20)
    assert tuple(model.get_parameter("wpe.parametrizations.weight.original").shape) == (17, 32)
    assert model(torch.randint(50, (2, 30)))[0].shape == (2, 30, 32)


def test_what_has_no_one_table_with_rows_on_both_sides_is_refused() -> None:
    with pytest.raises(GnomonError, match="one learned table at a time, here are none"):
        train_rows(ALiBi(4), first=1)
    with pytest.raises(GnomonError, match="one learned table at a time, here are none"):
        train_rows(FIRE(4), first=1)
    with pytest.raises(GnomonError, match=r"here are 0\.weight, 1\.weight"):
        train_rows(nn.ModuleList([T5Bias(4), T5Bias(4)]), first=1)
    for first in (0, 16, -1):
        with pytest.raises(GnomonError, match=f"is 1 to 15 in a table of 16, got {first}"):
            train_rows(Learned(16, 4), first=first)
    with pytest.raises(GnomonError, match=r"here are parametrizations|has an adapter already"):
        train_rows(train_rows(Learned(16, 4), first=3), first=3)
