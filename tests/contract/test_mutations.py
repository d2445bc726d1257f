"""Wrong encodings, each a small change to a right one. The contract must refuse every one, and for the right reason."""

from collections.abc import Callable
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor, nn

from gnomon.encodings import PositionEncoding, Sinusoidal, from_json
from gnomon.testing import CLAUSES, ContractError, Reference, check_encoding
from tests.helpers.encodings import case

SINUSOID, LEARNED = "sinusoidal-24-interleaved-paper", "learned-2"
ROTARY, SWAPPED = "rotary-8-half-plain", "rotary-8-interleaved-plain"
OTHER_BASE, ALIBI, CAUSAL = "rotary-8-half-linear", "alibi-6-symmetric", "alibi-6-causal"
SIZES = {"num_heads": 6, "head_dim": 8, "dim": 24}


class Wrapped(PositionEncoding):
    """A right encoding, built from its JSON and passed on hook by hook; a mutation overrides one thing."""

    def __init__(self, inner: str) -> None:
        super().__init__()
        self.inner = from_json(inner)
        self.causal_only, self.max_length = self.inner.causal_only, self.inner.max_length

    def __getattribute__(self, name: str) -> Any:  # promises are class attributes, and these are those of the inner one
        if name in ("relative", "learned", "norm_preserving", "uses_position"):
            return getattr(self.inner, name)
        return super().__getattribute__(name)

    def ids(self, positions: Tensor) -> Tensor:
        return positions

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.inner.embed(x, self.ids(positions))

    def rotate_query(self, q: Tensor, positions: Tensor) -> Tensor:
        return self.rotate(q, positions)

    def rotate_key(self, k: Tensor, positions: Tensor) -> Tensor:
        return self.rotate(k, positions)

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.inner.rotate_query(x, self.ids(positions))

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor | None:
        return self.inner.bias(self.ids(query_positions), self.ids(key_positions))

    @property
    def options(self) -> dict[str, Any]:
        return {"inner": self.inner.to_json()}


class SignFlipped(Wrapped):
    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return 2 * x - self.inner.embed(x, positions)

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.inner.rotate_query(x, -positions)

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor | None:
        bias = self.inner.bias(query_positions, key_positions)
        return None if bias is None else -bias


class OffByOne(Wrapped):
    def ids(self, positions: Tensor) -> Tensor:
        return positions + 1


class QueryOffByOne(Wrapped):
    def rotate_query(self, q: Tensor, positions: Tensor) -> Tensor:
        return self.rotate(q, positions + 1)


class SwappedAxes(Wrapped):
    """Tables and logits with rows and columns exchanged; heads take the place of tokens."""

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        turned = torch.zeros(1, x.shape[-1], x.shape[-1])
        return x + self.inner.embed(turned, torch.arange(x.shape[-1])[None])[:, :, : x.shape[1]].mT.to(x.dtype)

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        heads = torch.arange(x.shape[1]).expand(x.shape[0], -1)
        return self.inner.rotate_query(x.transpose(1, 2), heads).transpose(1, 2)

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor | None:
        bias = self.inner.bias(key_positions, query_positions)
        return None if bias is None else bias.mT


class AllZero(Wrapped):
    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return x

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        return x

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor | None:
        bias = self.inner.bias(query_positions, key_positions)
        return None if bias is None else torch.zeros_like(bias)


class Bfloat16Ids(Wrapped):
    def ids(self, positions: Tensor) -> Tensor:
        return positions.to(torch.bfloat16).to(torch.int64)


class BatchAxis(Wrapped):
    """The row of the batch takes the place of the token."""

    def ids(self, positions: Tensor) -> Tensor:
        return torch.arange(positions.shape[0])[:, None].expand_as(positions)


class Twice(Wrapped):
    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.inner.embed(self.inner.embed(x, positions), positions)

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.inner.rotate_query(self.inner.rotate_query(x, positions), positions)

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor | None:
        bias = self.inner.bias(query_positions, key_positions)
        return None if bias is None else bias + bias


class MaskedOut(Wrapped):
    """The position part is multiplied by a mask that lets only the first three positions through."""

    def ids(self, positions: Tensor) -> Tensor:
        return positions * (positions < 3)


class IgnoresIds(Wrapped):
    """Counts along the axis, whatever the caller passes."""

    def ids(self, positions: Tensor) -> Tensor:
        return torch.arange(positions.shape[1]).expand_as(positions)


class FirstRowForAll(Wrapped):
    def ids(self, positions: Tensor) -> Tensor:
        return positions[:1].expand_as(positions)


class AnyDtype(Wrapped):
    def ids(self, positions: Tensor) -> Tensor:
        return positions.to(torch.int64)


class ClampedAtTheEnd(Wrapped):
    def ids(self, positions: Tensor) -> Tensor:
        return positions.clamp(0, (self.max_length or 1 << 40) - 1)


class LowPrecision(Wrapped):
    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return x + self.inner.embed(torch.zeros_like(x), positions).to(torch.bfloat16).to(x.dtype)

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.inner.rotate_query(x.to(torch.bfloat16), positions).to(x.dtype)


class PartsInBfloat16(Wrapped):
    """Right in float32; in bfloat16 the position is rounded on its own before the sum."""

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return x + self.inner.embed(torch.zeros_like(x), positions)


class FollowsAutocast(Wrapped):
    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        right = self.inner.embed(x, positions)
        return right.to(torch.get_autocast_dtype("cpu")).to(x.dtype) if torch.is_autocast_enabled("cpu") else right


class WrongResultDtype(Wrapped):
    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        return super().rotate(x, positions).float()


class InPlace(Wrapped):
    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        return x.copy_(super().rotate(x, positions)) if not x.requires_grad else super().rotate(x, positions)


class Detached(Wrapped):
    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.inner.embed(x.detach(), positions) + 0 * x


class OverflowsFarOut(Wrapped):
    """Adds nothing but the overflow of a position in float16."""

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.inner.embed(x, positions) + 0 * positions.half()[..., None].to(x.dtype)


class CopiesShareTheTable(Wrapped):
    def __deepcopy__(self, memo: dict[int, Any]) -> Wrapped:
        return self


class FrozenTable(Wrapped):
    def __init__(self, inner: str) -> None:
        super().__init__(inner)
        self.inner.requires_grad_(False)


class ForgetsAnOption(Wrapped):
    @property
    def options(self) -> dict[str, Any]:
        return {"inner": SINUSOID_OF_ANOTHER_BASE}


class Stored(Wrapped):
    """A table computed once and kept as a buffer."""

    persistent: ClassVar[bool] = False

    def __init__(self, inner: str) -> None:
        super().__init__(inner)
        table = self.inner.embed(torch.zeros(1, 2048, 24), torch.arange(2048)[None])[0]
        self.register_buffer("table", table, persistent=self.persistent)

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        self.inner.embed(x, positions)
        rows = nn.functional.embedding(positions.clamp_max(2047), self.get_buffer("table"))
        return (x + rows).to(x.dtype)


class StoredInStateDict(Stored):
    persistent: ClassVar[bool] = True


class SharedCache(PositionEncoding):
    """A table kept for all instances under a key that forgets the base."""

    tables: ClassVar[dict[int, Sinusoidal]] = {}

    def __init__(self, dim: int, base: float = 10000.0) -> None:
        super().__init__()
        self.dim, self.base = dim, base

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.tables.setdefault(self.dim, Sinusoidal(self.dim, base=self.base)).embed(x, positions)

    @property
    def options(self) -> dict[str, Any]:
        return {"dim": self.dim, "base": self.base}


class LastCache(SharedCache):
    """A table for all instances that the newest instance overwrites."""

    tables: ClassVar[dict[int, Sinusoidal]] = {}

    def __init__(self, dim: int, base: float = 10000.0) -> None:
        super().__init__(dim, base)
        self.tables[dim] = Sinusoidal(dim, base=base)


class FalselyRelative(Wrapped):
    def __getattribute__(self, name: str) -> Any:
        return not self.inner.relative if name == "relative" else super().__getattribute__(name)


class WrongAboutNorms(Wrapped):
    def __getattribute__(self, name: str) -> Any:
        return not self.inner.norm_preserving if name == "norm_preserving" else super().__getattribute__(name)


class Stretched(Wrapped):
    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        return 1.01 * super().rotate(x, positions)


SINUSOID_OF_ANOTHER_BASE = Sinusoidal(24, base=500.0).to_json()

#: mutation, the right encoding inside, the clauses that it must break even when no reference is given
MUTATIONS: list[tuple[type[Wrapped], str, set[str]]] = [
    (SignFlipped, SINUSOID, set()),
    (SignFlipped, LEARNED, set()),
    (SignFlipped, ROTARY, set()),
    (SignFlipped, ALIBI, set()),
    (SignFlipped, CAUSAL, set()),
    (OffByOne, SINUSOID, set()),
    (OffByOne, LEARNED, {"limit"}),
    (OffByOne, ROTARY, set()),
    (QueryOffByOne, ROTARY, set()),
    (SwappedAxes, SINUSOID, {"uses_position", "one_token_at_a_time"}),
    (SwappedAxes, ROTARY, {"uses_position"}),
    (SwappedAxes, CAUSAL, set()),
    (AllZero, SINUSOID, {"uses_position", "shift_invariance"}),
    (AllZero, LEARNED, {"uses_position", "shift_invariance", "gradients"}),
    (AllZero, ROTARY, {"uses_position"}),
    (AllZero, ALIBI, {"uses_position"}),
    (Bfloat16Ids, SINUSOID, {"neighbours_differ", "int64_ids"}),
    (Bfloat16Ids, ROTARY, {"neighbours_differ", "shift_invariance"}),
    (Bfloat16Ids, ALIBI, {"shift_invariance"}),
    (BatchAxis, SINUSOID, {"uses_position", "rows_of_the_batch"}),
    (BatchAxis, LEARNED, {"uses_position", "rows_of_the_batch"}),
    (BatchAxis, ROTARY, {"uses_position", "rows_of_the_batch"}),
    (BatchAxis, ALIBI, {"uses_position"}),
    (Twice, SINUSOID, set()),
    (Twice, LEARNED, set()),
    (Twice, ROTARY, set()),
    (Twice, ALIBI, set()),
    (MaskedOut, SINUSOID, {"neighbours_differ"}),
    (MaskedOut, LEARNED, {"neighbours_differ"}),
    (MaskedOut, ROTARY, {"neighbours_differ", "shift_invariance"}),
    (MaskedOut, ALIBI, {"shift_invariance"}),
    (IgnoresIds, SINUSOID, {"uses_position", "one_token_at_a_time", "permutation_of_tokens"}),
    (IgnoresIds, ALIBI, {"uses_position", "one_token_at_a_time", "permutation_of_tokens"}),
    (FirstRowForAll, SINUSOID, {"rows_of_the_batch"}),
    (FirstRowForAll, ROTARY, {"rows_of_the_batch"}),
    (AnyDtype, ROTARY, {"int64_ids"}),
    (AnyDtype, ALIBI, {"int64_ids"}),
    (ClampedAtTheEnd, LEARNED, {"limit"}),
    (LowPrecision, SINUSOID, set()),
    (LowPrecision, ROTARY, {"norms", "shift_invariance"}),
    (PartsInBfloat16, SINUSOID, {"one_rounding_in_bfloat16"}),
    (FollowsAutocast, SINUSOID, {"autocast"}),
    (WrongResultDtype, ROTARY, {"shapes_and_dtypes"}),
    (InPlace, ROTARY, {"arguments_unchanged"}),
    (Detached, SINUSOID, {"gradients"}),
    (OverflowsFarOut, SINUSOID, {"far_out"}),
    (CopiesShareTheTable, LEARNED, {"copies"}),
    (FrozenTable, LEARNED, {"gradients"}),
    (ForgetsAnOption, SINUSOID, {"json_round_trip"}),
    (Stored, SINUSOID, {"meta_device", "half_precision_module"}),
    (StoredInStateDict, SINUSOID, {"state_dict", "half_precision_module"}),
    (FalselyRelative, SINUSOID, {"shift_invariance"}),
    (FalselyRelative, ROTARY, {"shift_invariance"}),
    (WrongAboutNorms, ROTARY, {"norms"}),
    (Stretched, ROTARY, {"norms"}),
]


def wrap(mutation: type[Wrapped], inner: PositionEncoding) -> Wrapped:
    wrapped = mutation(inner.to_json())
    wrapped.inner.load_state_dict(inner.state_dict())
    return wrapped


def broken_clauses(encoding: PositionEncoding, reference: Reference | None) -> set[str]:
    with pytest.raises(ContractError) as caught:
        check_encoding(encoding, reference=reference, **SIZES)
    return set(caught.value.broken)


@pytest.mark.parametrize("name", [SINUSOID, LEARNED, ROTARY, ALIBI, CAUSAL])
def test_the_wrapper_alone_breaks_nothing(name: str) -> None:
    item = case(name)
    check_encoding(wrap(Wrapped, item.encoding), reference=item.reference, **SIZES)


@pytest.mark.parametrize(
    ("mutation", "name", "clauses"), MUTATIONS, ids=[f"{cls.__name__}-{name}" for cls, name, _ in MUTATIONS]
)
def test_mutation_is_found(mutation: type[Wrapped], name: str, clauses: set[str]) -> None:
    item = case(name)
    assert (clauses or {"reference"}) <= broken_clauses(wrap(mutation, item.encoding), item.reference)
    if clauses:
        assert clauses <= broken_clauses(wrap(mutation, item.encoding), None)


@pytest.mark.parametrize(
    ("built", "expected"),
    [(ROTARY, OTHER_BASE), (ROTARY, SWAPPED), ("alibi-4-symmetric", ALIBI)],
    ids=["wrong base", "layouts swapped", "slopes of another head count"],
)
def test_right_code_with_a_wrong_option_is_found_by_the_formula(built: str, expected: str) -> None:
    assert {"reference", "far_out"} <= broken_clauses(case(built).encoding, case(expected).reference)


def test_every_clause_is_broken_by_some_mutation() -> None:
    by_table = set().union(*(clauses for _, _, clauses in MUTATIONS))
    assert by_table | {"reference", "separate_instances"} == set(CLAUSES)


@pytest.mark.parametrize("build", [SharedCache, LastCache])
def test_a_cache_with_too_small_a_key_is_found(build: Callable[[int], PositionEncoding]) -> None:
    assert "separate_instances" in broken_clauses(build(24), None)
