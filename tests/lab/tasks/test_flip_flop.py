from collections import Counter

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.lab.tasks.flip_flop import FlipFlop
from tests.helpers.generated_tasks import best_guess, check_answers, check_contract, real_rows, rows_of


def solver(ids: list[int]) -> list[int]:
    """Go through the instructions with one bit of memory."""
    labels, memory = [], -1
    for place in range(0, len(ids), 2):
        instruction, bit = ids[place], ids[place + 1] if place + 1 < len(ids) else -1
        memory = bit if instruction == 0 else memory
        assert instruction != 2 or bit in (memory, -1)
        labels += [memory if instruction == 2 else -100, -100]
    return labels[: len(ids)]


@pytest.mark.parametrize("ignore", [0.0, 0.3, 0.8, 1.0])
def test_what_is_read_is_what_was_written_last(ignore: float) -> None:
    check_answers(FlipFlop(ignore), (2, 3, 6, 17), solver)


def test_rows_keep_the_contract() -> None:
    check_contract(FlipFlop(), 2)
    check_contract(FlipFlop(0.0), 2)


def instructions(task: FlipFlop, split: str) -> Counter[int]:
    batch = task.batch("train" if split == "train" else "test", 102, 60, torch.Generator().manual_seed(0))
    for ids, _ in real_rows(batch):
        assert (ids[0], ids[-1]) == (0, 2)
    return Counter(batch.ids[:, 2:-1:2].flatten().tolist())


def test_instructions_are_drawn_as_asked_and_test_rows_may_have_another_share() -> None:
    task = FlipFlop(0.8, test_ignore=0.1)
    for split, ignored in (("train", 0.8), ("test", 0.1)):
        counted = instructions(task, split)
        for instruction, share in ((0, (1 - ignored) / 2), (1, ignored), (2, (1 - ignored) / 2)):
            assert counted[instruction] / 6000 == pytest.approx(share, abs=0.03)


def test_chance_is_a_half() -> None:
    assert FlipFlop.chance == pytest.approx(best_guess(rows_of(FlipFlop(0.2), 9, 3000)), abs=0.03)


def test_bad_options_are_refused() -> None:
    for bad in ({"ignore": 1.5}, {"test_ignore": -0.1}, {"ignore": "most"}):
        with pytest.raises(GnomonError, match=f"takes {next(iter(bad))} as a number from 0 to 1"):
            FlipFlop(**bad)  # type: ignore[arg-type]
