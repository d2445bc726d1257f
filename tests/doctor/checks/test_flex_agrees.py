"""PE321: flex attention gives what the model's own attention gives."""

import pytest
from torch import Tensor

from tests.helpers.healthy import FOREIGN
from tests.helpers.toys import Toy, examine, llama, only_finding


@pytest.mark.parametrize("name", ["llama", "bert"])
def test_flex_attention_runs_uncompiled_and_agrees(name: str) -> None:
    result = examine("PE321", FOREIGN[name]())
    assert result.status == "passed", (result.detail, result.findings)
    assert [m.name for m in result.measured] == [
        'difference between attn_implementation="flex_attention" and the model\'s own path'
    ]


def test_flex_attention_with_another_scale_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers.integrations import flex_attention

    model = llama()

    def scaled(module: object, query: Tensor, *args: object, **options: object) -> object:
        return own(module, query * 1.5, *args, **options)

    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    own = flex_attention.flex_attention_forward
    monkeypatch.setitem(ALL_ATTENTION_FUNCTIONS._global_mapping, "flex_attention", scaled)
    assert "flex_attention" in only_finding(examine("PE321", model)).where


def test_a_plain_model_has_no_flex_attention() -> None:
    result = examine("PE321", Toy())
    assert (result.status, result.detail) == ("not-applicable", "the model computes its attention in one way only")
