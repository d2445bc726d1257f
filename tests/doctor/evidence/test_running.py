"""What a loaded model computed for itself is examined too, beside what its files hold."""

from pathlib import Path

import torch

from gnomon.adapters import load_subject
from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from gnomon.doctor.evidence.running import running_tables
from tests.helpers.healthy import FOREIGN, MODELS


def _folder(tmp_path: Path) -> Subject:
    FOREIGN["llama"]().save_pretrained(tmp_path)  # type: ignore[operator]
    return load_subject(tmp_path)


def test_the_frequencies_of_a_folder_come_from_the_loaded_model(tmp_path: Path) -> None:
    [table] = running_tables(_folder(tmp_path))
    assert (table.kind, table.name) == ("frequencies", "model.rotary_emb.inv_freq")
    assert torch.allclose(torch.from_numpy(table.values[0]), 10000.0 ** (-torch.arange(0, 8, 2) / 8.0).double())


def test_frequencies_spoilt_after_loading_are_found(tmp_path: Path) -> None:
    subject = _folder(tmp_path)
    module = subject.module
    module.model.rotary_emb.inv_freq *= 0.5  # type: ignore[union-attr, operator]
    [finding] = run("PE203", subject.with_evidence(module=module)).findings
    assert finding.where == "model.rotary_emb.inv_freq"
    assert "off" in finding.message or "differ" in finding.message


def test_a_module_is_not_read_twice() -> None:
    assert [t.name for t in running_tables(load_subject(MODELS["llama"]()))] == ["model.rotary_emb.inv_freq"]
