"""PE240: a class with a table of positions, and files without one."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from gnomon.adapters.checkpoints.huggingface import config_evidence
from gnomon.doctor import diagnose, run
from gnomon.report.document import CheckResult
from tests.helpers.subjects import holding
from tests.helpers.tiny_transformers import edit_config, save_tiny

BERT = {"model_type": "bert", "hidden_size": 8, "max_position_embeddings": 16}
WORDS = "bert.embeddings.word_embeddings.weight"
TABLE = "bert.embeddings.position_embeddings.weight"


def judge(*names: str, trained: bool = True, **config: Any) -> CheckResult:
    tensors = {name: torch.zeros(16, 8) for name in (WORDS, *names)}
    return run("PE240", holding(tensors, trained=trained, **config_evidence({**BERT, **config})))


def test_a_checkpoint_without_the_table_is_an_error() -> None:
    result = judge(architectures=["BertForMaskedLM"])
    [finding] = result.findings
    assert (result.severity, finding.where) == ("error", "embeddings")
    assert finding.message.startswith("BertForMaskedLM has a learned table of 16 positions and the files have none")


def test_a_key_of_alibi_says_why() -> None:
    assert "alibi_starting_size is 512" in judge(alibi_starting_size=512).findings[0].message


def test_code_that_comes_with_the_files_makes_it_a_warning() -> None:
    result = judge(auto_map={"AutoModel": "bert_layers.BertModel"})
    assert (result.severity, "trust_remote_code=True" in result.findings[0].fix) == ("warning", True)


def test_a_table_under_another_name_is_pointed_at() -> None:
    assert "encoder.pos_embed.weight may be it" in judge("encoder.pos_embed.weight").findings[0].message


def test_a_checkpoint_with_the_table_passes() -> None:
    assert judge(TABLE).status == "passed"


@pytest.mark.parametrize("config", [{"model_type": "bloom", "n_head": 2}, {"model_type": "llama"}])
def test_classes_without_a_table_are_not_applicable(config: dict[str, Any]) -> None:
    assert judge(**config).detail == "the config claims no learned table of positions"


def test_weights_that_are_no_checkpoint_are_not_applicable() -> None:
    assert judge(trained=False).status == "not-applicable"


RELATIVE = "encoder.layer.0.attention.self.distance_embedding.weight"


@pytest.mark.parametrize(("unexpected", "status"), [((RELATIVE,), "failed"), ((), "passed"), (("other",), "passed")])
def test_tables_of_a_relative_encoding_that_loading_leaves_out_are_an_error(
    unexpected: tuple[str, ...], status: str
) -> None:
    config = {**BERT, "position_embedding_type": "relative_key", "num_attention_heads": 2}
    report = {"missing": (), "unexpected": unexpected, "mismatched": ()}
    subject = holding({f"bert.{RELATIVE}": torch.zeros(31, 4)}, trained=True, loading=report, **config_evidence(config))
    result = run("PE240", subject)
    assert result.status == status
    if result.findings:
        assert result.findings[0].measured == {"held": 1, "left out": 1}


def test_relative_bert_is_really_left_unread_by_the_installed_transformers(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path, "bert")
    edit_config(folder, position_embedding_type="relative_key")
    weights = load_file(folder / "model.safetensors") | {RELATIVE: torch.zeros(73, 8)}
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    [check] = diagnose(folder, select="PE240").checks
    assert (check.status, check.findings[0].where) == ("failed", RELATIVE)
