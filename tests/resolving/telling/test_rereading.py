"""A stack read again without some keys; what breaks in one reader is told and spoils nothing."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, final

import numpy as np
import pytest

from gnomon.resolving import resolve
from gnomon.resolving.columns import Compared, column
from gnomon.resolving.given import Given
from gnomon.resolving.lengths import lengths_for
from gnomon.resolving.reading import Reading, Remedy, Wanted
from gnomon.resolving.rules.angles import Angles, Growing
from gnomon.resolving.stack import Stack, Version
from gnomon.resolving.stopping import StackStops
from gnomon.resolving.telling.mending import mended
from gnomon.resolving.telling.rereading import BROKE, ReaderBroke, reading_of, rereader
from gnomon.resolving.telling.words import sentences
from tests.helpers.small_stacks import GPT_OSS, PLAIN, Small, small

GIVEN = Given("a config", config=GPT_OSS)
LENGTHS = lengths_for(GIVEN)


@final
class Broken(Stack):
    """Version 1 breaks while it reads; version 2 stops only when it is asked for angles beyond 4096 tokens."""

    name: ClassVar[str] = "broken"
    title: ClassVar[str] = "a broken stack"
    versions: ClassVar[tuple[Version, ...]] = (Version("1", "always", PLAIN), Version("2", "always", PLAIN))
    sources: ClassVar[str] = "this file"

    def read(self, given: Given, version: Version, served: int | None) -> Reading:
        if version.name == "1":
            raise ZeroDivisionError("by\nzero")
        reading = Small().read(given, Small.version("obeys"), served)
        growing = replace(reading.layers[0], schedule=Growing(_grown, 4096, "sequence", "w"))
        return replace(reading, layers=(growing,))


@final
class Fragile(Stack):
    """Rounds the ramp, and breaks on a file with the key `sing`, which the small stack's first remedy adds."""

    name: ClassVar[str] = "fragile"
    title: ClassVar[str] = "a fragile stack"
    versions: ClassVar[tuple[Version, ...]] = (Version("1", "always", PLAIN),)
    sources: ClassVar[str] = "this file"

    def read(self, given: Given, version: Version, served: int | None) -> Reading:
        if given.config and given.config.get("sing"):
            raise RuntimeError("sing")
        _ = (given.config or {})["rope_theta"]
        return Small().read(given, Small.version("rounds"), served)

    def remedies(self, given: Given, wanted: Wanted) -> Iterator[Remedy]:
        yield from Small().remedies(given, wanted)


@final
class Hasty(Stack):
    """Its remedies break."""

    name: ClassVar[str] = "hasty"
    title: ClassVar[str] = "a hasty stack"
    versions: ClassVar[tuple[Version, ...]] = (Version("1", "always", PLAIN),)
    sources: ClassVar[str] = "this file"

    def read(self, given: Given, version: Version, served: int | None) -> Reading:
        return Small().read(given, Small.version("rounds"), served)

    def remedies(self, given: Given, wanted: Wanted) -> Iterator[Remedy]:
        raise ZeroDivisionError("of the remedy")


def _grown(length: float) -> Angles:
    if length > 4096:
        raise StackStops("no base beyond 4096")
    return Angles(np.ones(32))


def test_a_reader_that_breaks_says_so_and_is_not_absent() -> None:
    found = reading_of((Broken(), Broken.versions[0]), GIVEN, LENGTHS)
    assert found.broken == f"{BROKE}: ZeroDivisionError: by"
    assert (found.absent, found.refusal, found.serves, found.layers) == ("", "", False, ())
    compared = Compared((Broken(), Broken.versions[0]), found, found, LENGTHS)
    assert (compared.verdict, column(compared).status, column(compared).message) == ("broken", "broken", found.broken)
    assert sentences(compared, None, None) == (f"broken (by reading): {BROKE}: ZeroDivisionError: by.",)


def test_a_reader_that_breaks_on_an_edit_is_no_quiet_failure_of_a_remedy() -> None:
    fragile = (Fragile(), Fragile.versions[0])
    lengths = lengths_for(GIVEN)
    compared = Compared(
        fragile, reading_of(fragile, GIVEN, lengths), reading_of(small("obeys"), GIVEN, lengths), lengths
    )
    assert compared.verdict == "differs"
    with pytest.raises(ReaderBroke, match="RuntimeError: sing"):
        mended(compared, GIVEN)
    with pytest.raises(ReaderBroke, match="KeyError"):
        rereader(fragile, GIVEN, LENGTHS)(frozenset({"rope_theta"}))
    hasty = replace(compared, pair=(Hasty(), Hasty.versions[0]))
    with pytest.raises(ReaderBroke, match="ZeroDivisionError: of the remedy"):
        mended(hasty, GIVEN)


def test_angles_that_do_not_exist_at_a_compared_length_stop_the_stack() -> None:
    found = reading_of((Broken(), Broken.versions[1]), GIVEN, LENGTHS)
    assert found.refusal == "no base beyond 4096"
    assert not found.layers
    short = lengths_for(GIVEN, served=4096)
    assert reading_of((Broken(), Broken.versions[1]), GIVEN, short).serves


def test_each_set_of_keys_is_read_once() -> None:
    again = rereader(small("obeys"), GIVEN, LENGTHS)
    without = again(frozenset({"rope_scaling.rope_type"}))
    assert without.layers[0].rule == "default"
    assert again(frozenset({"rope_scaling.rope_type"})) is without
    assert again(frozenset()).layers[0].rule == "yarn"


@pytest.mark.parametrize(
    ("stack", "block"),
    [
        ("vllm", {"rope_type": "linear", "type": [], "factor": 2.0}),
        ("vllm", {"rope_type": "linear", "type": {"a": 1}, "factor": 2.0}),
        ("trt-llm", {"rope_type": "linear", "factor": 1e308}),
    ],
)
def test_values_that_no_set_or_number_holds_break_no_reader(stack: str, block: dict[str, Any]) -> None:
    config = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 2, "max_position_embeddings": 128}
    column = resolve({**config, "rope_scaling": block}, stacks=f"{stack}@all").columns[-1]
    assert column.status == "stops"
