"""Published configs, each extended to twice its length: what the stacks' readers make of the result."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from gnomon.errors import GnomonError
from gnomon.extending.plan import with_edits
from gnomon.extending.rotary.composing import Composed, composed
from gnomon.extending.rotary.lengths import lengths_of
from gnomon.extending.rotary.reading import read_rotary
from gnomon.extending.rotary.writing import rotary_plan
from gnomon.report.resolved.document import Column
from gnomon.report.resolved.layers import Layer
from gnomon.resolving.gallery import gallery
from gnomon.resolving.given import Given
from gnomon.resolving.lints import lints_of
from gnomon.resolving.reading import ALL, TURNING
from gnomon.resolving.resolution import resolve

REFUSED = {"gpt-j-6b", "command-r", "hunyuan-dense", "llama-2-7b-linear"}
CONFIGS = {entry.name: entry.config for entry in gallery()}
FLOAT32 = 2e-6


def _extended(config: Mapping[str, Any], method: str = "auto") -> tuple[dict[str, Any], Composed]:
    rotary = read_rotary(config)
    assert rotary is not None
    now = lengths_of(rotary, 2**30).now
    made = composed(rotary, lengths_of(rotary, 2 * now), method)
    return with_edits(config, rotary_plan(rotary, made).config), made


@pytest.mark.parametrize("name", sorted(CONFIGS.keys() - REFUSED))
def test_transformers_turns_each_layer_as_was_composed(name: str) -> None:
    config, made = _extended(CONFIGS[name])
    to, original = made.lengths.to, made.lengths.original
    before, after = (_column(each, original, to) for each in (CONFIGS[name], config))
    compared = 0
    for held, scaled in made.layers:
        layer, old = _layer(after, held.kind), _layer(before, held.kind)
        if not layer.rotary_dim:
            continue
        rule = None if scaled is None else scaled.frequencies(original).at_length(to)
        wanted = _frequencies(old, to) if rule is None else rule.inverse(held.rotary_dim)
        np.testing.assert_allclose(_frequencies(layer, to), wanted, rtol=FLOAT32)
        usual = _magnitude(old, to) if rule is None else rule.attention_factor
        assert _magnitude(layer, to) == pytest.approx(usual, rel=1e-9)
        compared += 1
    assert compared == sum(layer.rotary_dim > 0 for layer in after.layers)


def _column(config: Mapping[str, Any], *lengths: int) -> Column:
    column = resolve(config, stacks="hf5", lengths=lengths, served=max(lengths)).column("hf5")
    assert column.status == "serves", column.message
    return column


def _layer(column: Column, kind: str | None) -> Layer:
    named = {layer.kind: layer for layer in column.layers}
    return named[next(each for each in (kind, ALL, TURNING) if each in named)]


def _frequencies(layer: Layer, length: int) -> np.ndarray:
    [found] = [held.inverse for held in layer.frequencies if length in held.lengths]
    return np.array(found, dtype=float)


def _magnitude(layer: Layer, length: int) -> float | None:
    [scale] = [scale.magnitude for scale in layer.scales if scale.length == length]
    return scale


@pytest.mark.parametrize("name", sorted(CONFIGS.keys() - REFUSED))
def test_no_new_fault_is_found_in_the_file(name: str) -> None:
    config, _ = _extended(CONFIGS[name])
    old, new = ({lint.code for lint in lints_of(Given(name, config=c))} for c in (CONFIGS[name], config))
    assert new <= old


@pytest.mark.parametrize("name", ["llama-2-7b", "mistral-nemo", "codellama-7b"])
def test_a_larger_base_is_read_alike_by_every_stack_that_has_the_model(name: str) -> None:
    config, made = _extended(CONFIGS[name], "ntk")
    verdicts = {column.verdict for column in resolve(config, served=made.lengths.to).columns}
    assert verdicts <= {"reference", "equal", "absent"}


@pytest.mark.parametrize("name", ["llama-3.1-8b", "qwen3-8b-yarn", "qwen3-8b-saved-by-v5", "gemma-3-4b", "deepseek-v3"])
def test_both_versions_of_transformers_and_readers_of_their_files_agree(name: str) -> None:
    config, made = _extended(CONFIGS[name])
    found = resolve(config, stacks="hf5,hf4,vllm,sglang,llama.cpp,mlx-lm,exllama3", served=made.lengths.to)
    assert {column.stack for column in found.columns if column.verdict not in ("reference", "equal")} == set()
    assert found.column("vllm").cap == made.lengths.to


def test_longrope_has_its_original_length_where_older_readers_look() -> None:
    config, made = _extended(CONFIGS["llama-2-7b"], "longrope")
    found = resolve(config, stacks="hf4,exllama2,tgi", served=made.lengths.to)
    assert found.column("hf4").verdict == "equal"
    assert {found.column(name).status for name in ("exllama2", "tgi")} == {"serves"}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_a_config_leaves_open_is_asked_and_not_guessed(name: str) -> None:
    with pytest.raises(GnomonError):
        _extended(CONFIGS[name])
