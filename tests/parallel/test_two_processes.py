"""Several processes against one: two of them, started by torchrun, do all checks in one launch; each test reads one.

Errors are greatest differences in float32, relative to the largest number or to 1.
"""

from typing import Any

import pytest

from tests.helpers.reporting_child import found_by
from tests.helpers.two_processes import CHECKS

LAUNCH = ("-m", "torch.distributed.run", "--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:0", "--local-addr=127.0.0.1")
LIMIT = 1e-6

Measured = dict[str, dict[str, Any]]


def named(start: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", [name for name in CHECKS if name.startswith(f"{start}-")])


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    file = tmp_path_factory.mktemp("processes") / "measured.json"
    words = [*LAUNCH, "--nproc-per-node=2", "-m", "tests.helpers.two_processes", str(file)]
    result: Measured = found_by(words, file)
    return result


def errors(found: dict[str, Any]) -> dict[str, float]:
    return {what: value for what, value in found.items() if isinstance(value, float)}


@named("heads")
def test_heads_on_two_ranks_are_the_whole(measured: Measured, name: str) -> None:
    found = dict(measured[name])
    assert found.pop("parameters", 0.5) < 1.0
    assert {what: value for what, value in errors(found).items() if not value <= LIMIT} == {}


@pytest.mark.parametrize("name", ["heads-t5", "heads-alibi", "heads-transformer_xl", "heads-kerple", "heads-rotary-4"])
def test_a_rank_holds_half_of_what_heads_do_not_share(measured: Measured, name: str) -> None:
    assert measured[name]["parameters"] == pytest.approx(0.5, abs=0.005)


def test_a_cache_holds_the_key_heads_of_the_rank(measured: Measured) -> None:
    assert measured["heads-cache"]["key heads"] == 2


@pytest.mark.parametrize("name", ["heads-model-t5", "heads-model-fire"])
def test_layers_that_share_an_encoding_share_its_part(measured: Measured, name: str) -> None:
    assert measured[name]["encodings"] == 1


def test_what_layers_share_stays_shared(measured: Measured) -> None:
    assert measured["heads-tied"]["parameters more"] == 0


def test_a_model_is_made_parallel_once(measured: Measured) -> None:
    found = measured["once"]
    assert found["refused"] == ["Decoder holds 2 HeadParallelAttention already"] * 4
    assert found["loss changed"] == 0.0


def test_a_process_outside_the_group_is_told_so(measured: Measured) -> None:
    assert measured["outside"]["refused"] == [
        "A group is a torch.distributed.ProcessGroup of this process, or None, got int.",
    ]


@named("rows")
def test_rows_spread_over_two_ranks_are_the_whole(measured: Measured, name: str) -> None:
    assert {what: value for what, value in errors(measured[name]).items() if not value <= LIMIT} == {}


@named("copies")
def test_two_copies_train_as_one_process_does_on_the_whole_batch(measured: Measured, name: str) -> None:
    found = measured[name]
    assert {what: value for what, value in errors(found).items() if not value <= LIMIT} == {}
    assert found["buffers"] == 0
    assert found["bytes broadcast"] == found["bytes of parameters"] > 0


@named("docs")
def test_what_the_page_shows_is_the_whole(measured: Measured, name: str) -> None:
    assert {what: value for what, value in errors(measured[name]).items() if not value <= LIMIT} == {}


def test_torchs_shards_of_tokens_and_positions_are_zigzag_shards(measured: Measured) -> None:
    assert measured["torch-shards"]["positions"] is True
    assert measured["torch-shards"]["output"] <= LIMIT


def test_torchs_own_attention_on_shards_has_no_cpu_form(measured: Measured) -> None:
    assert "does not have a sharding strategy" in measured["torch-attention"]["refused"]
