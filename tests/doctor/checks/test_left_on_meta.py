"""PE605: tensors without values in a model that otherwise has them."""

from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

from gnomon.adapters import load_subject
from gnomon.doctor import run
from tests.helpers.gallery_deployment import BufferedAngles, Turned
from tests.helpers.toys import examine, only_finding


def test_one_buffer_on_meta_is_found_by_name() -> None:
    model = Turned(BufferedAngles())
    model.rotary.register_buffer("sin", torch.empty(64, 4, device="meta"), persistent=False)
    finding = only_finding(examine("PE605", model))
    assert finding.where == "rotary.sin"
    assert "the buffer rotary.sin (64, 4) has no values" in finding.message


def test_a_plain_attribute_on_meta_is_found_too() -> None:
    model = Turned(BufferedAngles())
    model.extra = torch.empty(3, device="meta")
    assert "the plain attribute extra (3,)" in only_finding(examine("PE605", model)).message


def test_a_whole_model_passes() -> None:
    assert examine("PE605", Turned(BufferedAngles())).status == "passed"


def test_a_model_that_is_all_on_meta_is_not_judged() -> None:
    assert examine("PE605", nn.Linear(2, 2, device="meta")).detail.startswith("the whole module is on the meta device")


def test_a_file_is_not_judged(tmp_path: Path) -> None:
    save_file({"a": torch.ones(2)}, tmp_path / "x.safetensors")
    result = run("PE605", load_subject(tmp_path / "x.safetensors"))
    assert (result.status, "only a module in memory" in result.detail) == ("not-applicable", True)
