"""Clauses about positions: which ids are taken, and how results move when tokens or positions move."""

import itertools
import math
from dataclasses import replace

import torch
from torch import Tensor

from gnomon.encodings.base import PositionEncoding
from gnomon.testing.trial import VECTOR_HOOKS, ClauseError, Inputs, Trial, require_close, require_same


def uses_position(trial: Trial) -> None:
    """Some hook changes with the positions if and only if `uses_position` says so."""
    active = _active_hooks(trial)
    if trial.encoding.uses_position and not active and trial.room > 2:  # with less room there is one token only
        raise ClauseError("no hook gives another result when positions change, but uses_position is True.")
    if active and not trial.encoding.uses_position:
        raise ClauseError(f"{', '.join(active)} changes with the positions, but uses_position is False.")


def neighbours_differ(trial: Trial) -> None:
    """One vector at neighbouring positions gives different vectors, at the start and at the far end."""
    inputs = trial.inputs()
    length = inputs.positions.shape[1]
    last = (trial.room if trial.limits[0] else 1_000_000) - length
    same, names = [0] * length, set(_active_hooks(trial)) & set(VECTOR_HOOKS)
    for start in (0, last):
        places = torch.arange(start, start + length).expand(2, -1)
        results = trial.run(replace(inputs.tokens(same), positions=trial.spread(places)))
        for name in names:
            alike = (results[name].diff(dim=-2).abs() < 1e-6).all(-1).sum().item()
            if alike:
                raise ClauseError(f"{name} gives {alike} pairs of neighbours the same vector, positions from {start}.")


def int64_ids(trial: Trial) -> None:
    """Every hook that uses positions refuses ids that are not int64, with a ValueError or a TypeError."""
    inputs = trial.inputs()
    for dtype in (torch.float32, torch.bfloat16, torch.int32):
        for name in _active_hooks(trial):
            try:
                _call(trial.encoding, name, inputs, inputs.positions.to(dtype))
            except (ValueError, TypeError):
                continue
            raise ClauseError(f"{name} takes {dtype} positions; only int64 tells all ids apart.")


def one_token_at_a_time(trial: Trial) -> None:
    """A token alone gets what it gets in the whole sequence (unless `length_dependent`)."""
    if trial.encoding.length_dependent:
        return
    inputs = trial.inputs()
    whole = trial.run(inputs)
    for token in range(inputs.positions.shape[1]):
        alone = inputs.tokens([token])
        for name in VECTOR_HOOKS:
            got = _call(trial.encoding, name, alone, alone.positions)
            require_close(got, whole[name][..., token : token + 1, :], f"{name} of token {token} alone")
        for name in whole.keys() - set(VECTOR_HOOKS):
            row = _logits(trial.encoding, name, alone, inputs)
            require_close(row.expand_as(whole[name][..., :1, :]), whole[name][..., token : token + 1, :], name)


def permutation_of_tokens(trial: Trial) -> None:
    """Tokens in another order, with their positions, give the same results in that order."""
    inputs = trial.inputs()
    order = torch.randperm(inputs.positions.shape[1], generator=torch.Generator().manual_seed(1)).tolist()
    want = {
        name: value[..., order, :] if name in VECTOR_HOOKS else value[..., order, :][..., order]
        for name, value in trial.run(inputs).items()
    }
    require_same(trial.run(inputs.tokens(order)), want, f"tokens in the order {order}")


def rows_of_the_batch(trial: Trial) -> None:
    """Rows do not see each other: swapped they swap, alone they stay, and (1, S) positions serve all rows."""
    inputs = trial.inputs()
    whole = trial.run(inputs)
    require_same(trial.run(inputs.rows([1, 0])), {key: value[[1, 0]] for key, value in whole.items()}, "rows swapped")
    if not trial.encoding.length_dependent:
        for row in (0, 1):
            want = {name: value[[row]] for name, value in whole.items()}
            require_same(trial.run(inputs.rows([row])), want, f"row {row} alone")
    first = inputs.positions[:1]
    repeated = trial.run(replace(inputs, positions=first.expand_as(inputs.positions)))
    require_same(trial.run(replace(inputs, positions=first)), repeated, "positions of shape (1, S)")


def shift_invariance(trial: Trial) -> None:
    """Attention is unchanged by a shift of all positions if and only if `relative` says so.

    The tolerance grows with the shift, as the rounding of a float32 number of that size does.
    """
    inputs = trial.inputs().rows([0])
    still = _attention(trial, inputs)
    end, length = trial.room if trial.limits[0] else None, inputs.positions.shape[1]
    sizes = [shift for shift in (1, 17, 1000) if length > 1 and (end is None or shift + length <= end)]
    shifts: list[int | tuple[int, ...]] = [*sizes]
    if trial.encoding.axes > 1:  # along one axis alone too
        shifts += [
            tuple(shift * (axis == i) for i in range(trial.encoding.axes))
            for axis in range(trial.encoding.axes)
            for shift in sizes
        ]
    moved = {
        shift: (_attention(trial, inputs.shifted(torch.tensor(shift))) - still).abs().max().item() for shift in shifts
    }
    bounds = {shift: 2e-5 + (shift if isinstance(shift, int) else max(shift)) * 2.0**-23 for shift in shifts}
    for shift in shifts:
        if trial.encoding.relative and not moved[shift] <= bounds[shift]:
            raise ClauseError(f"a shift by {shift} moves log attention by {moved[shift]:.3g}, but relative is True.")
    if shifts and not trial.encoding.relative and all(moved[shift] <= bounds[shift] for shift in shifts):
        raise ClauseError(
            f"no shift moves log attention by more than {max(moved.values()):.3g}, but relative is False."
        )


def norms(trial: Trial) -> None:
    """Rotation keeps the length of vectors, in short sequences and in long ones, if and only if `norm_preserving`."""
    inputs = trial.inputs()
    rotating = [name for name in _active_hooks(trial) if name in ("rotate_query", "rotate_key")]
    given = {"rotate_query": inputs.q, "rotate_key": inputs.k}
    worst = 0.0
    for length in (1, 200_000) if trial.encoding.length_dependent else (1,):
        results = trial.run(inputs, trial.encoding.at_length(length))
        changes = [(results[name].norm(dim=-1) / given[name].norm(dim=-1) - 1).abs().max().item() for name in rotating]
        worst = max([worst, *changes])
    if trial.encoding.norm_preserving and worst > 1e-5:
        raise ClauseError(f"rotation changes a norm by the factor {worst:.3g}, but norm_preserving is True.")
    if rotating and worst <= 1e-5 and not trial.encoding.norm_preserving:
        raise ClauseError("rotation keeps every norm, but norm_preserving is False.")


def limit(trial: Trial) -> None:
    """The last position works, and those outside 0 .. max_length - 1 raise a ValueError that names both numbers.

    With several axes that holds for each; the coordinate -1 there means no place on the grid, and -2 is outside.
    """
    if trial.limits[0] is None:
        return
    inputs = trial.inputs()
    for name in _active_hooks(trial):
        limits = [limit for limit in trial.limits if limit is not None]
        ends = torch.tensor(limits).squeeze()
        _call(trial.encoding, name, inputs, (ends - 1).expand_as(inputs.positions))
        for axis, end in enumerate(limits):
            for outside in (end, -1) if trial.encoding.axes == 1 else (end, -2):
                positions = inputs.positions.clone()
                positions[(-1, -1) if trial.encoding.axes == 1 else (-1, -1, axis)] = outside
                try:
                    _call(trial.encoding, name, inputs, positions)
                except ValueError as error:
                    if str(outside) not in str(error) or str(end) not in str(error):
                        raise ClauseError(f"{name}: the error does not name {outside} and {end}: {error}") from error
                    continue
                raise ClauseError(f"{name} takes position {outside}, but there are {end}.")


def lengths(trial: Trial) -> None:
    """`at_length` fixes all numbers: a token alone, at any length, gets what it gets among others at that length.

    Lengths of one regime give the same numbers, those of different regimes give others; one for all unless
    `length_dependent`.
    """
    encoding, inputs = trial.encoding, trial.inputs()
    sizes = torch.tensor([1, 9, 64, 65, 1000, 1001, 5000, 5001, 200_000])
    regimes = encoding.regimes(sizes)
    if (regimes.unique().numel() > 1) != encoding.length_dependent:
        raise ClauseError(f"length_dependent is {encoding.length_dependent} but the regimes are {regimes.tolist()}.")
    results = [trial.run(inputs, encoding.at_length(int(size))) for size in sizes]
    for i, j in itertools.combinations(range(len(sizes)), 2):
        equal = all(torch.equal(results[i][name], results[j][name]) for name in results[i])
        if equal != bool(regimes[i] == regimes[j]):
            raise ClauseError(
                f"lengths {sizes[i]} and {sizes[j]} give {'equal' if equal else 'different'} numbers, "
                f"but their regimes are {regimes[i]} and {regimes[j]}."
            )
    rows = torch.tensor([1, 200_000])
    bound = trial.run(inputs, encoding.at_length(rows))
    for row, of_length in ((0, results[0]), (1, results[-1])):
        for name, value in bound.items():
            require_close(value[row], of_length[name][row], f"{name} of row {row} with lengths {rows.tolist()}")
        alone = trial.run(inputs.rows([row]).tokens([0]), encoding.at_length(rows[[row]]))
        for name in VECTOR_HOOKS:
            require_close(
                alone[name][0, ..., 0, :], bound[name][row, ..., 0, :], f"{name} of a token alone at a length"
            )


def _call(encoding: PositionEncoding, name: str, inputs: Inputs, positions: Tensor) -> Tensor:
    if name in VECTOR_HOOKS:
        vectors = {"embed": inputs.x, "rotate_query": inputs.q, "rotate_key": inputs.k}[name]
        result: Tensor = getattr(encoding, name)(vectors, positions)
        return result
    keys = replace(inputs, positions=positions)
    return _logits(encoding, name, keys, keys)


def _logits(encoding: PositionEncoding, name: str, queries: Inputs, keys: Inputs) -> Tensor:
    if name == "bias":
        result = encoding.bias(queries.positions, keys.positions)
    else:
        result = encoding.content_bias(queries.q, keys.k, queries.positions, keys.positions)
    if result is None:
        raise ClauseError(f"{name} is sometimes None and sometimes not.")
    return result


def _active_hooks(trial: Trial) -> list[str]:
    """The hooks whose results change when all tokens take the position of the first."""
    inputs = trial.inputs()
    together = replace(inputs, positions=inputs.positions[:, :1].expand_as(inputs.positions))
    before, after = trial.run(inputs), trial.run(together)
    return [name for name in before if not torch.equal(before[name], after[name])]


def _attention(trial: Trial, inputs: Inputs) -> Tensor:
    """Log attention weights from the rotated, biased logits and from the embeddings as a head of their own."""
    results = trial.run(inputs)
    logits = results["rotate_query"] @ results["rotate_key"].mT / math.sqrt(trial.head_dim)
    logits = logits + (results["embed"] @ results["embed"].mT / math.sqrt(trial.dim)).unsqueeze(1)
    for name in ("bias", "content_bias"):
        if name in results:
            logits = logits + results[name]
    if trial.encoding.causal_only:
        size = logits.shape[-1]
        logits = logits.masked_fill(torch.ones(size, size, dtype=torch.bool).triu(1), -1e9)
    return logits.double().log_softmax(-1).clamp_min(-1e3)
