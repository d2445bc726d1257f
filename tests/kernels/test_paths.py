"""A path is forced inside a block, in its own thread, and only by a name that exists."""

from threading import Thread

import pytest

from gnomon.errors import UnknownNameError
from gnomon.kernels.paths import Choice


def test_a_path_is_forced_inside_the_block_only_and_blocks_nest() -> None:
    choice = Choice("an operation", ("a", "b"))
    with choice.using("a"):
        with choice.using("b"):
            assert choice.forced == "b"
        assert choice.forced == "a"
    assert choice.forced is None


def test_an_error_ends_the_forcing_too() -> None:
    choice = Choice("an operation", ("a",))
    with pytest.raises(RuntimeError), choice.using("a"):
        raise RuntimeError
    assert choice.forced is None


def test_another_thread_chooses_for_itself() -> None:
    choice, seen = Choice("an operation", ("a",)), ["nothing"]
    with choice.using("a"):
        thread = Thread(target=lambda: seen.__setitem__(0, str(choice.forced)))
        thread.start()
        thread.join()
    assert seen == ["None"]


def test_an_unknown_path_is_an_error_that_lists_those_there_are() -> None:
    with (
        pytest.raises(UnknownNameError, match=r"paths of an operation are a, b, got 'c'"),
        Choice("an operation", ("a", "b")).using("c"),
    ):
        pass
