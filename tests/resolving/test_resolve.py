"""`resolve` on configs from public reports: who differs from transformers 5, why, by how much, and what helps."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gnomon.errors import GnomonError
from gnomon.report.resolved.document import Column, Resolution
from gnomon.resolving import resolve
from gnomon.resolving.gallery import gallery
from gnomon.resolving.telling.rereading import BROKE
from tests.helpers.tiny_gguf import llama_metadata, llama_tensors, write_gguf

ENTRIES = {entry.name: entry for entry in gallery()}
QWEN3 = {**ENTRIES["qwen3-8b-yarn"].config}


def resolved(name: str, stacks: str, **options: Any) -> Resolution:
    return resolve(ENTRIES[name].given, stacks=stacks, **options)


def said(column: Column) -> str:
    return " ".join(column.sentences)


def test_gpt_oss_in_llama_cpp_is_off_at_pair_17_by_76_percent_and_up_to_a_fifth_radian_at_position_1000() -> None:
    """A numpy model of both rules: relative difference +0.762682 at pair 17, phases of at most 0.2208 rad."""
    found = resolved("gpt-oss-20b", "llama.cpp", lengths=[1001])
    column = found.column("llama.cpp")
    assert column.verdict == "differs"
    [effect] = [effect for effect in column.effects if effect.length == 1001 and effect.kind == column.effects[0].kind]
    assert effect.relative == pytest.approx(0.762682, abs=1e-6)
    assert effect.relative_pair == 17
    assert effect.phase == pytest.approx(0.2208, abs=5e-5)
    assert effect.logits == pytest.approx(1)
    assert "llama.cpp (by reading) ignores `rope_scaling.truncate: false`: pair 17 is off by 76%" in said(column)
    assert column.mend is not None
    assert not column.mend.possible
    assert "llama.cpp cannot be brought to" in said(column)


def test_the_card_of_qwen3_is_yarn_by_4_but_by_the_ratio_of_the_lengths_in_transformers_4_50() -> None:
    """transformers issue 38224: the factor was replaced by 40960 / 32768."""
    found = resolve(QWEN3, stacks="vllm,sglang,llama.cpp,hf4@all")
    verdicts = {column.name: column.verdict for column in found.columns}
    assert found.lengths == (32768, 32769, 131072)
    assert {verdicts[found.column(stack).name] for stack in ("vllm", "sglang", "llama.cpp")} == {"equal"}
    [ratio] = [column for column in found.columns if column.stack == "hf4" and "4.50" in column.version]
    assert "computes with factor 1.25 (`rope_scaling.original_max_position_embeddings`), the reference with 4" in said(
        ratio
    )
    assert ratio.layers[0].scales[-1].magnitude == pytest.approx(1.022314, abs=1e-6)
    assert found.column("vllm").cap == 131072
    assert "vllm (by reading) takes 131,072 tokens for the longest sequence, and the reference's is 40,960" in said(
        found.column("vllm")
    )
    assert [(lint.code, lint.severity) for lint in found.lints if "factor is 4.0" in lint.message] == [
        ("PE102", "warning")
    ]


def test_an_attention_factor_is_dropped_and_a_flag_brings_it_back() -> None:
    """vLLM issues 46280 and 48351, mlx-lm issue 1507: logits are 1.138629^2 times what the file says."""
    found = resolved("qwen3-8b-attention-factor", "sglang,llama.cpp,vllm")
    for stack in ("sglang", "llama.cpp"):
        column = found.column(stack)
        assert "ignores `rope_scaling.attention_factor: 1`: logits are 30% larger" in said(column)
        assert {round(effect.logits or 0, 6) for effect in column.effects} == {round(1.1386294361**2, 6)}
        assert column.mend is not None
        assert column.mend.possible
        assert column.sentences[-1].endswith(column.mend.text)
    assert found.column("vllm").verdict == "equal"


def test_dynamic_scaling_is_passed_over_in_silence() -> None:
    column = resolved("llama-2-7b-dynamic", "llama.cpp").column("llama.cpp")
    assert "ignores `rope_scaling." in said(column)
    assert "(only above 4,096 tokens)" in said(column)
    by_length = {effect.length: effect for effect in column.effects}
    assert by_length[4096].equal
    expected = abs(1 - (4 * 4 - 3) ** (-1)) * 13  # the slowest pair is 13 times too fast: |1 - 1/13| of what it has
    assert by_length[16384].relative == pytest.approx(expected, rel=1e-6)


def test_a_file_saved_by_transformers_5_is_plain_where_the_raw_file_is_read() -> None:
    found = resolved("qwen3-8b-saved-by-v5", "vllm,exllama2")
    assert found.column("vllm").verdict == "equal"
    raw = found.column("exllama2")
    assert raw.verdict == "differs"
    assert {"rope_parameters.factor", "rope_parameters.rope_type"} <= {item.key for item in raw.ignored}


@pytest.mark.parametrize(
    ("name", "stack", "words"),
    [  # the findings that matter most to users: silent plain frequencies, factors by lengths, five switches, logits
        ("llama-3.1-8b", "fastgen", "ignores `rope_scaling.rope_type: llama3`: pairs 35 to 63 are off by 700%"),
        ("gemma-3-4b", "ct2", "ignores `text_config.rope_scaling.rope_type: linear`: in full_attention: "),
        ("gemma-3-4b", "tgi", "passes over `text_config.rope_scaling.factor: 8`: in full_attention: "),
        ("llama-2-7b-linear", "tgi", "passes over `rope_scaling.factor: 4`: "),
        ("qwen3-8b-yarn", "ort-genai", "ignores `rope_scaling.rope_type: yarn`: "),
        ("qwen3-8b-yarn", "ort-genai", "Nearest (pair 39 is off by 4.7%"),  # with beta_fast; its ramp is not rounded
        ("qwen3-8b-yarn", "exllama3", "computes with factor 1.25 (`rope_scaling.original_max_position_embeddings`)"),
        ("qwen3-8b-yarn", "ct2", "ct2 (by reading) stops: NotImplementedError"),
        ("phi-3-mini-128k", "vllm", "goes by another switch (long list for everything once the served length"),
        ("phi-3-mini-128k", "mlx-lm", "goes by another switch (long list always; "),
        ("phi-3-mini-128k", "tgi", "goes by another switch (long list for positions from 4096 on"),
        ("deepseek-v2-lite", "hf4", "another multiplier of the softmax scale (1; the reference: 1.58963)"),
        ("qwen3-8b-mscale", "sglang", "alone reads `rope_scaling.mscale"),
        (
            "llama-4-scout",
            "megatron",
            "in layers with rotation: pair 34 is off by 87%",
        ),  # low 1, high 4
    ],
)
def test_what_is_said_of_the_findings_that_matter(name: str, stack: str, words: str) -> None:
    assert words in said(resolved(name, stack).column(stack))


def test_frequencies_hold_for_the_lengths_they_are_given_for() -> None:
    layer = resolved("llama-2-7b-dynamic", "hf5").column("hf5").layers[0]
    plain, one_past, longest = layer.frequencies
    assert [held.lengths for held in layer.frequencies] == [(4096,), (4097,), (16384,)]
    assert plain.inverse[-1] == pytest.approx(1e4 ** (-126 / 128))
    assert longest.inverse[-1] == pytest.approx(1e4 ** (-126 / 128) / 13)
    assert len(one_past.inverse) == 64
    [always] = resolved("llama-2-7b", "hf5").column("hf5").layers[0].frequencies
    assert always.inverse == pytest.approx(1e4 ** -(np.arange(64) / 64))


def test_the_reference_stands_first_and_once_and_may_be_another_stack() -> None:
    found = resolve(QWEN3, stacks="vllm,hf5", reference="vllm")
    assert [column.stack for column in found.columns] == ["vllm", "hf5"]
    assert [column.verdict for column in found.columns] == ["reference", "equal"]
    assert found.reference.startswith("vllm@")


def test_a_reference_that_stops_leaves_the_others_uncompared() -> None:
    config = {**QWEN3, "rope_scaling": {"rope_type": "nonsense", "factor": 4.0}}
    found = resolve(config, stacks="trt-llm,exllama2")
    assert found.columns[0].status == "stops"
    assert {column.verdict for column in found.columns[1:]} <= {"unknown", "stops", "absent"}
    assert any(sentence.startswith("The reference hf5@5 stops") for sentence in found.summary)
    assert all(not column.effects for column in found.columns)


def test_a_gguf_file_is_held_against_llama_cpp(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "tiny.gguf", "llama", llama_metadata(), llama_tensors())
    found = resolve(path)
    assert found.source == "gguf"
    assert found.reference.startswith("llama.cpp@")
    assert {"hf5", "hf4"}.isdisjoint(column.stack for column in found.columns)
    layer = found.columns[0].layers[0]
    assert (layer.base, layer.rotary_dim, found.lengths) == (5e5, 16, (48,))


def test_the_document_is_json_without_numbers_that_are_none() -> None:
    found = resolve({**QWEN3, "rope_scaling": {"rope_type": "dynamic", "factor": 0.5}, "rope_theta": math.inf})
    read = json.loads(found.to_json(), parse_constant=pytest.fail)
    assert read["schema_version"] == 1
    assert read["columns"][0]["stack"] == "hf5"


def test_what_the_sum_says_of_all_stacks() -> None:
    found = resolved("gpt-oss-20b", "vllm,llama.cpp,hf5")
    assert found.summary == (
        "The same as hf5@5, but for rounding: vllm.",
        "Otherwise than hf5@5: llama.cpp.",
        "Known by running: hf5@5; all others by reading the code.",
    )
    unstated = resolve({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4}, stacks="hf5").summary
    assert unstated[0].startswith("The file states no length that gnomon knows; 2048 tokens were taken")


@pytest.mark.parametrize("name", ENTRIES)
def test_every_config_of_the_gallery_resolves_in_every_stack(name: str) -> None:
    found = resolve(ENTRIES[name].given)
    assert found.columns[0].status == "serves"
    for column in found.columns:
        assert (column.status == "serves") == bool(column.layers)
        same = column.status == "serves" and all(effect.equal for effect in column.effects)
        assert (column.verdict in ("equal", "reference")) == same
        assert column.message or column.status == "serves"
        assert BROKE not in column.message
        assert (column.mend is not None) == (column.verdict in ("differs", "stops"))
    json.loads(found.to_json())
    assert all(len(line) <= 100 for line in str(found).splitlines())


HOSTILE = ["x", math.nan, math.inf, -1, 0, 1e308, 2**70, True, [], [1], {}, {"a": 1}, None]


@pytest.mark.parametrize("value", HOSTILE, ids=repr)
def test_hostile_values_never_break_a_resolution(value: Any) -> None:
    for key in ("rope_theta", "max_position_embeddings", "head_dim", "hidden_size", "rope_scaling", "model_type"):
        resolve({**QWEN3, key: value})
    for key in QWEN3["rope_scaling"]:
        found = resolve({**QWEN3, "rope_scaling": {**QWEN3["rope_scaling"], key: value}})
        assert str(found)
        found.to_json()
        assert not [column.message for column in found.columns if BROKE in column.message]


def test_an_empty_config_and_a_target_that_is_none() -> None:
    assert resolve({}).columns[0].status != "serves"
    with pytest.raises(GnomonError, match="gnomon resolves a config"):
        resolve(None)  # type: ignore[arg-type]
