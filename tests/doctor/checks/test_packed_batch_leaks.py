"""PE515: documents in one row that see each other."""

import torch

from tests.helpers.gallery_training import Separate
from tests.helpers.toys import Toy, ToyDecoder, examine, llama, only_finding

PACKED = torch.tensor([[0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 0, 1, 2, 3, 4]])
TOKENS = torch.arange(16).reshape(2, 8) + 5


def test_a_document_that_changes_the_next_is_found() -> None:
    result = examine("PE515", ToyDecoder(), batches=[{"tokens": TOKENS, "position_ids": PACKED}])
    finding = only_finding(result)
    assert (result.severity, finding.where) == ("warning", "batch 0")
    assert (finding.measured["row"], finding.measured["border"]) == (1, 3)
    assert "mask of documents" in finding.fix


def test_documents_kept_apart_pass() -> None:
    assert examine("PE515", Separate(), batches=[{"tokens": TOKENS, "position_ids": PACKED}]).status == "passed"


def test_transformers_keeps_apart_what_ids_separate_but_not_when_a_mask_is_given() -> None:
    batch = {"input_ids": TOKENS, "position_ids": PACKED}
    assert examine("PE515", llama(), batches=[batch]).status == "passed"
    mask = torch.ones_like(TOKENS)
    assert examine("PE515", llama(), batches=[{**batch, "attention_mask": mask}]).status == "failed"


def test_a_row_of_one_document_is_not_judged() -> None:
    result = examine("PE515", Toy(), batches=[{"tokens": TOKENS, "position_ids": PACKED[:1].expand(2, 8)}])
    assert result.detail == "no batch has position ids that start again inside a row"
