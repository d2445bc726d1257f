"""Folders of text models, extended and run by transformers at the new length."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from gnomon.adapters.checkpoints.transformers_models import quiet_transformers
from gnomon.extending.tables import METHODS, Options, interpolated, plan_tables, tiled
from tests.helpers.extended_folder import config_of, extended, loaded, saved, store, stored
from tests.helpers.tiny_transformers import LENGTH, VOCABULARY, edit_config
from tests.helpers.weights import normal, token_ids

TO = 101
#: model type, options, rows before position 0, and by how much the stated length is not the number of positions
TEXTS: list[tuple[str, dict[str, Any], int, int]] = [
    ("bert", {}, 0, 0),
    ("electra", {}, 0, 0),
    ("distilbert", {}, 0, 0),
    ("gpt2", {}, 0, 0),
    ("gpt_neo", {}, 0, 0),
    ("openai-gpt", {}, 0, 0),
    ("opt", {}, 2, 0),
    ("biogpt", {}, 2, 0),
    ("roberta", {"pad_token_id": 1}, 2, 2),
    ("roberta", {"pad_token_id": 4}, 5, 5),
    ("longformer", {"pad_token_id": 1, "attention_window": 4}, 2, 2),
    ("mpnet", {"pad_token_id": 1}, 2, 2),
    ("clip_text_model", {}, 0, 0),
]


def only_table(plan: Any) -> str:
    [name] = plan.tensors
    return str(name)


@pytest.mark.parametrize(("model_type", "more", "offset", "extra"), TEXTS)
def test_the_extended_model_runs_longer_and_is_the_old_one_on_old_lengths(
    tmp_path: Path, model_type: str, more: dict[str, Any], offset: int, extra: int
) -> None:
    model = saved(tmp_path / "model", model_type, **more)
    output, plan = extended(tmp_path / "model", TO)
    name = only_table(plan)
    old, new = stored(tmp_path / "model", name), stored(output, name)
    assert len(new) == TO + offset
    assert torch.equal(new[:offset], old[:offset])
    assert torch.equal(new[offset:], tiled(old[offset:], TO))
    assert {*plan.config.values()} == {TO + extra}
    assert plan.tokenizer == {"model_max_length": TO}
    longer = loaded(output)
    length = 100 if model_type == "longformer" else TO
    ids = token_ids(2, length, vocabulary=VOCABULARY - 8) + 6  # no padding among them
    with torch.no_grad():
        assert longer(input_ids=ids)[0].shape[:2] == (2, length)
        short = ids[:, :20]
        torch.testing.assert_close(longer(input_ids=short)[0], model(input_ids=short)[0], rtol=0, atol=0)


@pytest.mark.parametrize("model_type", ["bart", "mbart"])
def test_both_stacks_of_one_length_grow_together(tmp_path: Path, model_type: str) -> None:
    model = saved(tmp_path / "model", model_type)
    output, plan = extended(tmp_path / "model", TO, method="interpolate")
    assert sorted(plan.tensors) == ["decoder.embed_positions.weight", "encoder.embed_positions.weight"]
    assert plan.config == {"max_position_embeddings": TO}
    for name in plan.tensors:
        old, new = stored(tmp_path / "model", name), stored(output, name)
        assert torch.equal(new, torch.cat((old[:2], interpolated(old[2:], TO))))
    ids = token_ids(2, TO, vocabulary=VOCABULARY)
    longer = loaded(output)
    with torch.no_grad():
        assert longer(input_ids=ids, decoder_input_ids=ids)[0].shape == (2, TO, 32)
        row = stored(output, "decoder.embed_positions.weight")[2 + 60]  # transformers adds 2 to position 60
        seen = longer.decoder.embed_positions(torch.zeros(1, 61, dtype=torch.int64))
    assert torch.equal(seen.reshape(61, -1)[60], row)
    assert model.config.max_position_embeddings == LENGTH


def test_every_method_is_that_function_and_says_so(tmp_path: Path) -> None:
    saved(tmp_path / "model", "bert")
    words = set()
    for method in METHODS:
        plan = plan_tables(tmp_path / "model", config_of(tmp_path / "model"), to=TO, method=method)
        assert plan is not None
        words.add(plan.words[0])
        assert f"{LENGTH} positions become {TO}" in plan.words[0]
        assert plan.drawbacks
    assert len(words) == len(METHODS) - 1  # auto is one of them


def test_options_reach_the_tables(tmp_path: Path) -> None:
    saved(tmp_path / "model", "bert")
    made = {}
    for keep in (5, 20):
        plan = plan_tables(
            tmp_path / "model",
            config_of(tmp_path / "model"),
            to=TO,
            method="keep-first",
            options=Options(keep=keep, kind="cubic"),
        )
        assert plan is not None
        table = normal(LENGTH, 32)
        made[keep] = next(iter(plan.tensors.values())).make(table)
        assert torch.equal(made[keep][:keep], table[:keep])
        assert torch.equal(made[keep][keep:], interpolated(table[keep:], TO - keep, kind="cubic"))
        assert f"first {keep}" in plan.words[0]


def test_keep_first_leaves_a_quarter_alone_unless_told(tmp_path: Path) -> None:
    saved(tmp_path / "model", "gpt2")
    plan = plan_tables(tmp_path / "model", config_of(tmp_path / "model"), to=TO, method="keep-first")
    assert plan is not None
    assert f"keeping the first {LENGTH // 4}" in plan.words[0]


def test_one_table_under_two_names_grows_under_both(tmp_path: Path) -> None:
    saved(tmp_path / "model", "opt")
    held = load_file(tmp_path / "model" / "model.safetensors")
    name = "decoder.embed_positions.weight"
    store(tmp_path / "model", {f"model.{name}": held[name].clone()})
    output, plan = extended(tmp_path / "model", TO)
    assert len(plan.tensors) == 2
    assert torch.equal(stored(output, name), stored(output, f"model.{name}"))


def test_every_key_that_states_the_length_follows(tmp_path: Path) -> None:
    saved(tmp_path / "model", "gpt2")
    edit_config(tmp_path / "model", n_ctx=LENGTH)
    _, plan = extended(tmp_path / "model", TO)
    assert plan.config == {"n_positions": TO, "n_ctx": TO}


def test_deberta_keeps_the_reach_of_its_distances(tmp_path: Path) -> None:
    more = {"relative_attention": True, "position_buckets": 8, "pos_att_type": ["c2p", "p2c"]}
    model = saved(tmp_path / "model", "deberta-v2", **more)
    output, plan = extended(tmp_path / "model", TO)
    assert plan.config == {"max_position_embeddings": TO, "max_relative_positions": LENGTH}
    ids = token_ids(2, 30, vocabulary=VOCABULARY)
    with torch.no_grad():
        torch.testing.assert_close(loaded(output)(ids)[0], model(ids)[0], rtol=0, atol=0)


def test_of_two_lengths_the_decoder_is_extended_unless_told(tmp_path: Path) -> None:
    saved(tmp_path / "model", "whisper")
    config = config_of(tmp_path / "model")
    plan = plan_tables(tmp_path / "model", config, to=TO)
    assert plan is not None
    assert plan.config == {"max_target_positions": TO}
    plan = plan_tables(tmp_path / "model", config, to=TO, options=Options(part="encoder"))
    assert plan is not None
    assert plan.config == {"max_source_positions": TO}


def test_a_fixed_sinusoid_is_continued_by_its_formula_whatever_the_method(tmp_path: Path) -> None:
    from transformers import AutoConfig, AutoModel

    options = {"max_source_positions": TO, "max_target_positions": 19, "num_mel_bins": 5, "d_model": 32}
    sizes = {"encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4, "decoder_attention_heads": 4}
    more = {**sizes, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "vocab_size": 53, "pad_token_id": 0}
    with quiet_transformers():
        long: Any = AutoModel.from_config(AutoConfig.for_model("whisper", **more, **options))
        short: Any = AutoModel.from_config(
            AutoConfig.for_model("whisper", **more, **options | {"max_source_positions": 23})
        )
        short.save_pretrained(tmp_path / "model")
    output, plan = extended(tmp_path / "model", TO, method="interpolate", options=Options(part="encoder"))
    made, name = stored(output, "encoder.embed_positions.weight"), "encoder.embed_positions.weight"
    torch.testing.assert_close(made, long.state_dict()[name], rtol=0, atol=3e-5)
    assert torch.equal(made[:23], short.state_dict()[name])
    assert "follow from the formula" in plan.words[0]


def test_a_sinusoid_by_the_config_with_other_numbers_counts_as_learned(tmp_path: Path) -> None:
    saved(tmp_path / "model", "whisper")  # drawn anew, its encoder's table too
    plan = plan_tables(
        tmp_path / "model", config_of(tmp_path / "model"), to=TO, method="interpolate", options=Options(part="encoder")
    )
    assert plan is not None
    assert "linear interpolation" in plan.words[0]
    assert any("counts as learned" in drawback for drawback in plan.drawbacks)


def test_the_angles_that_roformer_stores_follow_their_formula(tmp_path: Path) -> None:
    from tests.helpers.tiny_transformers import tiny_model

    model: Any = tiny_model("roformer")
    longer: Any = tiny_model("roformer", max_position_embeddings=TO)
    with quiet_transformers():
        model.save_pretrained(tmp_path / "model")
    output, plan = extended(tmp_path / "model", TO)
    torch.testing.assert_close(
        stored(output, only_table(plan)), longer.state_dict()["encoder.embed_positions.weight"], rtol=0, atol=1e-6
    )


def test_a_sinusoid_that_no_checkpoint_stores_needs_keys_only(tmp_path: Path) -> None:
    saved(tmp_path / "model", "m2m_100")
    plan = plan_tables(tmp_path / "model", config_of(tmp_path / "model"), to=TO)
    assert plan is not None
    assert not plan.tensors
    assert plan.config == {"max_position_embeddings": TO}
    assert "stored nowhere" in plan.words[0]


def test_the_files_of_sentence_transformers_and_tokenizers_stop_cutting(tmp_path: Path) -> None:
    saved(tmp_path / "model", "bert")
    (tmp_path / "model" / "sentence_bert_config.json").write_text('{"max_seq_length": 30, "do_lower_case": false}')
    (tmp_path / "model" / "tokenizer.json").write_text(
        '{"truncation": {"max_length": 12, "strategy": "LongestFirst"}, "model": {"vocab": {"ü": 0}}}'
    )
    output, plan = extended(tmp_path / "model", TO)
    sentences = json.loads((output / "sentence_bert_config.json").read_text())
    tokens = json.loads((output / "tokenizer.json").read_text(encoding="utf-8"))
    assert sentences == {"max_seq_length": TO, "do_lower_case": False}
    assert tokens == {"truncation": {"max_length": TO, "strategy": "LongestFirst"}, "model": {"vocab": {"ü": 0}}}
    assert sum("cut inputs" in word for word in plan.words) == 2


def test_models_without_such_a_table_have_no_plan(tmp_path: Path) -> None:
    saved(tmp_path / "model", "llama", num_key_value_heads=2)
    assert plan_tables(tmp_path / "model", config_of(tmp_path / "model"), to=TO) is None
    assert plan_tables(tmp_path / "model", config_of(tmp_path / "model"), to=(3, 4)) is None
