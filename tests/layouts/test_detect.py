"""Which pairs the rows of a checkpoint are for: by its config, by its loss, by a second model, and the verdict."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from gnomon.layouts import Detected, Evidence, detect, permute
from gnomon.layouts.marker import MARKER
from gnomon.layouts.stored import Stored
from tests.helpers.byte_llama import save_letters
from tests.helpers.other_rotation import redrawn
from tests.helpers.pairwise_llama import teacher, written
from tests.helpers.tiny_gguf import llama_metadata, llama_tensors, write_gguf
from tests.helpers.tiny_transformers import save_tiny, tiny_fields


@pytest.fixture(scope="module")
def text() -> Tensor:
    return written(teacher())


def exported(folder: Path, *, gathered: bool) -> Path:
    folder.mkdir()
    return teacher().export(folder, gathered=gathered)


def of(found: Detected, kind: str) -> Evidence:
    [one] = [one for one in found.evidence if one.kind == kind]
    return one


def trained(folder: Path, family: str, **options: Any) -> tuple[Path, Tensor]:
    """A model with head of a family, sure of what comes next, and a text drawn from it."""
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.for_model(**(tiny_fields(family) | {"max_position_embeddings": 128} | options))
    model: Any = redrawn(AutoModelForCausalLM.from_config(config).eval())
    model.save_pretrained(folder)
    return folder, _spoken(model)


def _spoken(model: nn.Module) -> Tensor:
    generator, ids = torch.Generator().manual_seed(0), torch.tensor([[3]])
    with torch.no_grad():
        for _ in range(100):
            last = model(input_ids=ids).logits[:, -1].softmax(-1)
            ids = torch.cat([ids, torch.multinomial(last, 1, generator=generator)], dim=1)
    return ids[0]


def test_trained_weights_in_the_layout_of_their_class_agree(tmp_path: Path, text: Tensor) -> None:
    found = detect(exported(tmp_path / "model", gathered=True), text=text)
    assert (found.layout, found.disagreement, found.exit_code) == ("half", False, 0)
    assert of(found, "config").layout == of(found, "loss").layout == "half"
    assert of(found, "config").numbers == {"head_dim": 8, "turned": 8}
    loss = of(found, "loss").numbers
    assert loss["as it is"] + 0.3 < min(loss["gathered to half"], loss["gathered to interleaved"])
    assert "What was measured agrees" in found.verdict


def test_rows_that_a_converter_left_behind_contradict_the_config(tmp_path: Path, text: Tensor) -> None:
    folder = exported(tmp_path / "model", gathered=False)
    found = detect(folder, text=text)
    assert (found.layout, found.exit_code) == ("interleaved", 1)
    assert "converted for another rotation" in found.verdict
    assert f"gnomon layout permute {folder} --from interleaved --to half -o OUT" in found.verdict
    permute(folder, tmp_path / "mended", to="half", came_from="interleaved")
    assert detect(tmp_path / "mended", text=text).exit_code == 0


def test_rows_that_were_moved_twice_fit_neither(tmp_path: Path, text: Tensor) -> None:
    right = exported(tmp_path / "model", gathered=True)
    permute(right, tmp_path / "twice", to="half", came_from="interleaved")
    for reference in (None, right):
        found = detect(tmp_path / "twice", text=text, reference=reference)
        assert (found.layout, found.exit_code) == (None, 1)
        assert all(one.twice for one in found.evidence[1:])
        assert "moved twice" in found.verdict


def test_a_marker_is_believed_and_tested(tmp_path: Path, text: Tensor) -> None:
    permute(exported(tmp_path / "model", gathered=True), tmp_path / "moved", to="interleaved", program="torchtune")
    found = detect(tmp_path / "moved", text=text)
    assert (found.layout, found.exit_code) == ("interleaved", 0)
    assert of(found, "config").words.startswith(MARKER)
    assert of(found, "loss").layout == "interleaved"
    wrong = exported(tmp_path / "wrong", gathered=True)
    (wrong / MARKER).write_text(json.dumps({"layout": "interleaved"}))
    found = detect(wrong, text=text)
    assert (found.layout, found.exit_code) == ("half", 1)
    assert "its marker is wrong" in found.verdict


@pytest.mark.parametrize(
    ("family", "options"),
    [
        ("gpt_neox", {"hidden_size": 64}),
        ("qwen3", {"num_key_value_heads": 2, "head_dim": 12}),
        ("phi3", {"num_key_value_heads": 2}),
        ("glm4", {"num_key_value_heads": 2, "head_dim": 8}),
    ],
)
def test_fused_projections_norms_and_partial_heads_are_judged_whole(
    tmp_path: Path, family: str, options: dict[str, Any]
) -> None:
    folder, text = trained(tmp_path / "model", family, **options)
    own = "interleaved" if family == "glm4" else "half"
    to: Any = "half" if own == "interleaved" else "interleaved"
    permute(folder, tmp_path / "moved", to=to, program="torchtune")
    (tmp_path / "moved" / MARKER).unlink()
    right, wrong = (detect(place, text=text, reference=folder) for place in (folder, tmp_path / "moved"))
    assert [(one.layout, one.exit_code) for one in (right, wrong)] == [(own, 0), (to, 1)]
    assert of(wrong, "loss").layout == of(wrong, "reference").layout == to
    numbers = of(wrong, "reference").numbers
    assert numbers[f"gathered to {own}"] < 1e-4 < 1e-2 < numbers["as it is"]


def test_untrained_weights_cannot_tell(tmp_path: Path, text: Tensor) -> None:
    folder = exported(tmp_path / "model", gathered=True)
    noise = {name: 0.02 * torch.randn_like(value) for name, value in load_file(folder / "model.safetensors").items()}
    save_file(noise, folder / "model.safetensors")
    found = detect(folder, text=text)
    assert of(found, "loss").layout is None
    assert "no arrangement predicts better than a guess (3.69 nats)" in of(found, "loss").words
    assert (found.layout, found.exit_code) == ("half", 0)
    assert "nothing that was measured confirms it" in found.verdict


def test_text_that_the_model_does_not_know_cannot_tell(tmp_path: Path) -> None:
    noise = torch.randint(0, 40, (60,), generator=torch.Generator().manual_seed(5))
    assert of(detect(exported(tmp_path / "model", gathered=False), text=noise), "loss").layout is None


def test_what_is_missing_is_named(tmp_path: Path, text: Tensor) -> None:
    folder = exported(tmp_path / "model", gathered=True)
    assert "tokenizer" in of(detect(folder), "loss").words
    assert "tokens of text are too few" in of(detect(folder, text=text[:9]), "loss").words
    assert of(detect(folder, text=text, forward=False), "loss").layout is None
    alone = detect(folder / "config.json", text=text)
    assert "do not come from a checkpoint" in of(alone, "loss").words
    assert (alone.layout, alone.exit_code) == ("half", 0)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "nobody"}))
    unknown = detect(tmp_path / "config.json")
    assert (unknown.layout, unknown.verdict, unknown.exit_code) == (None, "Nothing tells.", 0)


def test_a_reference_tells_without_text(tmp_path: Path) -> None:
    right, wrong = (exported(tmp_path / name, gathered=name == "right") for name in ("right", "wrong"))
    found = detect(wrong, reference=teacher())
    assert (found.layout, found.exit_code) == ("interleaved", 1)
    assert of(found, "reference").numbers["gathered to half"] < 1e-5
    assert detect(right, reference=teacher()).exit_code == 0


def test_a_reference_that_does_not_run_is_compared_by_its_rows(tmp_path: Path) -> None:
    right, wrong = (exported(tmp_path / name, gathered=name == "right") for name in ("right", "wrong"))
    found = detect(wrong, reference=right, forward=False)
    assert (found.layout, found.exit_code) == ("interleaved", 1)
    assert of(found, "reference").numbers == {"gathered to interleaved": 4}
    assert detect(right, reference=right, forward=False).exit_code == 0


def test_another_model_as_reference_cannot_tell(tmp_path: Path) -> None:
    right = exported(tmp_path / "right", gathered=True)
    other, _ = trained(tmp_path / "other", "llama", num_key_value_heads=2, vocab_size=40)
    found = detect(right, reference=other)
    assert of(found, "reference").layout is None
    assert found.exit_code == 0


def test_loss_and_reference_that_disagree_are_told(tmp_path: Path, text: Tensor) -> None:
    right, wrong = (exported(tmp_path / name, gathered=name == "right") for name in ("right", "wrong"))
    found = detect(right, text=text, reference=wrong)
    assert (found.layout, found.exit_code) == (None, 1)
    assert "Measurements disagree: the loss half and the reference" in found.verdict


def test_a_gguf_file_holds_rows_for_llama_cpp(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "tiny.gguf", "llama", llama_metadata(), llama_tensors())
    found = detect(path, forward=False)
    assert (found.layout, found.exit_code) == ("interleaved", 0)
    assert "transformers moves them back to half" in of(found, "config").words


def test_a_model_in_memory_is_judged_by_what_it_does(text: Tensor) -> None:
    found = detect(teacher())
    assert found.layout == "interleaved"
    assert "its forward turns interleaved pairs" in of(found, "config").words


def test_a_model_without_rotation_is_said_to_have_none(tmp_path: Path) -> None:
    found = detect(save_tiny(tmp_path / "model", "bert"), forward=False)
    assert found.layout is None
    assert found.verdict == "A model of type 'bert' has no rotation of queries and keys, so rows have no pairs."


def test_another_folder_may_have_the_tokenizer(tmp_path: Path) -> None:
    folder = exported(tmp_path / "model", gathered=True)
    evidence = {one.kind: one for one in detect(folder).evidence}
    assert evidence["loss"].words.startswith("the folder has no tokenizer; name a folder that has")
    save_letters(tmp_path / "tokenizer")
    evidence = {one.kind: one for one in detect(folder, tokenizer=tmp_path / "tokenizer").evidence}
    assert "tokenizer" not in evidence["loss"].words


def test_the_result_is_plain_data_and_lines(tmp_path: Path, text: Tensor) -> None:
    found = detect(exported(tmp_path / "model", gathered=True), text=text)
    told = json.loads(json.dumps(found.to_dict()))
    assert [one["kind"] for one in told["evidence"]] == ["config", "loss"]
    lines = found.to_text().splitlines()
    assert lines[0].endswith("model: half")
    assert "loss: half" in lines
    assert any(line.startswith("  loss on the text with rows as they are: ") for line in lines)


@pytest.mark.parametrize(
    ("claimed", "runs", "marked", "needed", "told"),
    [
        ("half", "half", False, "same", ("half", False)),
        ("half", "half", False, "half", ("interleaved", False)),
        ("half", "half", False, "interleaved", (None, True)),
        ("interleaved", "interleaved", False, "interleaved", ("half", False)),
        ("interleaved", "interleaved", False, "half", (None, True)),
        ("interleaved", "half", True, "half", ("interleaved", False)),  # a marker: its own class runs them wrongly
        ("interleaved", "half", True, "same", ("half", False)),
        ("interleaved", "half", False, "same", ("interleaved", False)),  # a GGUF file, moved back on loading
        ("interleaved", "half", False, "half", (None, True)),
        (None, None, False, "same", (None, False)),
    ],
)
def test_what_had_to_be_done_tells_how_the_rows_lie(
    claimed: Any, runs: Any, marked: bool, needed: str, told: tuple[str | None, bool]
) -> None:
    assert Stored(claimed, runs, Evidence("config", claimed, ""), marked).told(needed) == told
