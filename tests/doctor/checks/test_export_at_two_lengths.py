"""PE614: exports at one length, run at others."""

import pytest
from torch import nn

from tests.gallery.export.export_01_polar import ComplexLayer
from tests.gallery.export.export_05_positions_of_the_example import FromPython
from tests.helpers.gallery_deployment import BufferedAngles, ComputedAngles, Turned
from tests.helpers.toys import examine, only_finding


def test_positions_of_the_example_are_found_at_the_other_length() -> None:
    finding = only_finding(examine("PE614", Turned(FromPython())))
    assert (finding.measured["length"], finding.measured["batch"]) == (9, 2)


@pytest.mark.parametrize("rotary", [ComputedAngles, BufferedAngles])
def test_tables_and_angles_of_the_input_s_length_pass(rotary: type[nn.Module]) -> None:
    result = examine("PE614", Turned(rotary()))
    assert result.status == "passed", result.findings
    assert [float(m.value) < 1e-4 for m in result.measured] == [True] * 3


def test_complex_numbers_cannot_be_exported() -> None:
    result = examine("PE614", Turned(BufferedAngles(), layer=ComplexLayer))
    if result.status == "failed":  # exporters learn: what matters is that the graph is right when there is one
        assert result.severity == "warning"
        assert "cannot be exported to ONNX" in result.findings[0].message
    else:
        assert result.status == "passed"


def test_it_runs_only_when_asked_for() -> None:
    from gnomon.doctor.check import registry

    assert registry.get("PE614").heavy
