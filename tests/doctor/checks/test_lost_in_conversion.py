"""PE108: settings that a conversion lost."""

import json
from pathlib import Path
from typing import Any

import pytest

from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from gnomon.report.document import CheckResult
from tests.helpers.gallery_configs import gemma3_config, llama_config
from tests.helpers.toys import llama

BEFORE = llama_config(rope_theta=5e5)


def judge(now: dict[str, Any], before: Any = None) -> CheckResult:
    return run("PE108", Subject("config", config=now, reference=BEFORE if before is None else before))


def test_a_lost_base_is_named_with_both_values_and_where_they_come_from() -> None:
    [finding] = judge(llama_config()).findings
    start = "the base was 500000 (rope_theta) and is 10000 (the default, for no key states it) though the stated length"
    assert finding.message.startswith(start)
    shorter = judge(llama_config(max_position_embeddings=512)).findings[0]
    assert "though" not in shorter.message
    assert finding.fix == "write rope_theta: 500000"
    assert finding.measured == {"before": 5e5, "now": 1e4}


def test_the_same_base_under_another_name_is_kept() -> None:
    now = llama_config(rope_theta=5e5, rope_parameters={"rope_type": "default", "rope_theta": 5e5})
    assert judge(now).status == "passed"
    assert judge({**llama_config(rotary_emb_base=5e5), "model_type": "gpt_neox", "rotary_pct": 1.0}).status == "passed"


def test_blocks_by_kind_of_layer_keep_the_bases_of_the_flat_keys() -> None:
    before = gemma3_config()
    kinds = {"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}}
    now = {**before, "rope_parameters": kinds, "rope_scaling": None, "rope_theta": None, "rope_local_base_freq": None}
    [spelling] = judge(now, before).findings
    assert (spelling.severity, spelling.measured) == ("warning", {"base": 1e6})
    swapped = {**now, "rope_parameters": dict(zip(kinds, reversed(kinds.values()), strict=True))}
    found = [f.measured for f in judge(swapped, before).findings if f.severity is None]
    assert found == [{"before": 1e6, "now": 1e4}, {"before": 1e4, "now": 1e6}]


def test_a_base_may_be_raised_for_a_longer_context_and_not_otherwise() -> None:
    longer = llama_config(rope_theta=8e6, max_position_embeddings=32_768)
    assert judge(longer).status == "passed"
    assert judge({**longer, "max_position_embeddings": 4096}).status == "failed"
    assert judge({**longer, "rope_theta": 4e5}).status == "failed", "lowered"


def test_a_lost_share_of_the_head_is_counted_in_lanes() -> None:
    before = {**llama_config(rope_theta=1e4, partial_rotary_factor=0.25), "model_type": "phi3"}
    [finding] = judge({**llama_config(rope_theta=1e4), "model_type": "llama"}, before).findings
    assert (finding.measured["before"], finding.measured["now"]) == (4, 16)


@pytest.mark.parametrize(
    ("key", "old", "new"), [("no_rope_layers", [1, 0], [1, 1]), ("sliding_window", 128, 256), ("alibi", True, False)]
)
def test_lists_and_switches_may_not_change(key: str, old: Any, new: Any) -> None:
    [finding] = judge({**BEFORE, key: new}, {**BEFORE, key: old}).findings
    assert finding.fix == f"write {key}: {old!r}"


def test_a_key_that_is_gone_is_a_warning_in_the_same_family_only() -> None:
    before = {**BEFORE, "sliding_window": 128}
    assert judge(BEFORE, before).severity == "warning"
    assert judge({**BEFORE, "model_type": "mistral"}, before).status == "passed"


def test_the_new_spelling_alone_is_a_warning_for_older_programs() -> None:
    now = llama_config(rope_parameters={"rope_type": "default", "rope_theta": 5e5})
    result = judge(now)
    assert (result.severity, result.findings[0].fix) == ("warning", "write rope_theta: 500000 as well")
    plain = llama_config(rope_parameters={"rope_type": "default", "rope_theta": 1e4})
    assert judge(plain, llama_config(rope_theta=1e4)).status == "passed", "10,000 is what they would take"


def test_a_reference_may_be_a_file_or_a_module(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(BEFORE))
    for reference in (tmp_path / "config.json", tmp_path):
        assert judge(llama_config(), reference).status == "failed"
    assert judge(llama_config(rope_theta=9.0), llama()).status == "failed"


def test_encodings_without_rotation_have_no_base_to_lose() -> None:
    bert = {"model_type": "bert", "hidden_size": 32, "num_attention_heads": 4}
    assert judge(bert, bert).status == "passed"


def test_without_a_reference_it_is_not_applicable() -> None:
    result = run("PE108", Subject("config", config=BEFORE))
    assert (result.status, result.detail.startswith("no reference")) == ("not-applicable", True)


def test_a_reference_that_cannot_be_read_is_no_pass() -> None:
    result = judge(BEFORE, "/nowhere/at/all")
    assert result.status == "not-applicable"
    assert result.detail.startswith("the reference cannot be read: There is no file")
