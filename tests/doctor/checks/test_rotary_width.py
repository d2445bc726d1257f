"""PE103: the width that is rotated."""

import pytest

from gnomon.adapters.claims import Claim
from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from gnomon.encodings import Rotary
from gnomon.models import Decoder, ModelOptions
from tests.helpers.subjects import value

WHERE = "layers.*.attention"


def subject(rotated: int | None, head: int, *, head_key: str = "head_dim", **config: int) -> Subject:
    options = {"head_dim": head, "rotary_dim": rotated, "frequencies": {"kind": "plain", "base": 1e4}}
    return Subject("config", config=config, claims=(Claim("rotary", WHERE, options, {"head_dim": head_key}),))


@pytest.mark.parametrize(("rotated", "better"), [(7, 6), (1, 2), (15, 14)])
def test_an_odd_width_is_found_with_the_even_one_below(rotated: int, better: int) -> None:
    result = run("PE103", subject(rotated, 16))
    [finding] = result.findings
    assert (result.severity, finding.where) == ("error", WHERE)
    assert finding.message == f"the rotated width is {rotated}; pairs need an even width of at least 2"
    assert finding.fix == f"rotate {better} of the 16 lanes (partial rotary)"
    assert value(result, f"rotated width of {WHERE}") == rotated


@pytest.mark.parametrize(("rotated", "status"), [(2, "passed"), (14, "passed"), (16, "passed"), (18, "failed")])
def test_an_even_width_may_fill_the_head_but_not_exceed_it(rotated: int, status: str) -> None:
    result = run("PE103", subject(rotated, 16))
    assert result.status == status
    if status == "failed":
        assert result.findings[0].message == "the rotated width 18 is wider than the head, 16"
        assert result.findings[0].fix == "set the rotated width to at most 16"


def test_without_a_rotated_width_the_head_is_rotated() -> None:
    assert run("PE103", subject(None, 15)).findings[0].message.startswith("the rotated width is 15")


def test_a_head_width_that_does_not_divide_the_hidden_size_is_found() -> None:
    result = run("PE103", subject(None, 10, head_key="hidden_size", hidden_size=32, num_attention_heads=3))
    [finding] = result.findings
    assert finding.where == "config.json"
    assert finding.message.startswith("hidden_size 32 is not a multiple of num_attention_heads 3")


def test_a_head_width_that_is_given_need_not_divide_the_hidden_size() -> None:
    assert run("PE103", subject(None, 10, hidden_size=32, num_attention_heads=3)).status == "passed"


def test_a_module_without_a_config_is_judged_by_its_encoding() -> None:
    model = Decoder(ModelOptions(vocabulary=9, dim=16, num_heads=2, num_layers=1), encoding=Rotary(8, rotary_dim=4))
    from gnomon.adapters import load_subject

    result = run("PE103", load_subject(model, forward=False))
    assert (result.status, result.measured[0].value) == ("passed", 4)


def test_without_a_rotary_claim_it_is_not_applicable() -> None:
    result = run("PE103", Subject("config", claims=(Claim("alibi", WHERE, {"num_heads": 4}),)))
    assert (result.status, result.detail) == ("not-applicable", "the config claims no rotary encoding")
    assert run("PE103", Subject("nothing")).detail == "no claims"
