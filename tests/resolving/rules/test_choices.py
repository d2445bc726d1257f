"""Every choice of every stack is read: another value in its place changes what the stack makes of some file."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

from gnomon.errors import GnomonError
from gnomon.resolving.given import Given
from gnomon.resolving.reading import Reading
from gnomon.resolving.rules.choices import Choices, chosen, known
from gnomon.resolving.stack import Stack, Version, registry
from gnomon.resolving.stopping import StackStops

BASE = {"hidden_size": 256, "num_attention_heads": 4, "max_position_embeddings": 4096, "rope_theta": 10000.0}
LATENT = {"qk_rope_head_dim": 64, "qk_nope_head_dim": 64, "kv_lora_rank": 64, "v_head_dim": 64}
LISTS = {"short_factor": [1 + i / 10 for i in range(32)], "long_factor": [2 + i / 3 for i in range(32)]}
YARN = {"factor": 4.0, "original_max_position_embeddings": 1100}
#: one block for each rule that is chosen
BLOCKS: tuple[dict[str, Any], ...] = (
    {"rope_type": "yarn", **YARN, "truncate": False},
    {"rope_type": "yarn", **YARN, "mscale": 1.3, "mscale_all_dim": 0.7, "attn_factor": 1.2},
    {"type": "yarn", **YARN, "attention_factor": 1.7, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": True},
    {"rope_type": "linear", "type": "yarn", **YARN},
    {"rope_type": "dynamic", "factor": 4.0, "alpha": 9.0},
    {"rope_type": "dynamic", "factor": 4.0},
    {"type": "dynamic", "factor": 4.0},
    {"type": "longrope", "rope_type": "longrope", **LISTS, "factor": 3.0, "original_max_position_embeddings": 1100},
    {"type": "longrope", **LISTS, "original_max_position_embeddings": 1100},
    {"rope_type": "weird", "factor": 4.0},
    {"type": "weird", "factor": 4.0},
    {"rope_type": "linear", "factor": 4.0},
)
LENGTHS = (1, 1500, 9000)


@cache
def files() -> tuple[Given, ...]:
    models = {"llama": {}, "qwen2": {}, "phi3": {"original_max_position_embeddings": 1100}, "deepseek_v3": LATENT}
    return tuple(
        Given("made", config={**BASE, "model_type": name, **more, **({block_key: block} if block_key else {})})
        for name, more in models.items()
        for block_key, block in (
            *(("rope_scaling", block) for block in BLOCKS),
            ("rope_parameters", {"rope_type": "linear", "rope_theta": 5e5, "factor": 2.0}),
            ("", {}),
        )
    )


def facts(reading: Reading) -> list[Any]:
    """What is compared: whether and how it ends, kinds, and angles at three lengths."""
    found: list[Any] = [reading.refusal, reading.absent]
    for layer in reading.layers:
        found += [layer.rule, layer.rotary_dim, layer.base, layer.softmax, layer.permuted]
        for length in LENGTHS:
            angles = layer.schedule.at(length, 9000)
            first = layer.schedule.of_token(0, length, 9000)
            found += [angles.magnitude, angles.inverse.tobytes(), first.inverse.tobytes()]
    return found


def read_all(stack: Stack, version: Version) -> Iterator[list[Any]]:
    with np.errstate(all="ignore"):
        for given in files():
            try:
                yield facts(stack.reading(given, version, 9000))
            except GnomonError as error:
                yield [str(error)]


@cache
def as_it_is(stack: type[Stack], name: str) -> list[list[Any]]:
    return list(read_all(stack(), stack.version(name)))


def matters(stack: type[Stack], version: Version, others: list[Version]) -> bool:
    now = as_it_is(stack, version.name)
    return any(any(one != new for one, new in zip(now, read_all(stack(), each), strict=True)) for each in others)


def changed(version: Version, name: str) -> list[Version]:
    held = getattr(version.choices, name)
    literal = next(kind for kind in get_args(get_type_hints(Choices)[name]) if kind is not type(None))
    others = [value for value in get_args(literal) if value != held]
    return [replace(version, choices=replace(version.choices, **{name: value})) for value in others]


NAMED = [
    pytest.param(stack, version, field.name, id=f"{name}-{version.name}-{field.name}")
    for name, stack in registry
    for version in stack.versions
    for field in fields(Choices)
    if getattr(version.choices, field.name) is not None
]
OWN = [
    pytest.param(stack, version, id=f"{name}-{version.name}")
    for name, stack in registry
    for version in stack.versions
    if version.own is not None
]


@pytest.mark.parametrize(("stack", "version", "name"), NAMED)
def test_a_choice_that_is_named_is_read(stack: type[Stack], version: Version, name: str) -> None:
    assert matters(stack, version, changed(version, name)), f"nobody reads {name}"


@pytest.mark.parametrize(("stack", "version"), OWN)
def test_what_only_one_reader_knows_is_read(stack: type[Stack], version: Version) -> None:
    own: Any = version.own
    if isinstance(own, Enum):
        others = [replace(version, own=other) for other in type(own) if other is not own]
    else:
        assert is_dataclass(own)
        assert not isinstance(own, type)
        flags = [field.name for field in fields(own) if isinstance(getattr(own, field.name), bool)]
        others = [replace(version, own=replace(own, **{name: not getattr(own, name)})) for name in flags]
        others = others or [replace(version, own=other.own) for other in stack.versions if other is not version]
    assert others
    for other in others:
        assert matters(stack, version, [other])


def test_the_versions_of_a_stack_differ_in_what_they_choose() -> None:
    for name, stack in registry:
        rows = [(version.choices, version.own) for version in stack.versions]
        assert all(rows.index(row) == number for number, row in enumerate(rows)), name


def test_a_choice_that_is_missing_is_a_fault_of_the_row() -> None:
    with pytest.raises(GnomonError, match="asks for dynamic, which the choices of its stack leave out"):
        chosen(Choices().dynamic, "dynamic")
    with pytest.raises(GnomonError, match="holds no dict"):
        Version("x", "always").rules(dict)


def test_what_comes_of_a_kind_that_is_not_known() -> None:
    kinds = {"default": ("default", 0), "su": ("longrope", 1)}
    assert known(kinds, "su", Choices()) == ("longrope", 1)
    for kind in ("weird", None, 3):
        assert known(kinds, kind, Choices(unknown="plain")) == ("default", 0)
        with pytest.raises(StackStops, match="KeyError"):
            known(kinds, kind, Choices(unknown="error"), "KeyError")
