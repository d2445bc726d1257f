"""The encodings that rotate keep the contract whichever path turns their vectors."""

from collections import Counter
from functools import cache

import pytest

from gnomon.testing import check_encoding
from tests.helpers.case import Case
from tests.helpers.encodings import cases
from tests.helpers.rotation_paths import preferring, runnable

ROTATING = ("rotary", "xpos", "axial_rotary", "mixed_rotary", "mrope")


LAYOUTS = {"addcmul": ("half",), "complex": ("interleaved",)}


@cache
def rotating() -> list[Case]:
    """Of each encoding and layout the first set of options."""
    found: dict[tuple[object, ...], Case] = {}
    for item in cases():
        if item.name.split("-")[0] in ROTATING:
            found.setdefault((type(item.encoding), item.encoding.options["layout"]), item)
    return list(found.values())


@pytest.mark.parametrize("path", runnable())
@pytest.mark.usefixtures("unchecked")  # shapes are checked at run time in the other tests, at ten times the price
def test_rotating_encodings_keep_the_contract_on_every_path(path: str) -> None:
    """A path stands aside where it cannot serve, as for float64; that it served the rest is counted."""
    served: Counter[str] = Counter()
    for item in rotating():
        if item.encoding.options["layout"] in LAYOUTS.get(path, ("half", "interleaved")):
            with preferring(path) as count:
                check_encoding(item.encoding, reference=item.reference)
            served += count
    assert served[path] > 100, served


def test_every_rotating_encoding_is_among_them() -> None:
    assert {item.name.split("-")[0] for item in rotating()} == set(ROTATING)
    assert {item.encoding.options["layout"] for item in rotating()} == {"half", "interleaved"}
