"""Adapters change nothing at first, train alone, and leave a plain table with what they learned."""

import copy
import math
import operator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import AdamW

from gnomon.encodings import ALiBi, Learned, PositionEncoding, Shaw, T5Bias
from gnomon.encodings.base import registry
from gnomon.errors import GnomonError
from gnomon.finetune import adapter_state, low_rank, merge
from gnomon.models import Decoder, ModelOptions
from tests.helpers.tiny_transformers import tiny_model

SMALL = ModelOptions(vocabulary=50, dim=32, num_layers=2, num_heads=4)
TOKENS = torch.randint(50, (2, 9), generator=torch.Generator().manual_seed(5))
WITH_TABLES = ("learned", "t5", "shaw", "window_bias", "cope", "deberta")


def sample(name: str) -> PositionEncoding:
    torch.manual_seed(3)
    return registry.get(name).sample(num_heads=4, head_dim=8)


def steps(model: nn.Module, count: int = 3) -> None:
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = AdamW(trained, lr=0.05, weight_decay=0.0)
    for _ in range(count):
        optimizer.zero_grad()
        model(TOKENS).square().mean().backward()
        optimizer.step()


@pytest.mark.parametrize("encoding", [Learned(16, 32), T5Bias(4)], ids=["learned", "t5"])
def test_a_model_computes_the_same_until_the_first_step(encoding: PositionEncoding) -> None:
    model = Decoder(SMALL, encoding=encoding)
    before = model(TOKENS)
    assert torch.equal(low_rank(model, rank=3)(TOKENS), before)
    steps(model)
    assert not torch.allclose(model(TOKENS), before)


@pytest.mark.parametrize("model_type", ["bert", "gpt2", "t5"])
def test_transformers_models_take_adapters_and_give_them_back(model_type: str) -> None:
    model = tiny_model(model_type)
    inputs = {"input_ids": TOKENS} | ({"decoder_input_ids": TOKENS[:, :5]} if model_type == "t5" else {})
    names, before = list(model.state_dict()), model(**inputs)[0]
    assert torch.equal(low_rank(model, rank=2)(**inputs)[0], before)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith(".rows"):
                parameter.normal_()
    moved = model(**inputs)[0]
    assert not torch.allclose(moved, before)
    assert torch.equal(merge(model)(**inputs)[0], moved)
    assert list(model.state_dict()) == names


def test_the_adapted_table_is_the_sum_of_the_paper() -> None:
    encoding: Any = low_rank(Learned(6, 5), rank=2, scale=0.3, generator=torch.Generator().manual_seed(1))
    [adapter] = encoding.parametrizations.weight
    with torch.no_grad():
        adapter.rows.copy_(torch.randn(6, 2))
    stored, rows, columns = (
        value.detach().double() for value in (encoding.parametrizations.weight.original, adapter.rows, adapter.columns)
    )
    for p in range(6):
        for d in range(5):
            want = stored[p, d] + 0.3 * sum(rows[p, r] * columns[r, d] for r in range(2))
            assert math.isclose(encoding.weight[p, d].item(), want.item(), abs_tol=1e-6)


def test_gradients_reach_both_factors_and_not_the_table() -> None:
    encoding: Any = low_rank(Learned(6, 5), rank=2)
    [adapter] = encoding.parametrizations.weight
    weight = torch.randn(1, 6, 5)
    (encoding.embed(torch.zeros(1, 6, 5), torch.arange(6)[None]) * weight).sum().backward()
    assert encoding.parametrizations.weight.original.grad is None
    torch.testing.assert_close(adapter.rows.grad, weight[0] @ adapter.columns.detach().T)
    assert not adapter.columns.grad.any()  # the rows are zeros at first
    with torch.no_grad():
        adapter.rows.normal_()
    adapter.columns.grad = None
    (encoding.embed(torch.zeros(1, 6, 5), torch.arange(6)[None]) * weight).sum().backward()
    torch.testing.assert_close(adapter.columns.grad, adapter.rows.detach().T @ weight[0])


@pytest.mark.parametrize("name", WITH_TABLES)
def test_merging_gives_a_plain_encoding_with_the_same_bits(name: str) -> None:
    plain = sample(name)
    adapted = low_rank(copy.deepcopy(plain), rank=2, scale=0.5)
    with torch.no_grad():
        for key, parameter in adapted.named_parameters():
            if key.endswith(".rows"):
                parameter.normal_(std=0.1)
    with torch.no_grad():
        tables = {key: operator.attrgetter(key)(adapted).clone() for key, _ in plain.named_parameters()}
    merged = merge(adapted)
    assert type(merged) is type(plain)
    assert merged.options == plain.options
    assert list(merged.state_dict()) == list(plain.state_dict())
    assert all(torch.equal(merged.get_parameter(key), table) for key, table in tables.items())
    assert [key for key, value in plain.state_dict().items() if not torch.equal(value, tables[key])] == ["weight"]
    assert all(parameter.requires_grad for parameter in merged.parameters())
    plain.load_state_dict(merged.state_dict())


def test_a_table_that_did_not_train_does_not_train_after_merging() -> None:
    frozen = Learned(6, 5).requires_grad_(False)
    assert not merge(low_rank(frozen, rank=2)).weight.requires_grad


def trained(module: nn.Module) -> list[str]:
    return [name for name, parameter in module.named_parameters() if parameter.requires_grad]


@pytest.mark.parametrize("name", [name for name in registry.names() if name not in WITH_TABLES])
def test_an_encoding_without_a_table_is_refused_and_left_alone(name: str) -> None:
    encoding = sample(name)
    names, before = list(encoding.state_dict()), trained(encoding)
    with pytest.raises(GnomonError, match="no learned table of positions here"):
        low_rank(encoding, rank=1)
    assert list(encoding.state_dict()) == names
    assert trained(encoding) == before


@pytest.mark.parametrize("name", ["fire", "log_cpb", "kerple", "transformer_xl", "fourier"])
def test_what_is_no_table_is_frozen_until_merging(name: str) -> None:
    pair = nn.ModuleList([sample(name), Learned(6, 5)])
    first, *others = trained(pair[0])
    pair[0].get_parameter(first).requires_grad_(False)
    before = trained(pair)
    low_rank(pair, rank=2)
    assert trained(pair) == [f"1.parametrizations.weight.0.{factor}" for factor in ("rows", "columns")]
    copied = copy.deepcopy(pair)
    assert trained(merge(copied)) == before == [*(f"0.{other}" for other in others), "1.weight"]
    assert trained(pair[0]) == []  # a copy is its own
    assert trained(merge(pair)) == before


def test_the_projections_of_an_adapted_table_are_frozen_until_merging() -> None:
    encoding = sample("deberta")
    before = trained(encoding)
    assert trained(low_rank(encoding, rank=2)) == [f"parametrizations.weight.0.{f}" for f in ("rows", "columns")]
    assert trained(merge(encoding)) == before


def test_merging_a_part_leaves_the_rest_as_it_is() -> None:
    pair = low_rank(nn.ModuleList([sample("fire"), T5Bias(4)]), rank=2)
    assert trained(merge(pair[1])) == ["weight"]
    assert trained(pair[0]) == []


def test_vectors_for_each_head_are_no_tables() -> None:
    model = nn.Module()
    model.pos_bias_u, model.r_w_bias = (nn.Parameter(torch.ones(4, 8)) for _ in range(2))
    model.relative_position_bias_table = nn.Parameter(torch.ones(9, 4))
    low_rank(model, rank=2)
    assert [n for n, _ in model.named_parameters() if "parametrizations" not in n] == ["pos_bias_u", "r_w_bias"]
    assert {n.rpartition(".")[2] for n in trained(model)} == {"rows", "columns"}


def test_a_saved_gpt2_has_its_table_after_merging(tmp_path: Path) -> None:
    model: Any = merge(low_rank(tiny_model("gpt2"), rank=2))
    model.save_pretrained(tmp_path)
    again = type(model).from_pretrained(tmp_path)
    assert torch.equal(again.wpe.weight, model.wpe.weight)


def test_the_state_dict_has_the_table_and_the_adapter_and_loads_again() -> None:
    model = low_rank(Decoder(SMALL, encoding=T5Bias(4)), rank=2)
    steps(model)
    place = "stack.blocks.0.attention.encoding.parametrizations.weight"
    added = {name: value for name, value in model.state_dict().items() if "parametrizations" in name}
    assert [name for name in added if ".0.attention" in name] == [
        f"{place}.original",
        f"{place}.0.rows",
        f"{place}.0.columns",
    ]
    state = adapter_state(model)
    assert {name.rpartition(".")[2] for name in state} == {"rows", "columns"}
    other = low_rank(Decoder(SMALL, encoding=T5Bias(4)), rank=2)
    rest = {name: value for name, value in model.state_dict().items() if not name.endswith((".rows", ".columns"))}
    other.load_state_dict(rest, strict=False)
    assert not torch.allclose(other(TOKENS), model(TOKENS))
    assert other.load_state_dict(state, strict=False).unexpected_keys == []
    assert torch.equal(other(TOKENS), model(TOKENS))


def test_a_bias_that_all_layers_share_has_one_adapter() -> None:
    model: Any = low_rank(Decoder(SMALL, encoding=T5Bias(4)), rank=2)
    trained = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
    assert [name.rpartition(".")[2] for name in trained if ".encoding." in name] == ["rows", "columns"]
    blocks = model.stack.blocks
    assert blocks[0].attention.encoding is blocks[1].attention.encoding


def test_half_precision_and_autocast_keep_the_sum_exact() -> None:
    encoding: Any = low_rank(Learned(6, 5), rank=2)
    with torch.no_grad():
        encoding.parametrizations.weight[0].rows.normal_()
    exact = encoding.weight.detach().clone()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(encoding.weight, exact)
    halved = encoding.to(torch.bfloat16)
    assert halved.weight.dtype == torch.bfloat16
    x = halved.embed(torch.zeros(1, 6, 5, dtype=torch.bfloat16), torch.arange(6)[None])
    torch.testing.assert_close(x[0].float(), exact, atol=0.05, rtol=0.02)


def test_an_adapted_encoding_is_copied_with_its_adapter() -> None:
    encoding: Any = low_rank(Learned(6, 5), rank=2)
    other: Any = copy.deepcopy(encoding)
    with torch.no_grad():
        other.parametrizations.weight[0].rows.fill_(1.0)
    assert not torch.equal(other.weight, encoding.weight)


def test_a_copy_is_merged_while_the_original_trains_on() -> None:
    model: Any = low_rank(Decoder(SMALL, encoding=Learned(16, 32)), rank=2)
    steps(model)
    before = model(TOKENS)
    copied: Any = merge(copy.deepcopy(model))
    assert type(copied.encoding) is Learned
    assert torch.equal(copied(TOKENS), before)
    assert torch.equal(model(TOKENS), before)
    steps(model)
    assert type(merge(model).encoding) is Learned


def test_what_cannot_be_adapted_is_refused_and_left_alone() -> None:
    with pytest.raises(GnomonError, match="no learned table of positions here"):
        low_rank(ALiBi(4), rank=2)
    with pytest.raises(GnomonError, match="no learned table of positions here"):
        low_rank(Shaw(4, 8, shared_heads=False), rank=2)  # a table for each head
    for rank in (0, 5):
        with pytest.raises(GnomonError, match=rf"is 1 to 4, for a table of \(32, 4\); got {rank}"):
            low_rank(T5Bias(4), rank=rank)
    with pytest.raises(GnomonError, match="other than 0, got 0"):
        low_rank(T5Bias(4), rank=1, scale=0.0)
    with pytest.raises(GnomonError, match=r"The table weight has an adapter already"):
        low_rank(low_rank(T5Bias(4), rank=1), rank=1)
    pair = nn.ModuleList([Learned(6, 5), Learned(6, 5)])
    pair[1].weight = pair[0].weight
    with pytest.raises(GnomonError, match=r"0\.weight is tied between 2 modules"):
        low_rank(pair, rank=2)
    assert list(pair.state_dict()) == ["0.weight", "1.weight"]
