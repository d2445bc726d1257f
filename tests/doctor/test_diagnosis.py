"""From a target to a report, without a trace on the target."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import gnomon
from gnomon.adapters import load_subject
from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor import diagnose, inspect
from gnomon.doctor.check import registry
from gnomon.doctor.runner import chosen, run_all
from gnomon.encodings import ALiBi, Learned, PositionEncoding, Rotary, Sinusoidal
from gnomon.errors import GnomonError, UnsupportedTargetError
from gnomon.models import Decoder, ModelOptions
from gnomon.report.document import CheckResult, Report
from tests.helpers.tiny_transformers import tiny_model


def decoder(encoding: PositionEncoding) -> nn.Module:
    torch.manual_seed(0)
    return Decoder(ModelOptions(vocabulary=30, dim=16, num_heads=2, num_layers=1), encoding=encoding)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bert")
    torch.manual_seed(0)
    tiny_model("bert").save_pretrained(path)  # type: ignore[operator]
    return path


def result(report: Report, code: str) -> CheckResult:
    return next(check for check in report.checks if check.code == code)


def without_times(report: Report) -> dict[str, Any]:
    plain = report.to_dict()
    for check in plain["checks"]:
        del check["seconds"]
    return plain


def test_a_module_gets_every_check_its_encoding_and_its_figures() -> None:
    report = diagnose(decoder(Learned(40, 16)))
    assert [check.code for check in report.checks] == registry.names()
    assert [(e.kind, e.options["max_length"]) for e in report.encodings] == [("learned", 40)]
    assert report.ok
    assert report.figures
    assert (report.target, report.gnomon) == ("Decoder", gnomon.__version__)


def test_a_folder_is_examined_with_what_it_holds(folder: Path) -> None:
    report = diagnose(folder, ["PE1", "PE2"])
    assert report.target == str(folder)
    assert [e.kind for e in report.encodings] == ["learned"]
    assert result(report, "PE204").status == "passed"
    assert result(report, "PE204").measured[0].value == 37
    assert report.exit_code == 0


def test_a_fault_in_a_folder_is_found(folder: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    tensors["embeddings.position_embeddings.weight"].zero_()
    save_file(tensors, tmp_path / "model.safetensors", metadata={"format": "pt"})
    (tmp_path / "config.json").write_text((folder / "config.json").read_text())
    report = diagnose(tmp_path, ["PE206"])
    assert (report.exit_code, report.ok) == (1, False)
    assert report.failed[0].findings[0].message == "the table is zero: every position looks alike"


class Trainable(nn.Module):
    """A model in training mode with dropout, a frozen part, a buffer and gradients."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(30, 16)
        self.positions = nn.Embedding(40, 16)
        self.positions.weight.requires_grad_(False)
        self.register_buffer("seen", torch.zeros(3))
        self.dropout = nn.Dropout(0.5)
        self.head = nn.Linear(16, 30)

    def forward(self, input_ids: Tensor) -> Tensor:
        self.get_buffer("seen").add_(1)
        places = torch.arange(input_ids.shape[1])
        out: Tensor = self.head(self.dropout(self.words(input_ids) + self.positions(places)))
        return out


@pytest.mark.parametrize(
    "make",
    [Trainable, lambda: decoder(Sinusoidal(16)), lambda: tiny_model("llama").train()],
    ids=["own", "pe", "llama"],
)
@pytest.mark.parametrize("examine", [diagnose, inspect])
def test_the_module_is_left_as_it_was(make: Callable[[], nn.Module], examine: Callable[[nn.Module], Report]) -> None:
    module = make()
    module(torch.ones(1, 4, dtype=torch.int64))
    next(module.parameters()).grad = torch.ones_like(next(module.parameters()))
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    flags = [(name, p.requires_grad, p.data_ptr()) for name, p in module.named_parameters()]
    modes = [part.training for part in module.modules()]
    hooks = [(len(m._forward_hooks), len(m._forward_pre_hooks)) for m in module.modules()]
    torch.manual_seed(11)
    state = torch.get_rng_state()
    examine(module)
    assert torch.equal(torch.get_rng_state(), state)
    after = module.state_dict()
    assert set(after) == set(before)
    assert all(torch.equal(after[name], tensor) for name, tensor in before.items())
    assert [(name, p.requires_grad, p.data_ptr()) for name, p in module.named_parameters()] == flags
    assert [part.training for part in module.modules()] == modes
    assert [(len(m._forward_hooks), len(m._forward_pre_hooks)) for m in module.modules()] == hooks
    assert torch.equal(next(module.parameters()).grad, torch.ones_like(next(module.parameters())))  # type: ignore[arg-type]
    assert [p.grad for p in list(module.parameters())[1:]] == [None] * (len(list(module.parameters())) - 1)


def test_the_module_that_the_checks_share_is_not_changed_by_any_of_them() -> None:
    subject = load_subject(Trainable())
    before = {name: tensor.clone() for name, tensor in subject.module.state_dict().items()}
    run_all(chosen(None, None), subject)
    after = subject.module.state_dict()
    assert all(torch.equal(after[name], tensor) for name, tensor in before.items())


class Drawing(nn.Module):
    """A forward that draws from the global generator even in eval mode."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.words = nn.Embedding(30, 16)
        self.positions = nn.Embedding(40, 16)
        self.head = nn.Linear(16, 30)

    def forward(self, input_ids: Tensor) -> Tensor:
        hidden = self.words(input_ids) + self.positions(torch.arange(input_ids.shape[1]))
        out: Tensor = self.head(hidden + torch.rand_like(hidden))
        return out


def test_a_forward_that_draws_gives_the_same_report_twice() -> None:
    module = Drawing()
    torch.manual_seed(1)
    first = without_times(diagnose(module))
    torch.manual_seed(2)
    assert without_times(diagnose(module)) == first


@pytest.mark.parametrize("encoding", [Learned(40, 16), Rotary(8), ALiBi(2)])
def test_the_same_target_gives_the_same_report_twice(encoding: PositionEncoding) -> None:
    module = decoder(encoding)
    torch.manual_seed(1)
    first = without_times(diagnose(module))
    torch.manual_seed(2)
    assert without_times(diagnose(module)) == first


def test_the_report_is_plain_json() -> None:
    plain = json.loads(diagnose(decoder(Rotary(8)), "PE1,PE2").to_json())
    assert plain["summary"]["passed"] + plain["summary"]["not-applicable"] == len(plain["checks"])


def test_evidence_given_by_name_overrides_what_the_adapters_give() -> None:
    module = decoder(Learned(40, 16))
    assert result(diagnose(module, ["PE101"]), "PE101").status == "not-applicable"
    config = {"rope_theta": 1e4, "rope_parameters": {"rope_theta": 5e5}}
    assert result(diagnose(module, ["PE101"], config=config), "PE101").status == "failed"
    assert result(diagnose(module, ["PE212"]), "PE212").detail == "the weights do not come from a checkpoint"
    assert "at least" in result(diagnose(module, ["PE212"], trained=True), "PE212").detail


def test_derived_evidence_can_be_overridden_too() -> None:
    report = diagnose(decoder(Learned(40, 16)), ["PE202"], tables=())
    assert result(report, "PE202").status == "passed"
    assert result(report, "PE202").measured == ()


def test_without_a_forward_nothing_runs() -> None:
    class Explodes(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.position_embeddings = nn.Embedding(40, 16)

        def forward(self, input_ids: Tensor) -> Tensor:
            raise AssertionError("it was run")

    report = diagnose(Explodes(), forward=False)
    assert not report.crashed
    assert result(report, "PE207").status == "passed"
    assert result(report, "PE302").status == "not-applicable"


def test_a_model_that_cannot_run_still_gets_its_static_checks() -> None:
    class Explodes(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.position_embeddings = nn.Embedding(40, 16)

        def forward(self, input_ids: Tensor) -> Tensor:
            raise MissingEvidence("no") if input_ids is None else RuntimeError("it cannot run")

    report = diagnose(Explodes())
    assert not report.crashed
    assert result(report, "PE207").status == "passed"
    assert "it cannot run" in result(report, "PE302").detail


def test_progress_is_passed_on() -> None:
    seen: list[str] = []
    diagnose(decoder(ALiBi(2)), ["PE101", "PE201"], progress=lambda code, *_: seen.append(code))
    assert seen == ["PE101", "PE201", ""]


def test_a_bad_prefix_is_refused_before_the_target_is_read() -> None:
    with pytest.raises(GnomonError, match="No check's code starts with 'XX'"):
        diagnose("/nowhere/at/all", ["XX"])


def test_a_target_that_does_not_exist_is_an_error() -> None:
    for examine in (diagnose, inspect):
        with pytest.raises(UnsupportedTargetError, match="no file or folder"):
            examine("/nowhere/at/all")


def test_inspect_says_which_encoding_is_where_without_judging(folder: Path) -> None:
    report = inspect(folder, forward=False)
    assert [(e.kind, e.source) for e in report.encodings] == [("learned", "config")]
    assert (report.checks, report.figures, report.ok) == ((), (), True)
    assert [e.kind for e in inspect(decoder(Rotary(8))).encodings] == ["rotary"]


def test_evidence_that_does_not_exist_is_refused_with_the_names_that_do() -> None:
    with pytest.raises(GnomonError, match=r"no evidence called nonsense; known: .*causal.*position_tables"):
        diagnose(decoder(Learned(40, 16)), ["PE202"], nonsense=3)


def test_a_model_without_positions_and_without_attention_is_refused_in_one_sentence() -> None:
    with pytest.raises(UnsupportedTargetError, match="No position encoding was found in Sequential, and no attention"):
        diagnose(nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 3)))
    with pytest.raises(UnsupportedTargetError, match=r"No position encoding was found in Linear: .*no nn.Embedding"):
        diagnose(nn.Linear(4, 4))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch, inside torch.compile
def test_a_compiled_model_is_examined_as_what_was_compiled() -> None:
    model = decoder(Rotary(8))
    compiled: Any = torch.compile(model)
    report = diagnose(compiled, ["PE307"])
    assert [(check.status, check.seconds < 5) for check in report.checks] == [("passed", True)]
    plain = diagnose(model, ["PE307"])
    assert [check.measured for check in report.checks] == [check.measured for check in plain.checks]


@pytest.mark.filterwarnings("ignore")  # of torch.jit.script, and of copies of what it gives
def test_models_that_no_check_can_call_are_refused_with_the_reason() -> None:
    scripted = torch.jit.script(nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 3)))
    with pytest.raises(UnsupportedTargetError, match="no readable signature; give the Python module"):
        diagnose((scripted, (torch.ones(2, 5, dtype=torch.long),)))
    field = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 4))
    with pytest.raises(UnsupportedTargetError, match="the forward runs, and has no attention over places"):
        diagnose((field, (torch.rand(6, 3),)))
