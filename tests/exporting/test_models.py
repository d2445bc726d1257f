"""Whole models: the graph is the model, and takes the calls that a server makes."""

import json
from pathlib import Path

import onnx
import pytest
import torch
from torch import nn

import gnomon
from gnomon.encodings import ALiBi, Learned, PositionEncoding, Rotary, Sinusoidal, TransformerXL
from gnomon.errors import GnomonError
from gnomon.exporting import Exported, WrongExportError
from gnomon.exporting.options import ExportOptions
from gnomon.exporting.result import Case
from gnomon.exporting.target import graph_of
from gnomon.exporting.verifying import verify
from gnomon.models import Decoder, Encoder, ModelOptions, XLNet, XLNetOptions
from tests.helpers.hook_graphs import run, unchecked_annotations

ROWS = 24


def options(layers: int) -> ModelOptions:
    return ModelOptions(vocabulary=31, dim=16, num_layers=layers, num_heads=2, num_key_heads=1 if layers == 1 else None)


def redrawn(model: nn.Module) -> nn.Module:
    generator = torch.Generator().manual_seed(9)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.4, generator=generator)
    return model.eval()


def written(folder: Path, model: nn.Module, **given: object) -> tuple[nn.Module, Exported]:
    with unchecked_annotations():
        return model, gnomon.export(model, folder / "model.onnx", **given)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def decoder(tmp_path_factory: pytest.TempPathFactory) -> tuple[nn.Module, Exported]:
    model = redrawn(Decoder(options(1), encoding=Rotary(8)))
    return written(tmp_path_factory.mktemp("decoder"), model, max_length=ROWS)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> tuple[nn.Module, Exported]:
    """Two layers of one encoding, which is added once."""
    model = redrawn(Encoder(options(2), encoding=Learned(ROWS, 16, padding_offset=2)))
    return written(tmp_path_factory.mktemp("encoder"), model, opset=18)


@pytest.fixture(scope="module")
def xlnet(tmp_path_factory: pytest.TempPathFactory) -> tuple[nn.Module, Exported]:
    sizes = XLNetOptions(vocabulary=31, dim=16, num_layers=2, num_heads=2, feed_forward_dim=16)
    return written(tmp_path_factory.mktemp("xlnet"), redrawn(XLNet(sizes)), max_length=ROWS)


@pytest.fixture(scope="module")
def cached(tmp_path_factory: pytest.TempPathFactory) -> tuple[nn.Module, Exported]:
    layers: list[PositionEncoding] = [Rotary(8), ALiBi(2), TransformerXL(2, 8, dim=16)]
    model = redrawn(Decoder(options(3), encoding=layers))
    return written(tmp_path_factory.mktemp("cached"), model, max_length=64, cache=True)


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> tuple[nn.Module, Exported]:
    model = redrawn(Decoder(options(1), encoding=Rotary(8))).half()
    return written(tmp_path_factory.mktemp("half"), model, max_length=ROWS)


@pytest.mark.parametrize("name", ["decoder", "encoder", "xlnet", "cached"])
def test_the_graph_is_the_model_in_every_case_that_was_checked(name: str, request: pytest.FixtureRequest) -> None:
    _, exported = request.getfixturevalue(name)
    assert exported.ok
    assert exported.largest_difference < 1e-5
    assert {check.case.batch for check in exported.checks} == {1, 3}
    assert any(check.case.padding for check in exported.checks)
    assert len({check.case.length for check in exported.checks}) >= 2


@pytest.mark.parametrize(("batch", "length", "first", "padding"), [(1, 5, 0, 0), (2, 17, 7, 0), (3, 13, 2, 4)])
def test_a_decoder_gives_the_logits_of_the_model(
    decoder: tuple[nn.Module, Exported], batch: int, length: int, first: int, padding: int
) -> None:
    model, exported = decoder
    given = graph_of(model, None, ExportOptions()).draw(Case(batch, length, first=first, padding=padding), seed=3)
    [logits] = run(exported.path, given).values()
    expected = model(given["input_ids"], attention_mask=given["attention_mask"], positions=given["position_ids"])
    torch.testing.assert_close(logits, expected.detach(), atol=2e-5, rtol=1e-5)


def test_left_padding_changes_nothing_for_the_real_tokens(decoder: tuple[nn.Module, Exported]) -> None:
    _, exported = decoder
    ids = torch.tensor([[3, 1, 4, 1, 5]])
    alone = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "position_ids": torch.arange(5)[None]}
    padded = {name: nn.functional.pad(value, (3, 0)) for name, value in alone.items()}
    [first], [second] = (list(run(exported.path, given).values()) for given in (alone, padded))
    torch.testing.assert_close(second[:, 3:], first, atol=2e-5, rtol=1e-5)


@pytest.mark.parametrize("position", [-1, ROWS])
@pytest.mark.parametrize("name", ["decoder", "encoder"])
def test_a_position_that_the_model_lacks_is_an_error(name: str, position: int, request: pytest.FixtureRequest) -> None:
    _, exported = request.getfixturevalue(name)
    ids = torch.tensor([[3, 1, 4]])
    given = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "position_ids": torch.tensor([[0, 1, position]])}
    with pytest.raises(Exception, match="out of data bounds"):
        run(exported.path, given)


def test_decoding_with_the_cache_equals_one_pass_of_the_model(cached: tuple[nn.Module, Exported]) -> None:
    """A prompt padded on the left, a piece of three tokens, and single ones, in one graph."""
    model, exported = cached
    ids = torch.randint(0, 31, (2, 12), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    mask[0, :2] = 0
    positions = (mask.cumsum(1) - 1) * mask
    expected = model(ids, attention_mask=mask, positions=positions).detach()
    past = {port.name: torch.zeros(2, 2, 0, 8) for port in exported.inputs[3:]}
    parts = []
    for start, end in ((0, 6), (6, 9), (9, 10), (10, 11), (11, 12)):
        given = {
            "input_ids": ids[:, start:end],
            "attention_mask": mask[:, :end],
            "position_ids": positions[:, start:end],
        }
        results = run(exported.path, given | past)
        parts.append(results["logits"])
        past = {name: results[name.replace("past_key_values", "present")] for name in past}
    real = mask.bool()
    torch.testing.assert_close(torch.cat(parts, dim=1)[real], expected[real], atol=3e-5, rtol=1e-5)
    assert past["past_key_values.0.key"].shape == (2, 2, 12, 8)


def test_sizes_are_open_and_named(decoder: tuple[nn.Module, Exported], cached: tuple[nn.Module, Exported]) -> None:
    assert [(port.name, port.shape) for port in decoder[1].inputs] == [
        ("input_ids", ("batch", "sequence")),
        ("attention_mask", ("batch", "sequence")),
        ("position_ids", ("batch", "sequence")),
    ]
    shapes = {port.name: port.shape for port in cached[1].inputs}
    assert shapes["past_key_values.2.value"] == ("batch", 2, "past_sequence", 8)


def test_a_table_is_stored_once(xlnet: tuple[nn.Module, Exported], decoder: tuple[nn.Module, Exported]) -> None:
    for (_, exported), shape, count in ((xlnet, [2 * ROWS - 1, 16], 1), (decoder, [ROWS, 4], 2)):
        stored = onnx.load(str(exported.path)).graph.initializer
        assert [list(tensor.dims) for tensor in stored].count(shape) == count


def test_half_precision_keeps_tables_in_float32(half: tuple[nn.Module, Exported]) -> None:
    model, exported = half
    assert exported.ok
    assert exported.outputs[0].dtype == "float16"
    stored = {tuple(t.dims): t.data_type for t in onnx.load(str(exported.path)).graph.initializer}
    assert stored[ROWS, 4] == onnx.TensorProto.FLOAT
    assert stored[31, 16] == onnx.TensorProto.FLOAT16
    given = graph_of(model, None, ExportOptions()).draw(Case(2, 9, first=11), seed=3)
    [logits] = run(exported.path, given).values()
    precise = redrawn(Decoder(options(1), encoding=Rotary(8))).eval()
    expected = precise(given["input_ids"], positions=given["position_ids"]).detach()
    assert float((logits.float() - expected).abs().max() / expected.abs().max()) < 5e-3


def test_another_model_is_not_the_graph(decoder: tuple[nn.Module, Exported]) -> None:
    """The check sees one number of the encoding: the base of the frequencies."""
    model, exported = decoder
    other = Decoder(options(1), encoding=Rotary(8, frequencies={"kind": "plain", "base": 9000.0}))
    other.load_state_dict(model.state_dict())
    checks = verify(graph_of(other.eval(), None, ExportOptions()), exported.path, ExportOptions(lengths=(5, 9)))
    assert not any(check.ok for check in checks)


def test_a_graph_that_does_not_run_is_no_graph_of_the_model(encoder: tuple[nn.Module, Exported]) -> None:
    """The table has 24 rows; the same model with more would be asked for them."""
    longer = Encoder(options(2), encoding=Sinusoidal(16)).eval()
    checks = verify(graph_of(longer, None, ExportOptions()), encoder[1].path, ExportOptions(lengths=(5, 30)))
    assert "out of data bounds" in checks[1].failure
    assert not checks[1].ok


def test_a_wrong_graph_is_not_kept_unless_asked(
    decoder: tuple[nn.Module, Exported], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exporter hands over the graph of another model."""
    model, exported = decoder
    other = redrawn(Decoder(options(1), encoding=Rotary(8, layout="interleaved")))
    monkeypatch.setattr(
        "gnomon.exporting.exporter.trace", lambda _graph, _options, path: path.write_bytes(exported.path.read_bytes())
    )
    target = tmp_path / "model.onnx"
    target.write_text("what was there")
    with pytest.raises(WrongExportError, match=r"differs from the model by 0\.\d+ at 1 x 7; it is not kept") as raised:
        gnomon.export(other, target, max_length=ROWS)
    assert target.read_text() == "what was there"
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]
    assert not raised.value.exported.ok
    kept = gnomon.export(other, target, max_length=ROWS, keep=True)
    assert not kept.ok
    assert target.read_bytes() == exported.path.read_bytes()
    assert gnomon.export(other, target, max_length=ROWS, check=False).checks == ()
    assert model is not other


def test_the_model_and_its_encodings_stay_as_they_are(decoder: tuple[nn.Module, Exported]) -> None:
    model, _ = decoder
    assert isinstance(model.encoding, Rotary)
    assert not any("cos" in name for name, _ in model.named_buffers())


def test_json_has_what_was_measured(decoder: tuple[nn.Module, Exported]) -> None:
    found = json.loads(decoder[1].to_json())
    assert found["ok"] is True
    assert found["encodings"][0]["encoding"] == "Rotary"
    assert {check["length"] for check in found["checks"]} == {7, 19}
    assert all(check["difference"] < 1e-5 for check in found["checks"])


def test_weights_beyond_one_file_stand_in_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.onnx._internal.exporter._onnx_program._LARGE_MODEL_THRESHOLD", 100)
    model = redrawn(nn.Sequential(nn.Embedding(31, 16), nn.Linear(16, 16)))
    exported = gnomon.export(model, tmp_path / "model.onnx")
    assert exported.ok
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.onnx", "model.onnx.data"]
    [found] = run(tmp_path / "model.onnx", {"input": torch.tensor([[3, 1]])}).values()
    torch.testing.assert_close(found, model(torch.tensor([[3, 1]])).detach(), atol=1e-5, rtol=1e-5)


def test_too_few_positions_for_the_check_is_said(tmp_path: Path) -> None:
    model = Encoder(options(1), encoding=Learned(10, 16))
    with pytest.raises(GnomonError, match="The model has 10 positions, too few to check 19 tokens"):
        gnomon.export(model, tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []


def test_a_link_stays_a_link_and_its_file_is_replaced(
    decoder: tuple[nn.Module, Exported], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, exported = decoder
    graph = exported.path.read_bytes()
    monkeypatch.setattr("gnomon.exporting.exporter.trace", lambda _graph, _options, path: path.write_bytes(graph))
    (tmp_path / "there").mkdir()
    real, link = tmp_path / "there" / "real.onnx", tmp_path / "link.onnx"
    real.write_text("what was there")
    link.symlink_to(real)
    assert gnomon.export(model, link, max_length=ROWS, check=False).path == link
    assert link.is_symlink()
    assert real.read_bytes() == graph
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["link.onnx", "real.onnx", "there"]
