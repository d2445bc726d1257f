"""Flags of llama.cpp that bring about a wanted scaling, as edits of the metadata that they stand in for."""

from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.resolving.given import Given
from gnomon.resolving.readers.llama_cpp.converter import converted
from gnomon.resolving.readers.llama_cpp.general import ORIGINAL
from gnomon.resolving.readers.llama_cpp.metadata import architecture_of
from gnomon.resolving.readers.llama_cpp.runtime import BETA_FLAGS
from gnomon.resolving.readers.serving.edits import edited, typed
from gnomon.resolving.reading import Remedy, Wanted
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.formulas import magnitude
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.longrope import longrope_magnitude
from gnomon.resolving.rules.numbers import finite
from gnomon.resolving.rules.scaling import Scaled
from gnomon.resolving.rules.yarn import transformers_magnitude
from gnomon.resolving.stopping import NoSuchModel, StackStops

YARN_OVER = "rope.scaling.original_context_length"


def remedies_for(given: Given, wanted: Wanted) -> Iterator[Remedy]:
    """The easiest first: flags, then metadata overridden, then the config edited before it is converted."""
    file, first = as_file(given), ""
    if file is None and (file := as_file(given, new_form=False)) is not None:
        first = "convert with transformers 4 installed"
        yield Remedy(first, file)
    if file is not None and file.metadata is not None:
        yield from _served(file, wanted, f"{first}, then " if first else "")
    if given.config is not None and wanted.rule == "llama3" and wanted.original:
        keys = {ORIGINAL: wanted.original}
        yield Remedy(f"edit config.json before converting: add {typed(given, keys)}", edited(given, keys))


def _served(file: Given, wanted: Wanted, first: str) -> Iterator[Remedy]:
    architecture = architecture_of(file.metadata or {})
    flags, edits = _flags(wanted)
    if flags:
        changed = file.edited({f"{architecture}.{name}": value for name, value in edits.items()})
        yield Remedy(f"{first}llama-server {flags} -c {wanted.cap}", changed)
    yield from _overridden(file, architecture, wanted, f"{first}llama-server")
    if flags:
        yield from _overridden(changed, architecture, wanted, f"{first}llama-server {flags}")


def as_file(given: Given, *, new_form: bool = True) -> Given | None:
    """The GGUF file, or the one that the converter would make; None where it ends with an error."""
    if given.metadata is not None:
        return given
    try:
        writer = converted(Keys(given.config or {}), new_form=new_form)
    except (StackStops, NoSuchModel):
        return None
    return Given(f"{given.name}, converted", metadata=writer.metadata, factors=writer.factors)


def _flags(wanted: Wanted) -> tuple[str, Mapping[str, Any]]:
    base = {"rope.freq_base": wanted.base}
    over = f"--rope-freq-base {wanted.base:.12g}"
    if wanted.rule == "default":
        return f"--rope-scaling none {over}", {**base, "rope.scaling.type": "none"}
    scaled = {**base, "rope.scaling.type": wanted.rule, "rope.scaling.factor": wanted.factor}
    if wanted.rule == "linear" and wanted.factor:
        return f"--rope-scaling linear --rope-scale {wanted.factor:g} {over}", scaled
    if wanted.rule == "yarn" and wanted.factor and wanted.original:
        length = f"--yarn-orig-ctx {wanted.original}"
        flags = f"--rope-scaling yarn --rope-scale {wanted.factor:g} {length} {over}"
        betas = _betas(wanted)
        typed_betas = "".join(f" {flag} {value:g}" for flag, value in betas.items())
        return flags + typed_betas, {**scaled, YARN_OVER: wanted.original, **betas}
    return "", {}


def _betas(wanted: Wanted) -> dict[str, float]:
    """The flags for the ends of the ramp, where they are not 32 and 1."""
    block = wanted.block or {}
    given = [block.get(name) or usual for name, usual in (("beta_fast", 32.0), ("beta_slow", 1.0))]
    if given == [32, 1] or not all(finite(value) for value in given):
        return {}
    return {flag: float(value) for flag, value in zip(BETA_FLAGS, given, strict=True)}


def _overridden(file: Given, architecture: str, wanted: Wanted, before: str) -> Iterator[Remedy]:
    """rope.scaling.attn_factor multiplies cos and sin whatever else is on."""
    aim = _magnitude(wanted)
    if aim is None or file.metadata is None:
        return
    own = 1.0
    if wanted.rule == "yarn" and wanted.factor:
        own = magnitude(wanted.factor)
    key, value = f"{architecture}.rope.scaling.attn_factor", float(f"{aim / own:.9g}")
    text = f"{before} --override-kv {key}=float:{value:.9g} -c {wanted.cap}"
    yield Remedy(text, file.edited({key: value}))


def _magnitude(wanted: Wanted) -> float | None:
    """What transformers 5 multiplies cos and sin by."""
    block = Keys(wanted.block or {})
    try:
        if wanted.rule == "yarn" and wanted.factor:
            return transformers_magnitude(wanted.factor, block)
        if wanted.rule == "longrope" and wanted.original:
            over = Scaled(wanted.base, wanted.rotary_dim, float(wanted.cap), float(wanted.original))
            return longrope_magnitude(over, block, Choices(longrope_ratio="factor or lengths"))
    except StackStops:
        return None
    return None
