"""The optimizer's state after an extension: the right parameter, linear averages, squares above zero, or a refusal."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from gnomon.errors import GnomonError
from gnomon.extending.tables import grid, interpolated, plan_tables, tiled
from tests.helpers.extended_folder import config_of, extended, loaded, saved
from tests.helpers.tiny_transformers import LENGTH, VOCABULARY
from tests.helpers.weights import normal, token_ids

TO = 101
TABLE = "embeddings.position_embeddings.weight"


def trained(folder: Path, model_type: str = "bert", *, named: bool = False, **more: Any) -> Any:
    """A model after two steps of AdamW in two groups, its optimizer's state beside it."""
    model = saved(folder, model_type, **more)
    decayed = [(name, p) for name, p in model.named_parameters() if p.ndim > 1]
    others = [(name, p) for name, p in model.named_parameters() if p.ndim < 2]
    groups = [
        {"params": kind if named else [p for _, p in kind], "weight_decay": decay}
        for kind, decay in ((others, 0.0), (decayed, 0.1))
    ]
    optimizer = torch.optim.AdamW(groups, lr=1e-3, amsgrad=True)
    for seed in range(2):
        optimizer.zero_grad()
        model(token_ids(2, 30, vocabulary=LENGTH, seed=seed))[0].pow(2).sum().backward()
        optimizer.step()
    torch.save(optimizer.state_dict(), folder / "optimizer.pt")
    return model


def state_of(folder: Path, like: Tensor) -> dict[str, Tensor]:
    """The only state with the shape of a table."""
    held = torch.load(folder / "optimizer.pt", weights_only=True)["state"].values()
    [found] = [state for state in held if state["exp_avg"].shape == like.shape]
    return dict(found)


@pytest.mark.parametrize("named", [False, True])
def test_moments_follow_their_rows_and_steps_stay(tmp_path: Path, named: bool) -> None:
    trained(tmp_path / "model", named=named)
    output, plan = extended(tmp_path / "model", TO, method="interpolate", optimizer=True)
    tables = [load_file(folder / "model.safetensors")[TABLE] for folder in (tmp_path / "model", output)]
    old, new = state_of(tmp_path / "model", tables[0]), state_of(output, tables[1])
    assert torch.equal(new["exp_avg"], interpolated(old["exp_avg"], TO))
    assert torch.equal(new["exp_avg_sq"], interpolated(old["exp_avg_sq"], TO))
    assert torch.equal(new["max_exp_avg_sq"], interpolated(old["max_exp_avg_sq"], TO))
    assert new["step"] == old["step"] == 2
    assert any("optimizer.pt" in word for word in plan.words)


@pytest.mark.parametrize("method", ["hierarchical", "tile", "keep-first"])
def test_squares_stay_above_zero_whatever_the_weights(tmp_path: Path, method: str) -> None:
    trained(tmp_path / "model")
    output, _ = extended(tmp_path / "model", TO, method=method, optimizer=True)
    table = load_file(output / "model.safetensors")[TABLE]
    state = state_of(output, table)
    assert (state["exp_avg_sq"] >= 0).all()
    assert (state["exp_avg_sq"][:9] > 0).any()


def test_training_goes_on_with_the_extended_state(tmp_path: Path) -> None:
    trained(tmp_path / "model", named=True)
    output, _ = extended(tmp_path / "model", TO, optimizer=True)
    model = loaded(output)
    kinds = ([p for p in model.parameters() if p.ndim < 2], [p for p in model.parameters() if p.ndim > 1])
    optimizer = torch.optim.AdamW([{"params": kind} for kind in kinds], amsgrad=True)
    optimizer.load_state_dict(torch.load(output / "optimizer.pt", weights_only=True))
    assert optimizer.param_groups[0]["weight_decay"] == 0
    model(token_ids(2, TO, vocabulary=VOCABULARY))[0].sum().backward()
    optimizer.step()
    [state] = [s for p, s in optimizer.state.items() if p is model.embeddings.position_embeddings.weight]
    assert state["exp_avg"].shape == (TO, 32)
    assert state["step"] == 3


def test_states_of_other_parameters_stay(tmp_path: Path) -> None:
    trained(tmp_path / "model")
    output, _ = extended(tmp_path / "model", TO, optimizer=True)
    old, new = (torch.load(folder / "optimizer.pt", weights_only=True) for folder in (tmp_path / "model", output))
    assert new["param_groups"] == old["param_groups"]
    differing = [
        key for key in old["state"] if not torch.equal(old["state"][key]["exp_avg"], new["state"][key]["exp_avg"])
    ]
    assert len(differing) == 1


def test_two_equal_tables_that_change_alike_need_no_names(tmp_path: Path) -> None:
    trained(tmp_path / "model", "bart")
    output, _ = extended(tmp_path / "model", TO, optimizer=True)
    held = torch.load(output / "optimizer.pt", weights_only=True)["state"].values()
    old = torch.load(tmp_path / "model" / "optimizer.pt", weights_only=True)["state"].values()
    made = [s["exp_avg"] for s in held if len(s["exp_avg"]) == TO + 2]
    before = [s["exp_avg"] for s in old if s["exp_avg"].shape == (LENGTH + 2, 32)]
    assert [torch.cat((b[:2], tiled(b[2:], TO))).tolist() for b in before] == [m.tolist() for m in made]
    assert len(made) == 2


def test_moments_of_patches_are_resized_and_their_squares_bilinearly(tmp_path: Path) -> None:
    model = saved(tmp_path / "model", "vit", image_size=20)
    optimizer = torch.optim.AdamW(model.parameters())
    model(normal(2, 3, 20, 20))[0].pow(2).sum().backward()
    optimizer.step()
    torch.save(optimizer.state_dict(), tmp_path / "model" / "optimizer.pt")
    output, _ = extended(tmp_path / "model", (7, 4), optimizer=True)
    old, new = state_of(tmp_path / "model", torch.empty(1, 26, 32)), state_of(output, torch.empty(1, 29, 32))
    assert torch.equal(new["exp_avg"][0], grid(old["exp_avg"][0], (5, 5), (7, 4), prefix=1))
    assert torch.equal(new["exp_avg_sq"][0], grid(old["exp_avg_sq"][0], (5, 5), (7, 4), prefix=1, kind="bilinear"))
    assert (new["exp_avg_sq"] >= 0).all()


def test_a_shape_that_another_parameter_has_is_not_enough(tmp_path: Path) -> None:
    trained(tmp_path / "model", vocab_size=LENGTH)
    with pytest.raises(GnomonError, match="not certain which of the"):
        plan_tables(tmp_path / "model", config_of(tmp_path / "model"), to=TO, optimizer=True)


def test_names_are_enough_where_shapes_are_not(tmp_path: Path) -> None:
    trained(tmp_path / "model", named=True, vocab_size=VOCABULARY, hidden_size=32)
    path = tmp_path / "model" / "model.safetensors"
    save_file({**load_file(path), "another": torch.zeros(LENGTH, 32)}, path, metadata={"format": "pt"})
    _, plan = extended(tmp_path / "model", TO, optimizer=True)
    assert "of 1 table(s)" in plan.words[-1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda state: state.pop("exp_avg_sq"), None),
        (lambda state: state.update(exp_avg=state["exp_avg"].to(torch.int8)), "'exp_avg' of .* is .* of torch.int8"),
        (lambda state: state.update(factored=torch.zeros(LENGTH)), "'factored' of"),
        (
            lambda state: state.update(exp_avg=torch.zeros(LENGTH, 3), exp_avg_sq=torch.zeros(3)),
            "not certain|'exp_avg'",
        ),
    ],
)
def test_a_state_of_another_kind_is_refused(tmp_path: Path, change: Any, said: str | None) -> None:
    trained(tmp_path / "model", named=True)
    path = tmp_path / "model" / "optimizer.pt"
    held = torch.load(path, weights_only=True)
    change(next(s for s in held["state"].values() if s["exp_avg"].shape == (LENGTH, 32)))
    torch.save(held, path)
    if said is None:
        extended(tmp_path / "model", TO, optimizer=True)
        return
    with pytest.raises(GnomonError, match=said):
        plan_tables(tmp_path / "model", config_of(tmp_path / "model"), to=TO, optimizer=True)


def test_a_folder_without_a_state_is_refused(tmp_path: Path) -> None:
    saved(tmp_path / "model", "bert")
    with pytest.raises(GnomonError, match=r"no optimizer\.pt and no optimizer\.bin"):
        plan_tables(tmp_path / "model", config_of(tmp_path / "model"), to=TO, optimizer=True)
