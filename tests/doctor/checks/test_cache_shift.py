"""PE415: moving cached keys to other positions wears them out, or stretches them."""

from tests.helpers.gallery_caches import Filling, Shifted, ShiftedAgain, Shifting
from tests.helpers.gallery_decoding import Returning, tokens
from tests.helpers.healthy import MODELS
from tests.helpers.toys import examine, only_finding


def test_keys_turned_in_place_drift_in_bfloat16() -> None:
    result = examine("PE415", tokens(Shifting(ShiftedAgain)))
    finding = only_finding(result)
    assert result.severity == "warning", "a cache in float32 bears it"
    assert finding.message.startswith("in torch.bfloat16 100 shifts by -10 give keys that differ by ")
    assert finding.measured["drift"] > 0.05
    assert [float(m.value) < 1e-3 for m in result.measured[1:]] == [True, False]


def test_a_factor_that_each_shift_applies_is_found() -> None:
    result = examine("PE415", tokens(Shifting(scale=1.3)))
    assert result.severity == "error"
    assert only_finding(result).message == "shifting by -1000 positions multiplies the length of cached keys by 1.3"


def test_keys_that_are_turned_once_from_where_they_were_stored_pass() -> None:
    result = examine("PE415", tokens(Shifting(Shifted)))
    assert result.status == "passed", (result.detail, result.findings)
    assert len(result.measured) == 3


def test_caches_that_cannot_be_shifted_are_not_judged() -> None:
    for target in (tokens(Filling()), tokens(Returning()), MODELS["llama"]()):
        result = examine("PE415", target)
        assert result.detail == "the cache offers no method to move its keys to other positions"
