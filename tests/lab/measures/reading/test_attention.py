"""The attention of each layer: it gives the layer's own output when it weighs the layer's values."""

import pytest
import torch
from torch import nn

from gnomon.lab.measures import Trained
from gnomon.lab.measures.reading.attention import attention_maps
from gnomon.lab.measures.reading.pieces import layers
from gnomon.lab.tasks.base import Batch
from tests.helpers.lab_measured import fresh

IDS = torch.randint(7, (2, 11), generator=torch.Generator().manual_seed(0))
PADDED = torch.tensor([[True] * 11, [True] * 8 + [False] * 3])


def require_own_output(trained: Trained, batch: Batch) -> None:
    given: list[torch.Tensor] = []
    outputs: list[torch.Tensor] = []

    def keep(_: nn.Module, arguments: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
        given.append(arguments[0])
        outputs.append(output)

    hooks = [part.register_forward_hook(keep) for part in layers(trained)]
    with torch.no_grad():
        trained.model(batch.ids, batch.real)
    for hook in hooks:
        hook.remove()
    maps = attention_maps(trained, batch, torch.Generator())
    assert len(maps) == 2
    for layer, x, output, log_attention in zip(layers(trained), given, outputs, maps, strict=True):
        shares = log_attention.exp()
        assert shares.sum(-1) == pytest.approx(1, abs=1e-5)
        values = layer.value(x).unflatten(-1, (layer.num_heads, -1)).transpose(1, 2)
        mixed = layer.output((shares @ values).transpose(1, 2).flatten(2))
        assert torch.allclose(mixed, output, atol=1e-5)


@pytest.mark.parametrize("encoding", ["nope", "sinusoidal", "rotary", "alibi", "t5", "shaw", "cope"])
def test_of_a_decoder(encoding: str) -> None:
    require_own_output(fresh(encoding), Batch(IDS, IDS))


@pytest.mark.parametrize("encoding", ["nope", "rotary", "alibi", "deberta"])
def test_of_an_encoder_with_padding(encoding: str) -> None:
    require_own_output(fresh(encoding, sight="both"), Batch(IDS, IDS, PADDED))


def test_of_rotations_that_depend_on_the_length() -> None:
    """Queries run in several groups, each with the keys up to its last slot."""
    rule = {"kind": "dynamic", "factor": 4.0, "original_max_length": 4, "base": 50.0}
    trained = fresh({"encoding": "rotary", "frequencies": rule})
    assert layers(trained)[0].encoding.length_dependent
    require_own_output(trained, Batch(IDS, IDS))


def test_an_encoder_sees_later_keys_and_a_decoder_does_not() -> None:
    causal, both = (
        attention_maps(fresh(sight=sight), Batch(IDS, IDS), torch.Generator())[0] for sight in ("causal", "both")
    )
    assert torch.equal(causal[0, 0].isfinite(), torch.ones(11, 11, dtype=torch.bool).tril())
    assert both.isfinite().all()
