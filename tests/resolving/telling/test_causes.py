"""Causes by removal: the fewest keys whose absence makes the reference do what the stack does, or the other way."""

from typing import Any

import pytest

from gnomon.resolving import resolve
from gnomon.resolving.asking import one
from gnomon.resolving.columns import Compared
from gnomon.resolving.gallery import gallery
from gnomon.resolving.given import Given
from gnomon.resolving.lengths import lengths_for
from gnomon.resolving.reading import Reading
from gnomon.resolving.telling.causes import Cause, cause_of, keys_of, without
from gnomon.resolving.telling.rereading import reading_of, rereader
from tests.helpers.small_stacks import GPT_OSS, side_by_side, small


def cause(config: dict[str, Any], ours: str, reference: str = "obeys") -> Cause | None:
    given = Given("a config", config=config)
    compared = side_by_side(given, ours, reference)

    def reread(version: str, keys: frozenset[str]) -> Reading:
        stack, chosen = small(version)
        return stack.reading(without(given, keys), chosen, compared.lengths.served)

    return cause_of(compared, given, lambda keys: reread(reference, keys), lambda keys: reread(ours, keys))


def test_a_key_that_the_stack_passes_over() -> None:
    assert cause(GPT_OSS, "rounds") == Cause("passed over", (("rope_scaling.truncate", False),))


def test_a_whole_block_that_is_passed_over_is_told_by_the_key_that_is_enough() -> None:
    assert cause(GPT_OSS, "plain") == Cause("passed over", (("rope_scaling.rope_type", "yarn"),))


def test_a_key_that_the_stack_alone_reads() -> None:
    assert cause({**GPT_OSS, "attn_scale": 2.0}, "hums") == Cause("read alone", (("attn_scale", 2.0),))


def test_two_keys_that_are_passed_over_together() -> None:
    config = {**GPT_OSS, "attn_scale": 2.0, "rope_scaling": {**GPT_OSS["rope_scaling"], "truncate": True}}  # type: ignore[dict-item]
    found = cause(config, "plain", "hums")
    assert found == Cause("passed over", (("rope_scaling.rope_type", "yarn"), ("attn_scale", 2.0)))


def test_a_rule_that_no_key_explains_has_no_cause() -> None:
    assert cause({**GPT_OSS, "max_position_embeddings": 40960}, "served") is None  # started for 131072 tokens


def test_a_factor_that_loses_to_the_ratio_of_the_lengths() -> None:
    config = {**GPT_OSS, "max_position_embeddings": 40960}
    assert cause(config, "ratio") == Cause("passed over", (("rope_scaling.factor", 32.0),))


def test_keys_are_taken_away_at_any_depth_and_from_metadata() -> None:
    given = Given("a", config={"rope_scaling": {"full": {"factor": 2, "type": "linear"}}, "head_dim": 8})
    assert without(given, frozenset({"rope_scaling.full.factor"})).config == {
        "rope_scaling": {"full": {"type": "linear"}},
        "head_dim": 8,
    }
    metadata = {"llama.rope.freq_base": 1e4, "llama.block_count": 2}
    assert list(keys_of(Given("a", metadata=metadata))) == [("llama.rope.freq_base", 1e4)]
    taken = without(Given("a", metadata=metadata), frozenset({"llama.rope.freq_base"}))
    assert taken.metadata == {"llama.block_count": 2}


def test_a_kind_whose_rule_is_followed_is_not_called_passed_over() -> None:
    """Qwen2.5 with the card's block: M / L = 1 switches YaRN off in effect, and the stack still follows yarn."""
    found = resolve(next(entry for entry in gallery() if entry.name == "qwen2.5-7b-yarn").given, stacks="hf4")
    [sentence, *_] = found.column("hf4").sentences
    assert "ignores" not in sentence
    assert "computes with factor 1 " in sentence


def test_of_two_keys_that_explain_alone_the_first_of_the_file_is_told() -> None:
    given = next(entry for entry in gallery() if entry.name == "qwen3-8b-mscale").given
    assert "alone reads `rope_scaling.mscale: 0.707`" in resolve(given, stacks="sglang").column("sglang").sentences[0]


LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 256,
    "num_attention_heads": 4,
    "max_position_embeddings": 16384,
}
YARN = {
    "rope_type": "yarn",
    "factor": 4.0,
    "original_max_position_embeddings": 4096,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "rope_theta": 10000.0,
}


@pytest.mark.parametrize(
    "spelt",
    [
        {"rope_theta": 10000.0, "rope_scaling": YARN},
        {"rope_parameters": YARN},
        {"rope_theta": 10000.0, "rope_scaling": YARN, "rope_parameters": YARN},
    ],
)
def test_a_key_without_which_the_reference_computes_the_same_is_no_cause(spelt: dict[str, Any]) -> None:
    """The builder's ramp is not rounded; the base in the block is 10000, which stands beside it, or is the default."""
    [sentence, *_] = resolve({**LLAMA, **spelt}, stacks="ort-genai").column("ort-genai").sentences
    assert "computes with truncate false (its own default), the reference with true (its own default)" in sentence
    assert "rope_theta" not in sentence
    assert "8.4%" in sentence


def test_a_key_whose_value_the_stack_computes_with_anyway_is_no_cause() -> None:
    """Megatron-LM's numbers are fixed: 1, 4 and 8192; the file says 1, 1 and 8192."""
    given = next(entry for entry in gallery() if entry.name == "llama-4-scout").given
    [sentence, *_] = resolve(given, stacks="megatron").column("megatron").sentences
    assert "computes with high_freq_factor 4 (its own default), the reference with 1 (" in sentence
    assert "8192" not in sentence
    assert "low_freq_factor" not in sentence
    lengths, held, pair = lengths_for(given), one("hf5"), one("megatron")
    reading, reference = (reading_of(each, given, lengths) for each in (pair, held))
    found = cause_of(
        Compared(pair, reading, reference, lengths),
        given,
        rereader(held, given, lengths),
        rereader(pair, given, lengths),
    )
    assert found == Cause("in part", (("text_config.rope_scaling.high_freq_factor", 1.0),))


def test_a_key_that_the_reference_cannot_do_without_has_a_part_in_the_difference() -> None:
    given = next(entry for entry in gallery() if entry.name == "llama-2-7b-linear").given
    [sentence, *_] = resolve(given, stacks="tgi").column("tgi").sentences
    assert "passes over `rope_scaling.factor: 4`: " in sentence
