"""Claims against the models that transformers builds from the same config: an independent reading of each rule."""

import importlib
import math
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel

from gnomon.adapters.claims import Claim
from gnomon.adapters.families import BY_MODEL_TYPE, claims_of, family_of
from gnomon.adapters.subject import MissingEvidence
from tests.helpers.claimed import one_claim, plain_frequencies, tables_of
from tests.helpers.tiny_transformers import HEADS, LENGTH, WIDTH, tiny_fields, tiny_model

HEAD = {"hidden_size": 64, "num_attention_heads": 4, "max_position_embeddings": 99}


def _rotary(model: nn.Module, claims: tuple[Claim, ...]) -> Iterator[tuple[Claim, str, Tensor]]:
    for claim in claims:
        if claim.kind in ("rotary", "mrope") and claim.options["frequencies"]["kind"] == "plain":
            yield from ((claim, n, t) for n, t in tables_of(model, claim).items() if n.endswith("inv_freq"))


@pytest.mark.parametrize("model_type", sorted(BY_MODEL_TYPE))
def test_claims_are_the_numbers_of_the_model_that_transformers_builds(model_type: str) -> None:
    model = tiny_model(model_type)
    config: Any = model.config
    written, bare = claims_of(config.to_dict()), claims_of(tiny_fields(model_type))
    assert {c.kind for c in bare} == {c.kind for c in written}
    for claims in (written, bare):
        for claim in claims:
            if claim.kind in ("learned", "sinusoidal"):
                [table] = tables_of(model, claim).values()
                assert table.squeeze().shape == (claim.options["rows"], claim.options["dim"])
        for claim, name, table in _rotary(model, claims):
            expected = plain_frequencies(claim.options["frequencies"]["base"], claim.options["rotary_dim"])
            assert table.tolist() == pytest.approx(expected, rel=1e-5), name


ROTARY = [
    name
    for name, entry in BY_MODEL_TYPE.items()
    if entry.family.layout is not None and name not in ("gptj", "codegen", "roformer", "gpt_oss")
]


@pytest.mark.parametrize("model_type", ROTARY)
def test_every_rotary_family_has_a_table_to_compare_with(model_type: str) -> None:
    model = tiny_model(model_type)
    config: Any = model.config
    assert list(_rotary(model, claims_of(config.to_dict())))


@pytest.mark.parametrize("model_type", ROTARY)
def test_the_claimed_layout_is_the_pairing_of_transformers(model_type: str) -> None:
    """Where rotate_half exists: it turns (x_a, x_b) into (-x_b, x_a), and which two those are is the layout."""
    model = tiny_model(model_type)
    rotate_half = getattr(importlib.import_module(type(model).__module__), "rotate_half", None)
    if rotate_half is None:
        pytest.skip(f"{model_type} writes its rotation in another form")
    config: Any = model.config
    layouts = {c.options["layout"] for c in claims_of(config.to_dict()) if c.kind in ("rotary", "mrope")}
    turned = rotate_half(torch.tensor([[1.0, 2.0, 3.0, 4.0]])).tolist()
    assert layouts == {"half"} if turned == [[-3.0, -4.0, 1.0, 2.0]] else layouts == {"interleaved"}
    assert turned in ([[-3.0, -4.0, 1.0, 2.0]], [[-2.0, 1.0, -4.0, 3.0]])


@pytest.mark.parametrize("model_type", ["gpt_neox", "gpt_neox_japanese"])
def test_the_fraction_of_a_config_without_one_is_that_of_transformers(model_type: str) -> None:
    fields = {key: value for key, value in tiny_fields(model_type).items() if key != "rotary_pct"}
    model: Any = AutoModel.from_config(AutoConfig.for_model(**fields))
    assert one_claim(fields).options["rotary_dim"] == 2 * model.rotary_emb.inv_freq.numel()


def test_gpt_j_and_roformer_tables_have_the_claimed_rotated_width() -> None:
    for model_type, columns in (("gptj", 6), ("codegen", 6), ("roformer", WIDTH // HEADS)):
        model = tiny_model(model_type)
        claim = one_claim(tiny_fields(model_type))
        assert claim.options["layout"] == "interleaved"
        for table in tables_of(model, claim).values():
            assert table.shape == (LENGTH, columns)
            assert claim.options["rotary_dim"] == columns
            # transformers keeps sines in the first half; row 1 is the sine of each frequency.
            inverse = plain_frequencies(claim.options["frequencies"]["base"], columns)
            assert table[1, : columns // 2].asin().tolist() == pytest.approx([*inverse], rel=1e-4)


@pytest.mark.parametrize("written", [None, 0])
def test_a_rotary_dim_of_null_rotates_the_whole_head_of_gpt_j(written: int | None) -> None:
    claim = one_claim({"model_type": "gptj", "n_embd": 48, "n_head": 4, "rotary_dim": written})
    assert (claim.options["head_dim"], claim.options["rotary_dim"]) == (12, 12)
    assert claim.keys["rotary_dim"] == "rotary_dim"


def test_whisper_sines_have_the_claimed_layout_and_exponent() -> None:
    model = tiny_model("whisper")
    sines, learned = claims_of(tiny_fields("whisper"))
    assert (sines.options["layout"], sines.options["exponent"]) == ("half", "endpoint")
    [table] = tables_of(model, sines).values()
    pairs = sines.options["dim"] // 2
    for i in range(pairs):  # sines first, then cosines; the last frequency is exactly 1 / base
        angle = 5 * 10000.0 ** (-i / (pairs - 1))
        assert table[5, i].item() == pytest.approx(math.sin(angle), abs=1e-5)
        assert table[5, pairs + i].item() == pytest.approx(math.cos(angle), abs=1e-5)
    assert (sines.where, learned.where) == ("encoder.embeddings", "decoder.embeddings")


def test_roberta_counts_rows_and_opt_counts_positions() -> None:
    roberta = one_claim({"model_type": "roberta", "hidden_size": 8, "max_position_embeddings": 514, "pad_token_id": 1})
    opt = one_claim({"model_type": "opt", "hidden_size": 8, "max_position_embeddings": 2048, "pad_token_id": 1})
    wanted = ("rows", "max_length", "padding_offset")
    assert [roberta.options[name] for name in wanted] == [514, 512, 2]
    assert [opt.options[name] for name in wanted] == [2050, 2048, 2]
    assert roberta.keys["padding_offset"] == "pad_token_id"


def test_smollm3_names_its_layers_without_rotation() -> None:
    config = {"model_type": "smollm3", **HEAD, "num_hidden_layers": 8}
    assert [c.where for c in claims_of(config) if c.kind == "nope"] == ["layers.3,7.attention"]
    listed = claims_of({**config, "no_rope_layers": [1, 0, 1, 1, 1, 1, 1, 1]})
    assert [c.where for c in listed if c.kind == "nope"] == ["layers.1.attention"]


def test_mpt_and_falcon_choose_between_alibi_and_the_rest() -> None:
    mpt = {"model_type": "mpt", "d_model": 8, "n_heads": 4, "max_seq_len": 20}
    assert one_claim(mpt).options == {"num_heads": 4}
    assert one_claim({**mpt, "attn_config": {"alibi": True, "alibi_bias_max": 16}}).options["alibi_bias_max"] == 16
    assert one_claim({**mpt, "attn_config": {"alibi": False}}).options["rows"] == 20
    falcon = {"model_type": "falcon", **HEAD}
    assert [one_claim({**falcon, "alibi": alibi}).kind for alibi in (True, False)] == ["alibi", "rotary"]


def test_relative_encodings_are_claimed_by_their_published_names() -> None:
    deberta = {"model_type": "deberta-v2", **HEAD, "relative_attention": True, "position_biased_input": False}
    kinds = [one_claim(c).kind for c in (deberta, tiny_fields("xlnet"))]
    assert kinds == ["deberta", "transformer_xl"]
    bert = {"model_type": "bert", **HEAD, "position_embedding_type": "relative_key"}
    assert (one_claim(bert).kind, one_claim(bert).keys["kind"]) == ("shaw", "position_embedding_type")


def test_a_text_config_inside_is_followed_and_named() -> None:
    claim = one_claim({"model_type": "llava", "text_config": {"model_type": "llama", **HEAD, "rope_theta": 7.0}})
    assert claim.keys["frequencies.base"] == "text_config.rope_theta"
    assert claim.options["frequencies"]["base"] == 7.0


@pytest.mark.parametrize("config", [{"model_type": "martian"}, {}, {"model_type": ["bert"]}, {"model_type": 3}])
def test_an_unknown_model_type_is_named_as_missing_evidence(config: dict[str, Any]) -> None:
    with pytest.raises(MissingEvidence, match=r"martian|no model_type|bert|3"):
        claims_of(config)
    with pytest.raises(MissingEvidence):
        family_of(config)


INNER_KEYS = ["rope_type", "type", "factor", "full_attention", "alibi"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["rope_type", "type", "factor"]), inner)
    ),
    max_leaves=4,
)
KEYS = (
    *("hidden_size", "num_attention_heads", "head_dim", "rope_theta", "rope_scaling", "rope_parameters", "layer_types"),
    *("rotary_dim", "alibi", "partial_rotary_factor", "max_position_embeddings", "pad_token_id", "attn_config"),
    *("position_embedding_type", "no_rope_layers", "no_rope_layer_interval", "text_config", "rotary_pct", "n_head"),
)


@settings(max_examples=100, deadline=None)
@given(
    model_type=st.sampled_from(sorted(BY_MODEL_TYPE)), fields=st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6)
)
def test_no_value_in_a_config_makes_claims_raise(model_type: str, fields: dict[str, Any]) -> None:
    for claim in claims_of({"model_type": model_type, **fields}):
        assert set(claim.options) <= {*claim.keys, "note"}
