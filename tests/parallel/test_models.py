"""Models made parallel, as far as one process can tell."""

import copy

import pytest
import torch
from torch import nn

from gnomon.attention import Attention
from gnomon.encodings import ALiBi, Rotary
from gnomon.errors import GnomonError, PositionError
from gnomon.models import Decoder, ModelOptions
from gnomon.parallel import ContextParallel, ContextParallelAttention, context_parallel, head_parallel


def decoder() -> Decoder:
    return Decoder(ModelOptions(vocabulary=9, dim=16, num_layers=2, num_heads=2), encoding=Rotary(8))


def test_each_attention_layer_is_replaced_and_keeps_its_weights() -> None:
    model = decoder()
    before = [module for module in model.modules() if isinstance(module, Attention)]
    made = context_parallel(model, ContextParallel("zigzag"))
    assert made is model
    found = [module for module in made.modules() if isinstance(module, ContextParallelAttention)]
    assert [module.attention for module in found] == before
    assert model.encoding is before[0].encoding


def test_a_model_that_would_count_its_own_tokens_is_refused() -> None:
    model = copy.deepcopy(context_parallel(decoder(), ContextParallel()))
    ids = torch.tensor([[1, 2, 3, 4]])
    with pytest.raises(PositionError, match=r"cannot tell from its own tokens where they stand.*parallel\.shard"):
        model(ids)
    with pytest.raises(GnomonError, match="belongs to no group"):  # positions are there, processes are not
        model(ids, positions=torch.arange(4)[None])


def test_a_model_without_attention_layers_is_refused() -> None:
    for model in (nn.Linear(2, 2), Attention(8, num_heads=2, encoding=ALiBi(2), causal=True)):
        with pytest.raises(GnomonError, match=r"holds no gnomon\.attention\.Attention to replace"):
            context_parallel(model, ContextParallel())


def test_a_model_that_is_parallel_already_is_refused_and_left_alone() -> None:
    model = context_parallel(decoder(), ContextParallel("zigzag"))
    before = list(model.modules())
    with pytest.raises(GnomonError, match=r"^Decoder holds 2 ContextParallelAttention already; .* once, by heads or"):
        context_parallel(model, ContextParallel("zigzag"))
    with pytest.raises(GnomonError, match="Decoder holds 2 ContextParallelAttention already"):
        head_parallel(model)
    with pytest.raises(GnomonError, match="ContextParallelAttention holds 1 ContextParallelAttention already"):
        context_parallel(next(m for m in before if isinstance(m, ContextParallelAttention)), ContextParallel())
    assert list(model.modules()) == before


def test_what_is_no_model_and_no_context_is_refused_and_nothing_replaced() -> None:
    for given, told in ((None, "None"), (Decoder, "the class Decoder"), ([decoder()], "list")):
        for make in (head_parallel, lambda model: context_parallel(model, ContextParallel())):
            with pytest.raises(GnomonError, match=rf"is a torch\.nn\.Module with attention layers, got {told}\.$"):
                make(given)
    model = decoder()
    with pytest.raises(GnomonError, match=r"ContextParallel\(\.\.\.\), got None\.$"):
        context_parallel(model, None)  # type: ignore[arg-type]
    assert not any(isinstance(module, ContextParallelAttention) for module in model.modules())


def test_a_layer_that_stands_twice_is_replaced_once() -> None:
    layer = Attention(8, num_heads=2, encoding=ALiBi(2), causal=True)
    model = context_parallel(nn.ModuleList([layer, layer]), ContextParallel())
    assert model[0] is model[1]
