"""PE704: inputs that the tokenizer cuts."""

import pytest

from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from tests.helpers.subjects import claim
from tests.helpers.toys import only_finding

BERT = (claim("learned", max_length=512),)


def test_a_limit_below_the_models_is_found_with_both() -> None:
    subject = Subject("x", claims=BERT, tokenizer={"model_max_length": 256}, lengths=[100, 300])
    result = run("PE704", subject)
    finding = only_finding(result)
    assert (result.severity, finding.where) == ("warning", "tokenizer_config.json")
    assert "cuts 50.0% of 2 inputs" in finding.message
    assert finding.fix == "set model_max_length to 512"


def test_at_the_models_own_limit_texts_are_to_be_split() -> None:
    subject = Subject("x", claims=BERT, tokenizer={"model_max_length": 512}, lengths=[600])
    assert only_finding(run("PE704", subject)).fix == "split inputs to 512 tokens"


def test_inputs_that_fit_pass() -> None:
    assert run("PE704", Subject("x", tokenizer={"model_max_length": 256}, lengths=[256])).status == "passed"


@pytest.mark.parametrize("stated", [None, 10**30, 0, True, "512"])
def test_a_tokenizer_without_a_limit_cuts_nothing(stated: object) -> None:
    result = run("PE704", Subject("x", tokenizer={"model_max_length": stated}, lengths=[7]))
    assert result.detail == "the tokenizer states no model_max_length"
