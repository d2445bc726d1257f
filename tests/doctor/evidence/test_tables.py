"""Which tensors are tables of positions, of what kind, and which rows serve positions."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from gnomon.adapters import load_subject
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.tables import MOST_NUMBERS, Table, position_tables, tables, tables_in, word_table
from tests.helpers import gallery_decoding
from tests.helpers.sinusoids import marian, table, tensor2tensor, vaswani
from tests.helpers.subjects import DictTensors, claim, holding, noise, rotary_claim


def only(subject: Subject) -> Table:
    [found] = tables(subject)
    return found


@pytest.mark.parametrize(
    "name",
    [
        "embeddings.position_embeddings.weight",
        "transformer.wpe.weight",
        "wpos.weight",
        "model.decoder.embed_positions.weight",
        "position_embd.weight",
        "vit.embeddings.position_embeddings",
        "pos_embed",
        "pe",
        "encoder.pos_encoder.pe",
        "text_model.embeddings.position_embedding.weight",
        "learned_positional_encoding",
        "positional_embedding",
        "module.emb_pos.weight",
    ],
)
def test_tables_are_known_by_the_names_the_field_uses(name: str) -> None:
    found = only(holding({name: noise(20, 6), "head.weight": noise(20, 6)}))
    assert (found.name, found.kind, found.values.shape) == (name, "learned", (20, 6))


@pytest.mark.parametrize(
    "name",
    [
        "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
        "layers.0.self_attn.pos_bias_u",
        "layers.0.self_attn.linear_pos.weight",
        "encoder.layer.0.attention.self.pos_proj.weight",
        "position_embeddings_norm.weight",
        "compose.weight",
        "opening.weight",
        "deposit",
    ],
)
def test_other_names_that_hold_the_letters_are_not_tables(name: str) -> None:
    with pytest.raises(MissingEvidence, match="no table of positions among the tensors"):
        tables(holding({name: noise(20, 6)}))


def test_a_claim_knows_its_table_by_any_name() -> None:
    stated = claim("learned", "abc.weight", max_length=18, padding_offset=2)
    found = only(holding({"abc.weight": noise(20, 6), "xyz.weight": noise(20, 6)}, claims=(stated,)))
    assert (found.name, found.claim, found.reserved) == ("abc.weight", stated, 2)
    np.testing.assert_array_equal(found.used(), noise(20, 6).double().numpy()[2:])


@pytest.mark.parametrize("kind", ["t5", "transformer-xl", "deberta", "alibi"])
def test_the_tables_of_relative_encodings_hold_no_vector_for_each_position(kind: str) -> None:
    with pytest.raises(MissingEvidence):
        tables(holding({"rel_pos.weight": noise(20, 6)}, claims=(claim(kind, "rel_pos.weight"),)))


@pytest.mark.parametrize("role", ["parameter", "buffer"])
def test_a_sinusoid_in_a_module_is_found_under_a_name_that_says_nothing(role: str) -> None:
    tensors = DictTensors({"abc": table(vaswani, 20, 8).float(), "xyz": noise(20, 8)}, role=role)
    found = only(Subject("module", tensors=tensors))
    assert (found.name, found.kind, found.transposed) == ("abc", "sinusoidal", False)
    assert found.sinusoid is not None


def test_a_swapped_sinusoid_is_found_and_marked() -> None:
    tensors = DictTensors({"abc": table(vaswani, 20, 32).T.contiguous()}, role="buffer")
    found = only(Subject("module", tensors=tensors))
    assert (found.kind, found.transposed, found.values.shape) == ("sinusoidal", True, (32, 20))


def test_files_are_searched_by_name_alone() -> None:
    with pytest.raises(MissingEvidence):
        tables(holding({"abc": table(vaswani, 20, 8)}))


def test_a_module_with_a_plain_tensor_as_an_attribute_is_searched() -> None:
    module = nn.Linear(2, 2)
    module.abc = table(vaswani, 20, 8).float()  # type: ignore[assignment]
    assert only(load_subject(module, forward=False)).info.role == "unknown"


def test_axes_of_size_one_are_dropped() -> None:
    values = noise(20, 6)
    for shape in ((1, 20, 6), (20, 1, 6), (1, 1, 20, 6)):
        np.testing.assert_array_equal(only(holding({"pos_embed": values.view(shape)})).values, values.double().numpy())


@pytest.mark.parametrize("values", [torch.zeros(20), torch.zeros(4, 20, 6), torch.zeros(1, 6), torch.tensor(1.0)])
def test_tensors_that_are_no_matrix_are_not_tables(values: Tensor) -> None:
    with pytest.raises(MissingEvidence):
        tables(holding({"pos_embed": values}))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.bool])
def test_position_ids_are_not_a_table(dtype: torch.dtype) -> None:
    with pytest.raises(MissingEvidence):
        tables(holding({"embeddings.position_ids": torch.ones(4, 20, dtype=dtype)}))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_values_are_float64_whatever_is_stored(dtype: torch.dtype) -> None:
    found = only(holding({"pos_embed": noise(20, 6).to(dtype)}))
    assert found.values.dtype == np.float64
    np.testing.assert_array_equal(found.values, noise(20, 6).to(dtype).double().numpy())


def test_a_table_beyond_the_limit_is_not_even_read() -> None:
    class Large(DictTensors):  # type: ignore[misc]
        def load(self, name: str) -> Tensor:
            raise AssertionError("it was read")

    large = Large({"pos_embed": torch.empty(1, device="meta").expand(MOST_NUMBERS // 8 + 1, 8)})
    with pytest.raises(MissingEvidence):
        tables(Subject("x", tensors=large))


@pytest.mark.parametrize(
    "name", ["rotary_emb.inv_freq", "layers.0.attn.rotary_emb.inv_freq", "inv_freqs", "rotary_freqs"]
)
def test_rotary_frequencies_are_one_row(name: str) -> None:
    found = only(holding({name: torch.tensor([1.0, 0.1, 0.01])}))
    assert (found.kind, found.values.shape) == ("frequencies", (1, 3))
    with pytest.raises(MissingEvidence, match=r"no table with a vector for each position \(rotary numbers only\)"):
        position_tables(holding({name: torch.tensor([1.0, 0.1, 0.01])}))


@pytest.mark.parametrize("name", ["rotary_emb.original_inv_freq", "rope_freqs.weight"])
def test_copies_and_factors_of_frequencies_are_left_out(name: str) -> None:
    with pytest.raises(MissingEvidence):
        tables(holding({name: torch.tensor([1.0, 2.0, 8.0])}, claims=(rotary_claim(6),)))


@pytest.mark.parametrize("name", ["rotary_pos_emb.cos_cached", "rope.pos_table", "attn.embed_positions"])
def test_cached_angles_of_a_rotation_are_not_added_vectors(name: str) -> None:
    tensors = DictTensors({name: table(marian, 30, 8).float()}, role="buffer", persistent=False)
    found = only(Subject("x", tensors=tensors, claims=(rotary_claim(8),)))
    assert found.kind == "angles"


def test_a_rotary_claim_with_a_table_says_that_it_holds_angles() -> None:
    stated = replace(rotary_claim(8), table_names=(r"^encoder\.embed_positions\.weight$",))
    assert only(holding({"encoder.embed_positions.weight": noise(30, 8)}, claims=(stated,))).kind == "angles"


def test_a_learned_table_beside_a_rotation_stays_a_table() -> None:
    found = only(holding({"vision.position_embedding.weight": noise(30, 8)}, claims=(rotary_claim(8),)))
    assert found.kind == "learned"


@pytest.mark.parametrize(
    ("values", "zeros", "reserved"),
    [
        (noise(20, 8), (), 0),
        (noise(20, 8), (1,), 2),
        (noise(20, 8), (0,), 0),
        (noise(20, 8), (0, 1), 0),
        (noise(20, 8), (3,), 0),
        (table(tensor2tensor, 20, 8), (0,), 1),
        (table(tensor2tensor, 20, 8), (1,), 2),
    ],
)
def test_a_padding_row_is_known_by_its_zeros(values: Tensor, zeros: tuple[int, ...], reserved: int) -> None:
    values = values.clone()
    values[list(zeros)] = 0.0
    assert only(holding({"pos_embed": values})).reserved == reserved


def test_a_claim_without_an_offset_says_that_no_row_is_reserved() -> None:
    values = noise(20, 8)
    values[1] = 0.0
    assert only(holding({"pos_embed": values}, claims=(claim("learned", "pos_embed"),))).reserved == 0


@pytest.mark.parametrize(
    "name", ["embeddings.word_embeddings.weight", "wte.weight", "model.embed_tokens.weight", "token_embd.weight"]
)
def test_the_word_table_is_known_by_the_names_the_field_uses(name: str) -> None:
    found = word_table(holding({name: noise(50, 6), "position_embeddings.weight": noise(20, 6)}))
    assert (found.name, found.shape) == (name, (50, 6))


def test_of_several_word_tables_the_largest_is_taken() -> None:
    tensors = {"a.embed_tokens.weight": noise(20, 6), "b.embed_tokens.weight": noise(50, 6)}
    assert word_table(holding(tensors)).name == "b.embed_tokens.weight"


def test_without_a_word_table_the_reason_is_given() -> None:
    with pytest.raises(MissingEvidence, match="no token embedding table by a name the field uses"):
        word_table(holding({"position_embeddings.weight": noise(20, 6)}))


def test_tables_are_read_once() -> None:
    loads: list[str] = []

    class Counting(DictTensors):  # type: ignore[misc]
        def load(self, name: str) -> Tensor:
            loads.append(name)
            return super().load(name)

    subject = Subject("x", tensors=Counting({"pos_embed": noise(20, 6), "head.weight": noise(9, 9)}))
    for _ in range(3):
        position_tables(subject)
    assert loads == ["pos_embed"]


def test_a_table_that_is_not_finite_is_still_a_table() -> None:
    values = noise(20, 6)
    values[3] = math.nan
    assert only(holding({"pos_embed": values})).kind == "learned"


def test_evidence_given_by_name_wins() -> None:
    given: Any = ("a table",)
    assert tables(holding({}, tables=given)) == given


def test_a_table_without_rows_is_left_alone() -> None:
    """YOLOS keeps one of no layers."""
    assert tables_in(DictTensors({"mid_position_embeddings": torch.zeros(0, 28, 16)}), ()) == ()


class Offsets(nn.Module):
    """A bias for each offset, from a table whose name says nothing: key less query is its index."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.rows, self.mix = nn.Embedding(20, 8), nn.Parameter(torch.randn(63, 2)), nn.Linear(8, 24)

    def forward(self, tokens: Tensor) -> Tensor:
        places = torch.arange(tokens.shape[1])
        q, k, v = (x.unflatten(-1, (2, 4)).transpose(1, 2) for x in self.mix(self.words(tokens)).chunk(3, dim=-1))
        bias = self.rows[places - places[:, None] + 31].permute(2, 0, 1)
        out: Tensor = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias[None])
        return out.transpose(1, 2).flatten(2)


def test_a_table_read_by_offsets_is_no_table_of_positions_whatever_its_name() -> None:
    subject = load_subject((Offsets(), (torch.zeros(2, 12, dtype=torch.int64),)))
    with pytest.raises(MissingEvidence, match="no table of positions among the tensors"):
        tables(subject)


def test_cosines_and_sines_that_turn_the_heads_are_no_vectors_to_add_whatever_their_name() -> None:
    subject = load_subject(gallery_decoding.tokens(gallery_decoding.Tabled(rows=32)))
    assert [(found.name, found.kind) for found in tables(subject) if found.name == "table"] == [("table", "angles")]
    with pytest.raises(MissingEvidence):
        position_tables(subject)
