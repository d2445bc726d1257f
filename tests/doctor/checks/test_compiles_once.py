"""PE615: graphs that torch.compile makes."""

import torch
from torch import nn

from tests.gallery.export.compile_01_table_refreshed_in_the_forward import Refreshed
from tests.gallery.export.compile_03_length_as_a_guard import KeepsLength
from tests.helpers.gallery_deployment import BufferedAngles, Turned
from tests.helpers.subjects import value
from tests.helpers.toys import ToyDecoder, examine, only_finding


def test_a_value_that_is_read_in_the_forward_breaks_the_graph() -> None:
    finding = only_finding(examine("PE615", Turned(Refreshed())))
    assert finding.measured["graphs"] >= 2
    assert "torch.compile breaks it into" in finding.message


def test_a_length_in_python_compiles_for_each() -> None:
    finding = only_finding(examine("PE615", Turned(KeepsLength())))
    assert finding.measured["graphs"] >= 5


def test_one_graph_and_one_more_with_the_length_open_pass() -> None:
    for model in (Turned(BufferedAngles()), ToyDecoder()):
        result = examine("PE615", model)
        assert result.status == "passed", result.findings
        assert value(result, "graphs at one length") == 1


def test_nothing_of_it_stays_behind() -> None:
    model: nn.Module = Turned(BufferedAngles())
    examine("PE615", model)
    assert not torch._dynamo.utils.counters["graph_break"]
    assert type(model) is Turned


def test_five_lengths_are_needed() -> None:
    result = examine("PE615", (ToyDecoder(rows=8), (torch.zeros(2, 5, dtype=torch.int64),)))
    assert (result.status, "five lengths are needed" in result.detail) == ("not-applicable", True)
