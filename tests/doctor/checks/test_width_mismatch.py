"""PE201: the width of a position table."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gnomon.adapters import load_subject
from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from tests.helpers.subjects import holding, noise, value

TABLE, WORDS = "embeddings.position_embeddings.weight", "embeddings.word_embeddings.weight"


class Adds(nn.Module):
    """Words, perhaps projected, and positions added to them."""

    def __init__(self, words: int, positions: int, width: int) -> None:
        super().__init__()
        self.words = nn.Embedding(30, words)
        self.project = nn.Linear(words, width) if words != width else nn.Identity()
        self.position_embeddings = nn.Embedding(40, positions)
        self.block = nn.Linear(width, width)

    def forward(self, input_ids: Tensor) -> Tensor:
        added: Tensor = self.position_embeddings(torch.arange(input_ids.shape[1]))
        out: Tensor = self.block(self.project(self.words(input_ids)) + added)
        return out


def test_a_table_of_another_width_than_the_model_is_found() -> None:
    result = run("PE201", holding({TABLE: noise(20, 12), WORDS: noise(30, 16)}, config={"hidden_size": 16}))
    [finding] = result.findings
    assert (result.severity, finding.where) == ("error", TABLE)
    assert finding.message == "the table is 20 x 12 but vectors are 16 wide"
    assert finding.fix == "make the table 16 wide"
    assert value(result, f"width of {TABLE}") == 12


def test_a_table_with_its_axes_swapped_is_told_so() -> None:
    result = run("PE201", holding({TABLE: noise(16, 20)}, config={"hidden_size": 16}))
    assert result.findings[0].fix == "swap the table's axes: one row a position"


@pytest.mark.parametrize(("width", "status"), [(15, "failed"), (16, "passed"), (17, "failed")])
def test_the_width_must_be_exact(width: int, status: str) -> None:
    assert run("PE201", holding({TABLE: noise(20, width)}, config={"n_embd": 16})).status == status


@pytest.mark.parametrize("key", ["hidden_size", "n_embd", "d_model", "dim", "embedding_size", "word_embed_proj_dim"])
def test_the_width_is_read_under_each_name(key: str) -> None:
    assert run("PE201", holding({TABLE: noise(20, 16)}, config={key: 16})).status == "passed"
    assert run("PE201", holding({TABLE: noise(20, 12)}, config={key: 16})).status == "failed"


def test_a_factorised_embedding_may_have_either_width() -> None:
    config = {"hidden_size": 16, "embedding_size": 6}
    for width in (6, 16):
        assert run("PE201", holding({TABLE: noise(20, width)}, config=config)).status == "passed"


def test_the_towers_of_a_model_have_their_own_widths() -> None:
    config = {"text_config": {"hidden_size": 8}, "vision_config": {"hidden_size": 12}}
    tables = {"text.position_embedding.weight": noise(9, 8), "vision.position_embedding.weight": noise(7, 12)}
    assert run("PE201", holding(tables, config=config)).status == "passed"
    tables["vision.position_embedding.weight"] = noise(7, 10)
    assert [f.where for f in run("PE201", holding(tables, config=config)).findings] == [
        "vision.position_embedding.weight"
    ]


def test_words_alone_can_show_that_the_widths_agree_but_not_that_they_differ() -> None:
    assert run("PE201", holding({TABLE: noise(20, 16), WORDS: noise(30, 16)})).status == "passed"
    result = run("PE201", holding({TABLE: noise(20, 16), WORDS: noise(30, 6)}))
    assert result.status == "not-applicable"
    assert result.detail == "words are 6 wide; only a forward tells whether they are projected"


@pytest.mark.parametrize(
    ("sizes", "status"), [((16, 16, 16), "passed"), ((6, 16, 16), "passed"), ((16, 12, 16), "failed")]
)
def test_a_module_is_judged_by_the_vectors_as_they_run(sizes: tuple[int, int, int], status: str) -> None:
    result = run("PE201", load_subject(Adds(*sizes)))
    assert result.status == status
    assert value(result, "width of position_embeddings.weight") == sizes[1]


@pytest.mark.parametrize(
    ("evidence", "reason"),
    [
        ({}, "no table of positions among the tensors"),
        ({TABLE: noise(20, 12)}, "neither a config nor a word table says how wide the model is"),
        (
            {"rotary_emb.inv_freq": torch.tensor([1.0, 0.1])},
            "no table with a vector for each position (rotary numbers only)",
        ),
    ],
)
def test_missing_evidence_is_named(evidence: dict[str, Any], reason: str) -> None:
    result = run("PE201", holding(evidence))
    if TABLE not in evidence:
        result = run("PE201", holding(evidence, config={"hidden_size": 4}))
    assert (result.status, result.detail) == ("not-applicable", reason)


def test_without_tensors_it_is_not_applicable() -> None:
    assert run("PE201", Subject("x", config={"hidden_size": 4})).detail == "no tensors"
