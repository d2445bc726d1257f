"""Plain sentences: who, which key, how much, and what to do about it."""

from dataclasses import replace
from typing import Any

from gnomon.report.resolved.document import Mend
from gnomon.resolving.given import Given
from gnomon.resolving.telling.causes import Cause
from gnomon.resolving.telling.words import sentences
from tests.helpers.small_stacks import GPT_OSS, side_by_side

TRUNCATE = Cause("passed over", (("rope_scaling.truncate", False),))


def config(**values: Any) -> Given:
    return Given("a config", config={**GPT_OSS, **values})


def test_the_report_of_gpt_oss_in_one_sentence() -> None:
    """llama.cpp rounds the ends of the ramp: pair 17 of gpt-oss has 0.128125 of its speed and not 0.072688."""
    compared = side_by_side(config(), "rounds")
    [said, remedy] = sentences(compared, TRUNCATE, Mend("type --exact"))
    assert said.startswith("small@rounds (by reading) ignores `rope_scaling.truncate: false`: pair 17 is off by 76%")
    assert "pair 12 is visible from a distance of 453 tokens" in said  # 0.1 / 0.2208e-3
    assert "and more than a turn apart at 131,072 tokens" in said
    assert remedy == "To get the reference's behaviour from small@rounds: type --exact"


def test_a_difference_that_no_key_explains_is_told_by_what_was_decided() -> None:
    compared = side_by_side(config(max_position_embeddings=40960), "ratio")
    said = sentences(compared, None, None)[0]
    expected = (
        "computes with factor 10 (`rope_scaling.original_max_position_embeddings`), "
        "the reference with 32 (`rope_scaling.factor`): "
    )
    assert expected in said
    assert "logits are 17% smaller" in said  # (g(10) / g(32))^2 = (1.230259 / 1.346574)^2


def test_a_key_that_the_stack_alone_reads() -> None:
    compared = side_by_side(config(attn_scale=2.0), "hums")
    said = sentences(compared, Cause("read alone", (("attn_scale", 2.0),)), None)[0]
    assert said == "small@hums (by reading) alone reads `attn_scale: 2`: logits are 100% larger."


def test_equal_stacks_say_nothing_and_those_that_stop_or_lack_the_model_say_why() -> None:
    assert sentences(side_by_side(config(), "obeys"), None, None) == ()
    stopped = sentences(side_by_side(config(), "stops"), None, Mend())
    assert stopped[0] == "small@stops (by reading) stops: it stops here."
    assert stopped[1].startswith("small@stops cannot be brought to the reference's behaviour by any flag or edit")
    assert sentences(side_by_side(config(), "absent"), None, None) == (
        "small@absent (by reading): no such model here.",
    )


def test_a_rule_that_decides_by_another_length_names_both() -> None:
    said = sentences(side_by_side(config(), "served"), None, None)[0]
    assert "computes with ramp length 131072 (the length that it was started for), the reference with 4096 (" in said


def test_a_cap_that_differs_is_told_of_equal_stacks_too() -> None:
    compared = side_by_side(config(), "obeys")
    longer = replace(compared, reading=replace(compared.reading, cap=32768))
    assert sentences(longer, None, None) == (
        "small (by reading) takes 32,768 tokens for the longest sequence, and the reference's is 131,072 tokens.",
    )
    none = replace(compared, reading=replace(compared.reading, cap=None))
    assert sentences(none, None, None) == ()
