"""PE320: every way to compute attention gives the same result."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

from gnomon.doctor.evidence.backends import backends
from tests.helpers.gallery_forward import TwoPaths, falcon
from tests.helpers.healthy import FOREIGN
from tests.helpers.subjects import value
from tests.helpers.toys import Toy, examine, llama, only_finding, subject_of


class BiasTwice(TwoPaths):
    def slow(self, mask: Tensor) -> Tensor:
        return 2 * self.fast(mask) - self.bias(mask).clamp(min=-1)


class NoCausalMask(TwoPaths):
    def slow(self, mask: Tensor) -> Tensor:
        return self.fast(mask).clamp(min=-3)


class NoBias(TwoPaths):
    def slow(self, mask: Tensor) -> Tensor:
        return self.bias(mask)


class NoPadding(TwoPaths):
    """The slow path forgets which keys are padding."""

    def slow(self, mask: Tensor) -> Tensor:
        return self.fast(torch.ones_like(mask))


@pytest.mark.parametrize(
    ("model", "said", "fix"),
    [
        (BiasTwice, "its position bias is 2 times as strong", "add the bias once on every path"),
        (NoCausalMask, "it looks at later tokens", "give this path the causal mask too"),
        (NoBias, "one of the two has no position bias", "hand the position bias to every attention path"),
    ],
)
def test_a_path_with_another_bias_or_mask_is_found_with_its_cause(model: type[TwoPaths], said: str, fix: str) -> None:
    result = examine("PE320", model())
    finding = only_finding(result)
    assert result.severity == "error"
    assert finding.where == "attention with return_attention=True"
    assert said in finding.message
    assert fix in finding.fix
    assert finding.measured["difference"] > 0.01


def test_a_path_that_loses_the_padding_is_found_on_a_padded_row() -> None:
    class LooksBothWays(NoPadding):
        def bias(self, mask: Tensor) -> Tensor:
            return Toy.bias(self, mask)

    finding = only_finding(examine("PE320", LooksBothWays()))
    assert "(with padding only)" in finding.message
    assert finding.measured["without padding"] < 1e-5


def test_two_paths_that_agree_pass() -> None:
    assert examine("PE320", TwoPaths()).status == "passed"


def test_a_flag_that_chooses_a_path_is_turned_round() -> None:
    class Flagged(TwoPaths):
        def __init__(self) -> None:
            super().__init__()
            self.flash = True

        def forward(self, tokens: Tensor) -> Tensor:  # type: ignore[override]
            return super().forward(tokens, return_attention=not self.flash)

    class FlaggedWithoutBias(Flagged):
        def slow(self, mask: Tensor) -> Tensor:
            return self.bias(mask)

    assert examine("PE320", Flagged()).status == "passed"
    assert only_finding(examine("PE320", FlaggedWithoutBias())).where == "attention with flash turned round"


def test_a_bias_that_only_the_fused_kernel_gets_is_found_by_torch_s_own_flags() -> None:
    class AsksTheKernel(TwoPaths):
        """A path chosen by what torch is set to, as libraries do."""

        def fast(self, mask: Tensor) -> Tensor:
            whole = super().fast(mask)
            return whole if torch.backends.cuda.flash_sdp_enabled() else self.bias(mask)

    assert "SDPBackend.MATH" in only_finding(examine("PE320", AsksTheKernel())).where


def test_torch_s_fast_path_is_compared_and_its_setting_left_as_it_was() -> None:
    layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True)
    layers = nn.TransformerEncoder(layer, 1)
    result = examine("PE320", (layers, (torch.randn(2, 12, 16),)))
    assert result.status == "passed"
    assert float(value(result, "difference between torch's fast path off and the model's own path")) < 1e-5
    assert torch.backends.mha.get_fastpath_enabled()


def test_eager_attention_is_compared_and_the_implementation_left_as_it_was() -> None:
    subject = subject_of(llama())
    names = [backend.name for backend in backends(subject)]
    assert 'attn_implementation="eager"' in names
    assert subject.module.config._attn_implementation == "sdpa"  # type: ignore[union-attr]


def test_the_two_live_faults_of_falcon_are_found() -> None:
    assert "it looks at later tokens" in only_finding(examine("PE320", falcon())).message
    assert "2 times as strong" in only_finding(examine("PE320", falcon(alibi=True))).message


@pytest.mark.parametrize("name", ["llama", "bert", "gpt-2", "gemma3, both kinds", "bloom"])
def test_healthy_families_pass(name: str) -> None:
    result = examine("PE320", FOREIGN[name]())
    assert result.status == "passed"
    assert all(float(m.value) < 1e-5 for m in result.measured)


def test_a_model_without_attention_is_not_judged() -> None:
    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.cell = nn.Embedding(30, 8), nn.GRU(8, 8, batch_first=True)

        def forward(self, ids: Tensor) -> Tensor:
            out: Tensor = F.silu(self.cell(self.words(ids))[0])
            return out

    result = examine("PE320", Recurrent())
    assert (result.status, result.detail) == ("not-applicable", "no attention was seen in the forward")
