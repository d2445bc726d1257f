"""PE216: what the files hold against what the config has a use for."""

from pathlib import Path

import pytest
from torch import Tensor

from gnomon.doctor import diagnose, run
from tests.helpers.gallery_tables import edited
from tests.helpers.subjects import claim, holding, noise, rotary_claim
from tests.helpers.tiny_transformers import save_tiny, tiny_model
from tests.helpers.toys import examine, only_finding

WORDS = {"model.embed_tokens.weight": noise(50, 16)}
TABLE = "model.embed_positions.weight"


def test_a_table_beside_a_rotary_claim_is_a_warning_without_a_model_to_load() -> None:
    subject = holding(WORDS | {TABLE: noise(20, 16)}, claims=(rotary_claim(8),), config={"model_type": "llama"})
    result = run("PE216", subject)
    finding = only_finding(result)
    assert (result.severity, finding.where) == ("warning", TABLE)
    assert "20 x 16 table of positions, but the config claims rotary" in finding.message


def test_it_is_an_error_where_loading_finds_no_place_for_it(tmp_path: Path) -> None:
    def add(tensors: dict[str, Tensor]) -> None:
        tensors["embed_positions.weight"] = noise(37, 32)

    [check] = diagnose(edited(tmp_path, "llama", add), select="PE216").checks
    assert (check.status, check.severity) == ("failed", "error")


@pytest.mark.parametrize("model_type", ["bert", "llama", "gptj", "bloom", "opt", "gemma3", "esm", "whisper"])
def test_released_families_pass_as_they_are_saved(model_type: str, tmp_path: Path) -> None:
    [check] = diagnose(save_tiny(tmp_path, model_type), select="PE216", forward=False).checks
    assert check.status == "passed", (check.findings, check.detail)


def test_a_table_of_images_beside_rotary_text_is_not_judged() -> None:
    config = {"model_type": "qwen2_vl", "vision_config": {"hidden_size": 16}}
    subject = holding(WORDS | {"visual.pos_embed": noise(20, 16)}, claims=(rotary_claim(8),), config=config)
    assert run("PE216", subject).status == "passed"


def test_a_part_of_a_model_is_not_judged() -> None:
    subject = holding({"adapter.weight": noise(4, 4)}, claims=(claim("learned", "pos"),))
    assert run("PE216", subject).status == "not-applicable"


def test_a_model_in_memory_has_what_its_class_makes() -> None:
    result = examine("PE216", tiny_model("bert"))
    assert (result.status, result.detail[:22]) == ("not-applicable", "the model is in memory")
