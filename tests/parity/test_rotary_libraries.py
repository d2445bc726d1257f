"""Rotary encodings equal rotary-embedding-torch, x-transformers and torchtune where those are right."""

import pytest
import torch
from torch import Tensor

from gnomon.encodings import Rotary
from gnomon.encodings.frequencies import Frequencies, Linear, Llama3, NTKAware, Plain
from tests.helpers.peers import one_file, x_transformers
from tests.helpers.weights import normal

BATCH, HEADS, LENGTH, WIDTH = 2, 3, 40, 16
START = 5  #: torchtune takes any ids; the others count from 0, so the first tokens are cut off


def rotated(frequencies: Frequencies, x: Tensor, *, layout: str, positions: Tensor | None = None) -> Tensor:
    places = torch.arange(x.shape[2])[None] if positions is None else positions
    encoding = Rotary(x.shape[-1], rotary_dim=WIDTH, layout=layout, frequencies=frequencies)  # type: ignore[arg-type]
    return encoding.rotate_query(x, places)


@pytest.mark.parametrize(
    ("given", "frequencies"),
    [
        ({"theta": 500}, Plain(500.0)),
        ({"interpolate_factor": 4.0}, Linear(4.0)),
        ({"theta_rescale_factor": 3.0}, NTKAware(3.0)),
    ],
    ids=["plain", "linear", "ntk"],
)
@pytest.mark.parametrize("head_dim", [WIDTH, WIDTH + 5])
def test_rotary_embedding_torch(given: dict[str, float], frequencies: Frequencies, head_dim: int) -> None:
    from rotary_embedding_torch import RotaryEmbedding

    x = normal(BATCH, HEADS, LENGTH, head_dim)
    theirs = RotaryEmbedding(WIDTH, **given).rotate_queries_or_keys(x)
    torch.testing.assert_close(rotated(frequencies, x, layout="interleaved"), theirs.detach(), atol=2e-5, rtol=0)
    assert (rotated(frequencies, x, layout="half") - theirs).abs().max() > 0.5


@pytest.mark.parametrize(
    ("given", "frequencies"),
    [
        ({"base": 500}, Plain(500.0)),
        ({"interpolation_factor": 4.0}, Linear(4.0)),
        ({"base_rescale_factor": 3.0}, NTKAware(3.0)),
    ],
    ids=["plain", "linear", "ntk"],
)
@pytest.mark.parametrize("head_dim", [WIDTH, WIDTH + 5])
def test_x_transformers(given: dict[str, float], frequencies: Frequencies, head_dim: int) -> None:
    x, peer = normal(BATCH, HEADS, LENGTH, head_dim), x_transformers()
    angles, scale = peer.RotaryEmbedding(WIDTH, **given).forward_from_seq_len(LENGTH)
    theirs = peer.apply_rotary_pos_emb(x, angles, scale)
    torch.testing.assert_close(rotated(frequencies, x, layout="interleaved"), theirs, atol=2e-5, rtol=0)


@pytest.mark.parametrize(
    ("path", "name", "given", "frequencies", "layout"),
    [
        (
            "modules/position_embeddings.py",
            "RotaryPositionalEmbeddings",
            {"base": 500},
            Plain(500.0),
            "interleaved",
        ),
        ("models/phi3/_position_embeddings.py", "Phi3RotaryPositionalEmbeddings", {"base": 500}, Plain(500.0), "half"),
        ("models/qwen2/_positional_embeddings.py", "Qwen2RotaryPositionalEmbeddings", {}, Plain(1e6), "half"),
        (
            "models/llama3_1/_position_embeddings.py",
            "Llama3ScaledRoPE",
            {"base": 500, "scale_factor": 4, "old_context_len": 32},
            Llama3(4.0, 32, base=500.0),
            "interleaved",
        ),
    ],
    ids=["plain", "phi3", "qwen2", "llama3"],
)
def test_torchtune(path: str, name: str, given: dict[str, float], frequencies: Frequencies, layout: str) -> None:
    x = normal(BATCH, HEADS, LENGTH, WIDTH)
    positions = torch.stack([torch.arange(LENGTH) + START, torch.randperm(200)[:LENGTH]])
    module = getattr(one_file("torchtune", path), name)(WIDTH, max_seq_len=256, **given)
    theirs = module(x.transpose(1, 2), input_pos=positions).transpose(1, 2)
    ours = rotated(frequencies, x, layout=layout, positions=positions)
    torch.testing.assert_close(ours, theirs, atol=5e-5, rtol=0)
    other = "half" if layout == "interleaved" else "interleaved"
    assert (rotated(frequencies, x, layout=other, positions=positions) - theirs).abs().max() > 0.5


def test_torchtune_gives_no_rotation_past_its_table_and_ours_does() -> None:
    """Its docstring says that the table grows; it does not, and ids past it are an IndexError."""
    x, far = normal(1, HEADS, 3, WIDTH), torch.tensor([[254, 255, 256]])
    module = one_file("torchtune", "modules/position_embeddings.py").RotaryPositionalEmbeddings(WIDTH, max_seq_len=256)
    with pytest.raises(IndexError):
        module(x.transpose(1, 2), input_pos=far)
    assert rotated(Plain(), x, layout="interleaved", positions=far).isfinite().all()
