"""`gnomon.advise`: words of a user become facts, what is missing is assumed in the open, and torch is not needed."""

import subprocess
import sys
from pathlib import Path

import pytest

import gnomon
from gnomon.advisor import Description, Lengths, ModelSizes, Need, Task, advise, answer


def test_it_is_a_public_function() -> None:
    assert gnomon.advise is advise


def test_advice_without_a_checkpoint_imports_no_torch() -> None:
    code = "import gnomon, sys; gnomon.advise('code', trained=512, target=4096); print('torch' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"


def test_a_description_says_the_same_as_words() -> None:
    words = advise("tagging", need="absolute", trained=256, sizes=ModelSizes(dim=512))
    description = Description(Task.TAGGING, need=Need.ABSOLUTE, lengths=Lengths(trained=256), sizes=ModelSizes(dim=512))
    assert answer(description) == words


def test_lengths_come_from_a_list_or_a_file(tmp_path: Path) -> None:
    counts = [3, 8, 5, 40]
    path = tmp_path / "lengths.txt"
    path.write_text("\n".join(map(str, counts)), encoding="utf-8")
    assert advise("code", lengths=counts) == advise("code", lengths=path) == advise("code", lengths=str(path))
    assert advise("code", lengths=counts).facts["longest"] == 40


def test_a_task_brings_its_need_and_direction_and_the_user_overrides_them() -> None:
    assert advise("pairs", trained=64).facts["need"] == "relative"
    assert advise("pairs", trained=64, need="absolute").facts["need"] == "absolute"
    assert advise("code", trained=64).facts["causal"] is True
    assert advise("code", trained=64, causal=False).facts["causal"] is False


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        (ModelSizes(), (512, 8, 64)),
        (ModelSizes(dim=768), (768, 12, 64)),
        (ModelSizes(num_heads=4), (256, 4, 64)),
        (ModelSizes(head_dim=32), (256, 8, 32)),
        (ModelSizes(dim=1024, num_heads=4), (1024, 4, 256)),
        (ModelSizes(dim=1024, num_heads=16, head_dim=128), (1024, 16, 128)),  # as Qwen3 has it
    ],
)
def test_sizes_follow_from_each_other(sizes: ModelSizes, expected: tuple[int, int, int]) -> None:
    facts = advise("code", trained=64, sizes=sizes).facts
    assert (facts["dim"], facts["num_heads"], facts["head_dim"]) == expected


def test_what_is_assumed_is_said_and_what_is_given_is_not() -> None:
    said = " ".join(advise("code").assumptions)
    assert "trained at 2048 tokens" in said
    assert "dim 512" in said
    sizes = ModelSizes(dim=512, num_heads=8)
    assert advise("code", causal=True, trained=64, target=64, sizes=sizes).assumptions == ()


@pytest.mark.parametrize(
    ("task", "length"),
    # 224 pixels in patches of 16 are 14 x 14; 16 frames of them, two a token, are 8 x 14 x 14.
    [("images", 196), ("video", 1568), ("code", 2048), ("long-context", 8192), ("tagging", 512)],
)
def test_a_length_that_is_not_said_is_what_is_usual_for_the_task(task: str, length: int) -> None:
    assert advise(task).facts["trained"] == length


def test_a_checkpoint_that_is_too_short_asks_whether_it_may_be_trained() -> None:
    asked = advise(family="llama", trained=2048, target=4096).assumptions
    assert any("--no-fine-tune" in said for said in asked)
    told = advise(family="llama", trained=2048, target=4096, fine_tune=True).assumptions
    assert not any("--no-fine-tune" in said for said in told)


def test_few_longer_inputs_are_cut_and_many_are_served() -> None:
    few = advise("code", trained=512, percentiles={95: 512, 100: 900})
    assert few.facts["target"] == 512
    assert any("the few inputs beyond 512 tokens are cut" in said for said in few.assumptions)
    many = advise("code", trained=512, percentiles={95: 513, 100: 900})
    assert many.facts["target"] == 900
    assert any("the longest input, 900 tokens, is to be served" in said for said in many.assumptions)


def test_without_an_end_numbers_are_for_eight_times_the_trained_length() -> None:
    advice = advise("language-model", trained=500, unlimited=True)
    assert (advice.facts["target"], advice.facts["unlimited"]) == (4000, True)
    assert any("4000 tokens" in said for said in advice.assumptions)
