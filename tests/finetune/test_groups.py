"""Groups hold each parameter once, with its name, and decay reaches no position, norm or bias."""

from collections import Counter
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import SGD, AdamW

from gnomon.encodings import ALiBi, Learned, T5Bias
from gnomon.encodings.base import registry
from gnomon.errors import GnomonError
from gnomon.finetune import freeze, low_rank, parameter_groups
from gnomon.models import Decoder, ModelOptions
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import Toy, examine

SMALL = ModelOptions(vocabulary=50, dim=32, num_layers=2, num_heads=4)


def names(model: nn.Module, decay: float = 0.1) -> dict[str, list[str]]:
    """The names in each group of an optimizer that took the groups."""
    optimizer = AdamW(parameter_groups(model, weight_decay=decay), lr=1e-3)
    return {group["name"]: list(group["param_names"]) for group in optimizer.param_groups}


@pytest.mark.parametrize("model_type", ["bert", "gpt2", "t5", "llama", "opt", "deberta-v2"])
def test_every_parameter_of_a_transformers_model_is_in_one_group(model_type: str) -> None:
    model = tiny_model(model_type)
    groups = parameter_groups(model, weight_decay=0.1)
    held = Counter(id(parameter) for group in groups for parameter in group["params"])
    assert held == Counter(id(parameter) for parameter in model.parameters() if parameter.requires_grad)
    named = {name: p for group in groups for name, p in zip(group["param_names"], group["params"], strict=True)}
    assert named == dict(model.named_parameters())


def test_groups_hold_plain_parameters_and_an_optimizer_keeps_their_names() -> None:
    model = Decoder(SMALL, encoding=T5Bias(4))
    groups = parameter_groups(model, weight_decay=0.1)
    given = [(list(group["param_names"]), list(group["params"])) for group in groups]
    total = sum(p.numel() for group in groups for p in group["params"])
    assert total == sum(p.numel() for p in model.parameters())
    model(torch.randint(50, (2, 7))).square().mean().backward()
    for group in groups:
        assert nn.utils.clip_grad_norm_(group["params"], 1e-3) > 0
    optimizer = AdamW(groups, lr=1e-3)
    kept = [(group["param_names"], group["params"]) for group in optimizer.param_groups]
    assert [names for names, _ in kept] == [names for names, _ in given]
    assert all(p is q for (_, ps), (_, qs) in zip(kept, given, strict=True) for p, q in zip(ps, qs, strict=True))
    assert [group["param_names"] for group in optimizer.state_dict()["param_groups"]] == [n for n, _ in given]
    optimizer.add_param_group(parameter_groups(nn.Linear(2, 2), weight_decay=0.3)[0])
    assert optimizer.param_groups[-1]["param_names"] == ["weight"]


@pytest.mark.parametrize("name", [name for name in registry.names() if registry.get(name).axes == 1])
def test_no_parameter_of_an_encoding_decays(name: str) -> None:
    model = Decoder(SMALL, encoding=registry.get(name).sample(num_heads=4, head_dim=8))
    groups = names(model)
    own = [each for each, _ in model.named_parameters() if ".encoding." in each]
    assert groups.get("positions", []) == own
    assert sorted(each for members in groups.values() for each in members) == sorted(dict(model.named_parameters()))


def test_matrices_and_words_decay_and_norms_and_biases_do_not() -> None:
    groups = names(tiny_model("bert"))
    assert groups["positions"] == ["embeddings.position_embeddings.weight"]
    assert "embeddings.word_embeddings.weight" in groups["weights"]
    assert "encoder.layer.0.attention.self.query.weight" in groups["weights"]
    assert "encoder.layer.0.attention.self.query.bias" in groups["norms and biases"]
    assert all(name.endswith("bias") or "LayerNorm" in name for name in groups["norms and biases"])


def test_a_norm_of_two_dimensions_does_not_decay() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm((2, 4)))
    assert names(model) == {"weights": ["0.weight"], "norms and biases": ["0.bias", "1.weight", "1.bias"]}


def test_a_bias_shared_by_all_layers_is_held_once() -> None:
    model = Decoder(SMALL, encoding=T5Bias(4))
    assert names(model)["positions"] == ["stack.blocks.0.attention.encoding.weight"]
    assert "positions" not in names(Decoder(SMALL, encoding=ALiBi(4)))


def test_decay_moves_no_row_that_no_input_reaches() -> None:
    model: Any = Decoder(SMALL, encoding=Learned(16, 32))
    table, before = model.encoding.weight, model.encoding.weight.detach().clone()
    optimizer = AdamW(parameter_groups(model, weight_decay=0.5), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randint(50, (2, 7))).square().mean().backward()
        optimizer.step()
    assert torch.equal(table[7:], before[7:])
    assert (table[:7] != before[:7]).all(dim=-1).all()


def test_decay_does_reach_the_weights() -> None:
    model = nn.Linear(3, 3)
    before = model.weight.detach().clone()
    optimizer = SGD(parameter_groups(model, weight_decay=0.5), lr=0.1)
    (model(torch.zeros(1, 3))).sum().backward()  # a gradient of zero for the matrix
    optimizer.step()
    torch.testing.assert_close(model.weight.detach(), before * (1 - 0.1 * 0.5))


def test_what_is_frozen_is_left_out_and_adapters_do_not_decay() -> None:
    model = tiny_model("gpt2")
    freeze(model)
    assert "positions" not in names(model)
    adapted = names(low_rank(tiny_model("gpt2"), rank=3))
    assert [name.rpartition(".")[2] for name in adapted["positions"]] == ["rows", "columns"]


def test_the_doctor_passes_these_groups_and_notes_plain_ones() -> None:
    for make, status in (
        (lambda m: AdamW(parameter_groups(m, weight_decay=0.1)), "passed"),
        (lambda m: AdamW(m.parameters(), weight_decay=0.1), "failed"),
    ):
        assert examine("PE506", Toy(), optimizer=make).status == status
        assert examine("PE506", Decoder(SMALL, encoding=T5Bias(4)), optimizer=make).status == status


def test_what_cannot_be_is_refused() -> None:
    for decay in (-0.1, float("nan"), float("inf")):
        with pytest.raises(GnomonError, match=f"at least 0, got {decay}"):
            parameter_groups(nn.Linear(2, 2), weight_decay=decay)
    with pytest.raises(GnomonError, match="No parameter of the model trains"):
        parameter_groups(nn.Linear(2, 2).requires_grad_(False), weight_decay=0.1)
