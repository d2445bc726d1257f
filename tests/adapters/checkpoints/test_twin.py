"""The twin of a config: small enough for any machine, and with the positions of the whole."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gnomon.adapters import load_subject
from gnomon.adapters.checkpoints.shortened import shortened
from gnomon.adapters.checkpoints.twin import twin
from gnomon.adapters.families import BY_MODEL_TYPE
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor import diagnose
from gnomon.errors import UnsupportedTargetError
from tests.helpers.large_configs import LARGE, LLAMA_3_70B
from tests.helpers.tiny_gguf import llama_metadata, llama_tensors, write_gguf
from tests.helpers.tiny_transformers import save_tiny, tiny_fields
from tests.helpers.toys import Toy

SIZES = ("dim", "num_heads", "num_key_heads")  #: what a twin may have less of
MOST = 25_000_000  #: parameters, 100 MB in float32
NOT_BY_AUTO = ("qwen2_vl_vision",)


def written(folder: Path, config: Mapping[str, Any]) -> Path:
    path = folder / "config.json"
    path.write_text(json.dumps(config))
    return path


def positions(subject: Subject, *, sizes: tuple[str, ...] = SIZES) -> list[Any]:
    """Kind and options of every claim that has nothing to do with how wide the model is."""
    kept = [(c.kind, {k: v for k, v in c.options.items() if k not in sizes}) for c in subject.claims]
    return [claim for claim in kept if claim[0] != "nope"]


def parameters(subject: Subject) -> int:
    return sum(parameter.numel() for parameter in subject.module.parameters())


@pytest.mark.parametrize("name", LARGE)
def test_the_twin_of_a_large_model_is_small_and_claims_the_same_positions(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, LARGE[name])
    small = load_subject(path, twin=True)
    assert parameters(small) < MOST
    whole, kept = positions(load_subject(path, forward=False)), positions(small)
    assert [kind for kind, _ in kept] == [kind for kind, _ in whole]
    for (_, before), (_, after) in zip(whole, kept, strict=True):
        assert before.items() <= after.items()  # the file leaves some to defaults, which the twin states


@pytest.mark.parametrize("model_type", sorted(set(BY_MODEL_TYPE) - set(NOT_BY_AUTO)))
def test_every_family_has_a_twin(model_type: str, tmp_path: Path) -> None:
    path = written(tmp_path, tiny_fields(model_type))
    small = load_subject(path, twin=True)
    assert parameters(small) > 0
    assert small.get("built").note.startswith("What ran is a twin of this config with random weights")


def test_the_slopes_of_alibi_stay_as_many_and_their_heads_become_narrow() -> None:
    small = twin({"model_type": "bloom", "n_layer": 70, "hidden_size": 14336, "n_head": 112})
    assert (small["n_layer"], small["n_head"], small["hidden_size"]) == (2, 112, 448)


def test_a_token_of_the_small_vocabulary_stays_itself() -> None:
    """RoBERTa counts positions from its padding token: another one would move every position."""
    short = shortened({"vocab_size": 50_265, "pad_token_id": 1, "eos_token_id": [2, 50_000], "bos_token_id": None})
    assert (short["pad_token_id"], short["eos_token_id"], short["bos_token_id"]) == (1, [2, 0], None)


def test_a_list_that_counts_layers_keeps_no_layer() -> None:
    """Llama 4 lists the layers that have experts: all of them, which are not 48 kinds."""
    short = shortened({"num_hidden_layers": 48, "moe_layers": list(range(48))})
    assert (short["num_hidden_layers"], short["moe_layers"]) == (2, [0, 1])


def test_the_image_tower_of_the_twin_fits_the_text_model() -> None:
    text = {"hidden_size": 3584, "num_attention_heads": 28}
    image = {"embed_dim": 1280, "num_heads": 16, "hidden_size": 3584, "depth": 32}
    small = twin({"model_type": "qwen2_vl", "text_config": text, "vision_config": image})
    assert (small["text_config"]["hidden_size"], small["vision_config"]["hidden_size"]) == (512, 512)
    assert (small["vision_config"]["embed_dim"], small["vision_config"]["num_heads"]) == (320, 4)


def test_a_folder_is_read_from_its_files_and_run_as_its_twin(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path, "opt")
    report = diagnose(folder, twin=True)
    ran = {check.code for check in report.checks if check.status == "passed"}
    assert {"PE201", "PE206", "PE304", "PE403"} <= ran, "of the tables in the file, and of a forward and a cache"
    assert not report.crashed
    assert not [check for check in report.failed if check.severity == "error"]
    [note] = report.notes
    assert "a twin of this config with random weights" in note
    assert report.to_dict()["notes"] == [note]


def test_files_that_cannot_be_loaded_are_still_examined(tmp_path: Path) -> None:
    """A fault of the file stands in the report, though what runs is the twin."""
    import torch
    from safetensors.torch import load_file, save_file

    folder = save_tiny(tmp_path, "opt")
    tensors = load_file(folder / "model.safetensors")
    [name] = [name for name in tensors if "embed_positions" in name]
    save_file(tensors | {name: torch.zeros_like(tensors[name])}, folder / "model.safetensors", {"format": "pt"})
    [check] = diagnose(folder, twin=True, select="PE206").checks
    assert (check.status, check.findings[0].where) == ("failed", name)


def test_a_gguf_file_is_run_as_the_twin_of_its_metadata(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "tiny.gguf", "llama", llama_metadata(), llama_tensors())
    report = diagnose(path, twin=True, select="PE307")
    [check] = report.checks
    assert check.status == "passed", check.detail
    assert "num_key_value_heads" not in report.notes[0]  # it has two, and two are kept


def test_a_model_that_is_run_whole_has_no_note(tmp_path: Path) -> None:
    assert diagnose(written(tmp_path, tiny_fields("llama")), select="PE307").notes == ()


def test_a_large_config_is_run_as_its_twin_and_the_report_says_so(tmp_path: Path) -> None:
    config = LLAMA_3_70B | {"hidden_size": 2048, "num_attention_heads": 16, "intermediate_size": 512}
    [note] = diagnose(written(tmp_path, config), select="PE307").notes
    assert note.startswith("What ran is a twin of this config")
    assert "num_hidden_layers 80 → 2" in note


def test_what_the_user_wrote_is_not_read_from_the_twin(tmp_path: Path) -> None:
    """transformers writes two spellings into the config it makes; the file has one."""
    path = written(tmp_path, LARGE["Qwen2-VL-7B"])
    checks = {check.code: check.status for check in diagnose(path, twin=True, select="PE1").checks}
    assert "failed" not in checks.values()


@pytest.mark.parametrize("target", [Toy(), "no_such_package.module:factory"])
def test_a_twin_needs_a_config_on_disk(target: Any) -> None:
    with pytest.raises(UnsupportedTargetError, match=r"A twin is built from the config of a Hugging Face folder"):
        load_subject(target, twin=True)


def test_a_config_that_transformers_cannot_build_says_why(tmp_path: Path) -> None:
    small = load_subject(written(tmp_path, {"model_type": "martian"}), twin=True)
    with pytest.raises(MissingEvidence, match="martian"):
        small.module  # noqa: B018
