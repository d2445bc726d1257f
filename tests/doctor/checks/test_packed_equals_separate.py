"""PE405: a document in a packed row gives other outputs than alone."""

import pytest
import torch
from torch import Tensor

from tests.helpers.gallery_caches import Packed
from tests.helpers.gallery_decoding import tokens
from tests.helpers.healthy import FOREIGN, MODELS
from tests.helpers.toys import Toy, ToyDecoder, examine, only_finding


class SeesTheOther(Packed):
    """Restarts positions, but lets documents see each other."""

    def same(self, documents: Tensor) -> Tensor:
        return torch.ones(documents.shape[1], documents.shape[1], dtype=torch.bool)[None, None]


class Masked4(ToyDecoder):
    """Takes a mask (B, 1, S, S) and, unless a subclass drops them, position ids."""

    def bias(self, mask: Tensor) -> Tensor:
        return super().bias(mask) if mask.ndim == 2 else torch.zeros(mask.shape).masked_fill(~mask.bool(), -torch.inf)

    def ids(self, mask: Tensor) -> Tensor:
        return torch.arange(mask.shape[-1])[None] if mask.ndim == 4 else super().ids(mask)


class DropsIds(Masked4):
    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        return super().embed(tokens, ids if len(ids) > 1 or bool((ids.diff() == 1).all()) else ids.argsort())


def test_documents_that_see_each_other_are_found() -> None:
    result = examine("PE405", tokens(SeesTheOther()))
    finding = only_finding(result)
    assert result.severity == "error"
    assert finding.message.startswith("documents of 5 and 7 tokens packed by document_ids differ from each alone by ")
    assert "let no document see another" in finding.fix


def test_ids_that_are_dropped_under_a_block_mask_are_found() -> None:
    result = examine("PE405", DropsIds())
    finding = only_finding(result)
    assert "packed by attention_mask (B, 1, S, S)" in finding.message
    assert "with ids that restart" in finding.message
    assert "positions 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6" in finding.fix


def test_running_positions_that_ids_can_correct_are_a_warning() -> None:
    class Restartable(Packed):
        given: Tensor | None = None

        def restart(self, documents: Tensor) -> Tensor:
            return torch.arange(documents.shape[1])[None] if self.given is None else self.given

        def forward(  # type: ignore[override]
            self, tokens: Tensor, document_ids: Tensor | None = None, position_ids: Tensor | None = None
        ) -> Tensor:
            self.given = position_ids
            return super().forward(tokens, document_ids)

    result = examine("PE405", tokens(Restartable()))
    assert result.severity == "warning"
    assert "positions run on across documents" in only_finding(result).message


@pytest.mark.parametrize("name", ["llama", "gpt-2", "roberta", "bert", "decoder, learned", "encoder, alibi"])
def test_healthy_families_pass(name: str) -> None:
    result = examine("PE405", MODELS[name]())
    assert result.status == "passed", (result.detail, result.findings)
    assert float(result.measured[0].value) < 1e-5


def test_hand_written_packing_passes() -> None:
    for target in (tokens(Packed()), Masked4()):
        assert examine("PE405", target).status == "passed"


def test_batches_that_restart_where_the_model_starts_pass() -> None:
    def batches(start: int) -> list[dict[str, Tensor]]:
        return [{"position_ids": torch.tensor([[0, 1, 2, 0, 1]]) + start}]

    assert examine("PE405", FOREIGN["roberta"](), batches=batches(2)).status == "passed"
    finding = only_finding(examine("PE405", FOREIGN["roberta"](), batches=batches(0)))
    assert finding.measured == {"start": 0, "right": 2}


def test_a_model_that_cannot_be_told_of_documents_is_not_judged() -> None:
    result = examine("PE405", Toy())
    assert result.status == "not-applicable"
    assert "neither document ids nor cumulative lengths nor a mask" in result.detail
