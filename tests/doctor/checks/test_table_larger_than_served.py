"""PE611: bytes of fixed tables."""

import torch
from torch import nn

from tests.helpers.gallery_deployment import BufferedAngles, ComputedAngles, Turned
from tests.helpers.toys import examine


def test_bytes_are_counted_and_compared_with_what_is_served() -> None:
    result = examine("PE611", Turned(BufferedAngles(rows=262_144)), lengths=[32_768, 5])
    assert [f.measured["bytes"] for f in result.findings] == [262_144 * 4 * 4] * 2
    assert [f.measured["needed"] for f in result.findings] == [32_768 * 4 * 4] * 2


def test_without_lengths_it_is_what_ddp_sends() -> None:
    result = examine("PE611", Turned(BufferedAngles(rows=131_072)))
    assert result.severity == "note"
    assert all("DDP sends all of it" in f.message for f in result.findings)


def test_tables_in_use_and_small_ones_pass() -> None:
    assert examine("PE611", Turned(BufferedAngles(rows=131_072)), lengths=[100_000]).status == "passed"
    assert examine("PE611", Turned(BufferedAngles(rows=60_000))).status == "passed"


def test_statistics_that_ranks_share_are_no_tables() -> None:
    model = Turned(BufferedAngles())
    model.register_buffer("running_mean", torch.zeros(1024, 1024))
    assert examine("PE611", model).status == "passed"


def test_a_model_without_buffers_is_not_judged() -> None:
    model: nn.Module = Turned(ComputedAngles())
    assert examine("PE611", model).detail == "the model has no buffers"
