"""PE409: keys cached before frequencies change keep their old angles."""

import pytest

from tests.helpers.gallery_caches import Keeping
from tests.helpers.gallery_decoding import Rescaled, Returning, tokens
from tests.helpers.healthy import MODELS
from tests.helpers.toys import examine, only_finding


@pytest.mark.parametrize("original", [8, 16, 32])
def test_a_switch_in_a_model_that_states_no_length_is_found_where_it_is(original: int) -> None:
    result = examine("PE409", tokens(Rescaled(original=original)))
    finding = only_finding(result)
    assert result.severity == "error"
    assert finding.measured["length"] == original
    assert finding.message.startswith(f"frequencies change beyond length {original}, and keys cached before keep ")


@pytest.mark.parametrize(("name", "length"), [("llama, dynamic", 64), ("phi3, longrope", 32)])
def test_what_transformers_is_known_to_do_is_a_warning(name: str, length: int) -> None:
    result = examine("PE409", MODELS[name]())
    assert (result.status, result.severity) == ("failed", "warning")
    assert only_finding(result).measured["length"] == length


@pytest.mark.parametrize("name", ["llama", "llama, yarn", "gpt-2", "bloom", "decoder, rotary dynamic", "decoder, fire"])
def test_frequencies_that_are_fixed_or_follow_each_query_pass(name: str) -> None:
    result = examine("PE409", MODELS[name]())
    assert result.status == "passed", (result.detail, result.findings)


def test_hand_written_caches_pass() -> None:
    for target in (Returning(), Keeping(), Rescaled(original=0)):
        assert examine("PE409", tokens(target)).status == "passed"


def test_an_encoder_is_not_judged() -> None:
    assert examine("PE409", MODELS["bert"]()).status == "not-applicable"
