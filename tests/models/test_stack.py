"""What decoder and encoder share: where positions are added, and what does not fit."""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_model, save_model
from torch import Tensor, nn

from gnomon.attention import Attention, AttentionMask, KeyValues
from gnomon.encodings import Learned, NoPE, Rotary, Sinusoidal
from gnomon.encodings.base import PositionEncoding
from gnomon.encodings.frequencies import Plain
from gnomon.errors import GnomonError, PositionError, ShapeError
from gnomon.models import Decoder, EmbeddingOptions
from gnomon.models.options import Scale
from gnomon.models.stack import Stack, derive_positions
from tests.helpers.models import DIM, NAMES, VOCABULARY, decoder, encoder, options, sample
from tests.helpers.weights import redraw, token_ids

IDS = token_ids(2, 7, vocabulary=VOCABULARY)


class Recorded(PositionEncoding):
    """Adds 100 to the embeddings and remembers what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[Tensor, Tensor]] = []

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        self.seen.append((x, positions))
        return x + 100

    @property
    def options(self) -> dict[str, Any]:
        return {}


@pytest.mark.parametrize("scale", ["none", "sqrt_dim"])
@pytest.mark.parametrize("width", [None, 5])
def test_positions_are_added_once_to_scaled_and_projected_embeddings_before_the_first_block(
    scale: Scale, width: int | None
) -> None:
    encoding = Recorded()
    stack = Stack(options(EmbeddingOptions(scale=scale, width=width)), encoding=encoding, causal=True)
    redraw(stack)
    entered: list[Tensor] = []
    stack.blocks[0].register_forward_pre_hook(lambda _, args: entered.append(args[0]))
    stack(IDS, AttentionMask())
    [(x, place)] = encoding.seen
    torch.testing.assert_close(x, stack.embedding(IDS))
    assert x.shape == (2, 7, DIM)
    assert place.tolist() == [[0, 1, 2, 3, 4, 5, 6]]
    assert len(entered) == 1
    torch.testing.assert_close(entered[0], x + 100)


@pytest.mark.parametrize("encoding", [Learned(16, DIM + 1), Sinusoidal(DIM + 1)])
def test_a_table_of_another_width_is_refused_with_both_widths(encoding: PositionEncoding) -> None:
    with pytest.raises(ShapeError, match=r"32 wide.*33 wide"):
        encoder(encoding)(IDS)


def test_a_factorised_model_takes_a_table_of_the_model_width_not_of_the_token_table() -> None:
    narrow = options(EmbeddingOptions(width=8))
    assert Stack(narrow, encoding=Learned(16, DIM), causal=False)(IDS, AttentionMask()).shape == (2, 7, DIM)
    with pytest.raises(ShapeError, match=r"32 wide.*8 wide"):
        Stack(narrow, encoding=Learned(16, 8), causal=False)(IDS, AttentionMask())


@pytest.mark.usefixtures("unchecked")
def test_an_encoding_that_changes_the_shape_of_embeddings_is_refused() -> None:
    class Longer(Recorded):
        def embed(self, x: Tensor, positions: Tensor) -> Tensor:
            return torch.cat((x, x), dim=1)

    with pytest.raises(ShapeError, match=r"\(2, 7, 32\) into \(2, 14, 32\)"):
        encoder(Longer())(IDS)


def test_heads_of_another_width_are_refused_with_both_widths() -> None:
    with pytest.raises(ShapeError, match=r"8 wide.*16"):
        encoder(Rotary(16))(IDS)


def test_a_mask_of_another_length_is_refused_with_both_shapes() -> None:
    with pytest.raises(ShapeError, match=r"\(2, 5\).*\(2, 7\)"):
        encoder(Rotary(8))(IDS, attention_mask=torch.ones(2, 5))


def test_the_sizes_of_the_options_are_the_sizes_of_the_model() -> None:
    model = decoder(Rotary(8))
    layers = [module for module in model.modules() if isinstance(module, Attention)]
    assert [(layer.num_heads, layer.num_key_heads, layer.key.out_features) for layer in layers] == [(4, 2, 16)] * 2


def test_more_tokens_than_a_learned_table_has_rows_are_refused() -> None:
    with pytest.raises(PositionError, match=r"Position 6 .*0 to 5"):
        encoder(Learned(6, DIM))(IDS)


def test_a_row_of_padding_alone_has_no_positions_to_derive() -> None:
    with pytest.raises(PositionError, match="Row 1"):
        derive_positions(IDS, AttentionMask.of(torch.tensor([[1] * 7, [0] * 7])), stored=None)


def test_positions_follow_masks_and_documents_through_what_is_stored() -> None:
    def stored(mask: AttentionMask) -> KeyValues:
        return KeyValues(torch.zeros(2, 1, 4, 2), torch.zeros(2, 1, 4, 2), torch.zeros(2, 4, dtype=torch.int64), mask)

    new, past = torch.zeros(2, 3, dtype=torch.int64), torch.tensor([[0, 0, 1, 1], [1, 1, 1, 1]])
    old_documents, documents = torch.tensor([[5, 5, 5, 5], [5, 5, 5, 6]]), torch.tensor([[5, 8, 8], [6, 6, 6]])
    assert derive_positions(new, AttentionMask(), stored(AttentionMask())).tolist() == [[4, 5, 6]]
    assert derive_positions(new, AttentionMask(), stored(AttentionMask.of(past))).tolist() == [[2, 3, 4], [4, 5, 6]]
    packed = AttentionMask.of(documents=documents)
    kept = stored(AttentionMask.of(documents=old_documents))
    assert derive_positions(new, packed, kept).tolist() == [[4, 0, 1], [1, 2, 3]]
    both = stored(AttentionMask.of(past, old_documents))
    assert derive_positions(new, packed, both).tolist() == [[2, 0, 1], [1, 2, 3]]


@pytest.mark.parametrize("name", NAMES)
def test_a_model_built_on_the_meta_device_and_loaded_is_the_same_model(name: str) -> None:
    model = decoder(sample(name))
    with torch.device("meta"):
        empty = decoder(sample(name))
    empty = empty.to_empty(device="cpu")
    empty.load_state_dict(model.state_dict())
    assert torch.equal(empty(IDS), model(IDS))


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_and_a_safetensors_file_keep_one_encoding_for_all_layers(name: str, tmp_path: Path) -> None:
    model = decoder(sample(name))
    copied, loaded = copy.deepcopy(model), decoder(sample(name))
    save_model(model, str(tmp_path / "model.safetensors"))
    redraw(loaded, seed=5)
    load_model(loaded, str(tmp_path / "model.safetensors"))
    for other in (copied, loaded):
        assert torch.equal(other(IDS), model(IDS))
        held = {id(module.encoding) for module in other.modules() if isinstance(module, Attention)}
        assert held == {id(other.encoding)} != {id(model.encoding)}


def test_a_model_starts_in_float32_with_a_norm_last() -> None:
    stack = Stack(options(), encoding=Rotary(8), causal=True)
    assert {p.dtype for p in stack.parameters()} == {torch.float32}
    assert isinstance(stack.norm, nn.LayerNorm)
    torch.testing.assert_close(stack(IDS, AttentionMask()).mean(-1), torch.zeros(2, 7), atol=1e-6, rtol=0)


def test_each_layer_may_have_its_own_encoding_or_none() -> None:
    rotary, nothing, other_base = Rotary(8), NoPE(), Rotary(8, frequencies=Plain(50.0))
    layers = [rotary, nothing, other_base]
    sizes = replace(options(), num_layers=3)
    model = Decoder(sizes, encoding=layers)
    redraw(model)
    attentions = [module for module in model.modules() if isinstance(module, Attention)]
    assert [attention.encoding for attention in attentions] == layers
    cache = model.new_cache()
    steps = [model(IDS[:, i : i + 1], cache=cache) for i in range(IDS.shape[1])]
    torch.testing.assert_close(torch.cat(steps, 1), model(IDS), atol=1e-5, rtol=0)
    before = model(IDS)
    attentions[2].encoding = nothing
    assert (model(IDS) - before).abs().max() > 0.1
    with pytest.raises(GnomonError, match=r"The layers have different encodings, Rotary.*NoPE"):
        _ = model.encoding
    with pytest.raises(GnomonError, match="The model has 3 layers but 2 encodings; give one for each layer"):
        Decoder(sizes, encoding=layers[:2])


def test_every_distinct_encoding_embeds_once() -> None:
    first, second = Recorded(), Recorded()
    stack = Stack(replace(options(), num_layers=3), encoding=[first, second, first], causal=True)
    stack(IDS, AttentionMask())
    assert (len(first.seen), len(second.seen)) == (1, 1)
    torch.testing.assert_close(second.seen[0][0], stack.embedding(IDS) + 100)


def test_positions_with_coordinates_are_not_guessed() -> None:
    encoding = Recorded()
    encoding.axes = 2
    with pytest.raises(PositionError, match="needs 2 coordinates for each token"):
        Stack(options(), encoding=encoding, causal=True)(IDS, AttentionMask())
