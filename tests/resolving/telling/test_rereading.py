"""A stack read again without some keys; what breaks in one reader is told and spoils nothing."""

from dataclasses import replace
from typing import ClassVar, final

import numpy as np

from gnomon.resolving.given import Given
from gnomon.resolving.lengths import lengths_for
from gnomon.resolving.reading import Reading
from gnomon.resolving.rules.angles import Angles, Growing
from gnomon.resolving.stack import Stack, Version
from gnomon.resolving.stopping import StackStops
from gnomon.resolving.telling.rereading import BROKE, reading_of, rereader
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


def _grown(length: float) -> Angles:
    if length > 4096:
        raise StackStops("no base beyond 4096")
    return Angles(np.ones(32))


def test_a_reader_that_breaks_is_absent_with_what_it_said() -> None:
    found = reading_of((Broken(), Broken.versions[0]), GIVEN, LENGTHS)
    assert found.absent == f"{BROKE}: ZeroDivisionError: by"
    assert not found.layers


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
