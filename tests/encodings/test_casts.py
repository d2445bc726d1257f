"""No cast, copy, file or shard touches a table: what a model's encoding computes stays that of a new float32 one."""

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch

from gnomon.encodings.base import registry
from gnomon.models import Decoder
from tests.helpers.casts import call, differences, model_of
from tests.helpers.reporting_child import found_by
from tests.helpers.weights import redraw

NAMES = registry.names()


def halved(model: Decoder) -> Decoder:
    return model.half()


def in_bfloat16(model: Decoder) -> Decoder:
    return model.to(torch.bfloat16)


def there_and_back(model: Decoder) -> Decoder:
    return model.half().float()


def under_autocast(model: Decoder) -> Decoder:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        call(model)
    return model


def from_meta(model: Decoder) -> Decoder:
    with torch.device("meta"):
        empty = copy.deepcopy(model).to("meta")
    emptied = empty.to_empty(device="cpu")
    with torch.no_grad():
        for tensor in (*emptied.parameters(), *emptied.buffers()):  # memory may hold the right numbers by chance
            tensor.fill_(float("nan"))
    emptied.load_state_dict(model.state_dict())
    return emptied


def saved(model: Decoder) -> Decoder:
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    other = copy.deepcopy(model).to(torch.bfloat16)
    redraw(other, seed=4)
    other.load_state_dict(torch.load(file, weights_only=True))
    return other


def copied(model: Decoder) -> Decoder:
    return copy.deepcopy(model).to(torch.bfloat16)


def pickled(model: Decoder) -> Decoder:
    other: Decoder = pickle.loads(pickle.dumps(model))
    return other.half()


WAYS: dict[str, Callable[[Decoder], Decoder]] = {
    each.__name__: each
    for each in (halved, in_bfloat16, there_and_back, under_autocast, from_meta, saved, copied, pickled)
}


def broken(name: str, way: str) -> list[str]:
    """Where the encoding of a model that was used, then went this way, and then was used again, is not a new one."""
    model = model_of(name)
    call(model)
    other = WAYS[way](model)
    logits = call(other)
    assert logits.dtype == other.stack.embedding.words.weight.dtype
    assert logits.isfinite().all()
    return differences(other.encoding)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NAMES)
def test_the_encoding_is_that_of_float32(name: str, way: str) -> None:
    assert broken(name, way) == []


@pytest.mark.parametrize("way", ["halved", "in_bfloat16", "there_and_back", "from_meta", "saved", "copied", "pickled"])
def test_a_table_kept_as_a_buffer_is_found(way: str) -> None:
    assert "rotate_query" in broken("buffered", way)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_saved_are_parameters_and_nothing_that_was_computed(name: str) -> None:
    model = model_of(name)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    call(model)
    assert model.state_dict().keys() == before.keys() == dict(model.named_parameters(remove_duplicate=False)).keys()
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
    assert len(pickle.dumps(model)) == len(pickle.dumps(copy.deepcopy(model)))


@pytest.fixture(scope="module")
def sharded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    file = tmp_path_factory.mktemp("sharded") / "found.json"
    words = ["-m", "tests.helpers.sharded", str(file), *NAMES, "buffered"]
    found: dict[str, Any] = found_by(words, file)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_fsdp2_with_bfloat16_parameters_leaves_the_encoding_alone(sharded: dict[str, Any], name: str) -> None:
    assert sharded[name] == []


def test_a_buffer_that_was_never_sharded_nor_loaded_is_found(sharded: dict[str, Any]) -> None:
    assert sharded["buffered"] == ["rotate_query", "rotate_key"]
