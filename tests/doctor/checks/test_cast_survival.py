"""PE601: whether rotary angles survive `model.to(torch.bfloat16)`."""

import pytest
import torch
from torch import Tensor

from gnomon.encodings import Rotary
from tests.helpers.healthy import FOREIGN, decoder
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import examine, llama, only_finding


def test_llama_s_cast_frequencies_are_found() -> None:
    """A live fault of transformers 5.24: Module.to casts the frequencies that loading leaves in float32."""
    result = examine("PE601", llama(max_position_embeddings=2048))
    finding = only_finding(result)
    assert result.severity == "note"
    assert finding.where.startswith("model.layers.")
    # 0.1 in bfloat16 is 0.10009765625
    assert finding.measured["phase error"] == pytest.approx(2047 * (0.10009765625 - 0.1), abs=0.02)
    assert finding.measured["position"] == 2047
    assert "after .to(bfloat16) angles are off by" in finding.message
    assert "restore the float32 frequencies" in finding.fix


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_angles_derived_when_called_survive(layout: str) -> None:
    result = examine("PE601", decoder(Rotary(8, layout=layout)))  # type: ignore[arg-type]
    assert result.status == "passed", (result.detail, result.findings)
    assert float(result.measured[0].value) < 0.02


def test_two_bases_in_one_model_are_told_apart() -> None:
    result = examine("PE601", tiny_model("modernbert"))
    assert all(float(m.value) < 0.5 for m in result.measured)


def test_a_model_without_rotation_is_not_judged() -> None:
    result = examine("PE601", FOREIGN["gpt-2"]())
    assert (result.status, result.detail) == (
        "not-applicable",
        "no rotation of queries and keys was seen in the forward",
    )


def test_a_model_that_does_not_run_in_bfloat16_is_not_judged() -> None:
    model = llama()
    plain = model.model.rotary_emb.forward

    def picky(x: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        if x.dtype is torch.bfloat16:
            raise TypeError("float32 only")
        found: tuple[Tensor, Tensor] = plain(x, position_ids)
        return found

    model.model.rotary_emb.forward = picky
    result = examine("PE601", model)
    assert (result.status, result.detail) == ("not-applicable", "the model does not run after .to(bfloat16): TypeError")


def test_a_table_that_is_rebuilt_at_the_limit_alone_is_found_by_its_jump() -> None:
    """The gallery's model: a finished table up to 255 tokens, one built from bfloat16 positions at 256."""
    from tests.gallery.deployment.a7_rebuilt_at_the_limit import Exact, Limited, OneTooLarge

    result = examine("PE601", Limited(OneTooLarge()))
    finding = only_finding(result)
    short, long = (float(m.value) for m in result.measured)
    assert short < 0.01 < 0.03 < long
    assert finding.measured["position"] == 255
    assert examine("PE601", Limited(Exact())).status == "passed"
