"""The config before the change, from whatever the caller passes."""

import json
from pathlib import Path
from typing import Any

import pytest

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor import diagnose
from gnomon.doctor.evidence.reference_config import reference_config
from tests.helpers.gallery_configs import llama_config, powers, turning
from tests.helpers.toys import Toy, llama


def test_a_mapping_a_file_a_folder_and_a_module_will_do(tmp_path: Path) -> None:
    config = llama_config(rope_theta=7.0)
    (tmp_path / "config.json").write_text(json.dumps(config))
    references: tuple[Any, ...] = (config, tmp_path, str(tmp_path / "config.json"))
    for reference in references:
        assert reference_config(Subject("x", reference=reference)) == config
    assert reference_config(Subject("x", reference=llama()))["model_type"] == "llama"


@pytest.mark.parametrize("reference", ["/nowhere/at/all", Toy()])
def test_a_reference_without_a_config_is_missing_evidence(reference: Any) -> None:
    with pytest.raises(MissingEvidence):
        reference_config(Subject("x", reference=reference))


def test_a_config_given_as_evidence_says_what_a_plain_module_should_do() -> None:
    module = turning(powers(1e4))
    for base, status in ((1e4, "passed"), (1e6, "failed")):
        [check] = diagnose(module, select="PE307", config=llama_config(rope_theta=base)).checks
        assert check.status == status
