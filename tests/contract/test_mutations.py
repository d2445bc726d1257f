"""Wrong encodings, each a small change to a right one. The contract must refuse every one, and for the right reason."""

from collections.abc import Callable

import pytest

from gnomon.encodings import PositionEncoding
from gnomon.testing import CLAUSES, ContractError, Reference, check_encoding
from tests.helpers.case import case_modules
from tests.helpers.encodings import case
from tests.helpers.mutated_distance import (
    DistancesInBfloat16,
    DistancesMirrored,
    DistancesOffByOne,
    HeadsOfDistancesLast,
)
from tests.helpers.mutated_encodings import (
    AllZero,
    AnyDtype,
    BatchAxis,
    ClampedAtTheEnd,
    CopiesShareTheTable,
    Detached,
    FalselyRelative,
    FirstRowForAll,
    ForgetsAnOption,
    ForgetsTheFactor,
    ForgetsTheLength,
    FrozenTable,
    IgnoresIds,
    InPlace,
    LastCache,
    MaskedOut,
    OffByOne,
    QueryOffByOne,
    SharedCache,
    SignFlipped,
    Stored,
    StoredInStateDict,
    Stretched,
    SwappedAxes,
    Twice,
    Wrapped,
    WrongAboutNorms,
)
from tests.helpers.mutated_heads import (
    AnyHeads,
    FirstHeadsForAll,
    FormulaOfThePart,
    FrozenParts,
    PartsShareMemory,
    WholeOnEachRank,
)
from tests.helpers.mutated_precision import (
    Bfloat16Ids,
    BiasFollowsAutocast,
    DistancesInModuleDtype,
    FollowsAutocast,
    LowPrecision,
    OverflowsFarOut,
    PartsInBfloat16,
    RoundedToFloat32,
    WrongResultDtype,
)

SINUSOID, LEARNED = "sinusoidal-24-interleaved-paper", "learned-2"
ROTARY, SWAPPED = "rotary-8-half-plain", "rotary-8-interleaved-plain"
YARN = "rotary-6-half-yarn"
OTHER_BASE, ALIBI, CAUSAL = "rotary-8-half-linear", "alibi-6-symmetric", "alibi-6-causal"
T5, T5_CAUSAL, SANDWICH = "t5-both", "t5-causal", "sandwich-128"
KERPLE_LOG, KERPLE_POWER, FIRE, FIRE_SHORT = "kerple-log", "kerple-power", "fire-512", "fire-8"
SIZES = {"num_heads": 6, "head_dim": 8, "dim": 24}


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
    (SignFlipped, T5, set()),
    (SignFlipped, KERPLE_LOG, set()),
    (SignFlipped, FIRE, set()),
    (SwappedAxes, T5, set()),
    (SwappedAxes, FIRE, set()),
    (OffByOne, FIRE, set()),
    (Bfloat16Ids, T5, {"shift_invariance"}),
    (Bfloat16Ids, SANDWICH, {"shift_invariance"}),
    (Bfloat16Ids, FIRE, set()),
    (ForgetsTheLength, "rotary-6-half-dynamic", {"lengths"}),
    (DistancesInModuleDtype, T5, {"half_precision_module"}),
    (DistancesInModuleDtype, KERPLE_POWER, {"half_precision_module"}),
    (DistancesInModuleDtype, FIRE, {"half_precision_module"}),
    (BiasFollowsAutocast, FIRE, {"autocast"}),
    (BiasFollowsAutocast, SANDWICH, {"autocast"}),
    (Twice, T5, set()),
    (Twice, SANDWICH, set()),
    (FrozenTable, T5, {"gradients"}),
    (FrozenTable, FIRE, {"gradients"}),
    (FalselyRelative, T5, {"shift_invariance"}),
    (FalselyRelative, FIRE, {"shift_invariance"}),
    (IgnoresIds, KERPLE_LOG, {"uses_position", "one_token_at_a_time", "permutation_of_tokens"}),
    (FirstRowForAll, FIRE_SHORT, {"rows_of_the_batch"}),
    (AnyDtype, T5, {"int64_ids"}),
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
    (WrongAboutNorms, YARN, {"norms"}),
    (ForgetsTheFactor, YARN, {"norms"}),
    (Stretched, ROTARY, {"norms"}),
    (Stretched, YARN, set()),
    (DistancesMirrored, T5, {"by_distance"}),
    (DistancesMirrored, CAUSAL, {"by_distance"}),
    (DistancesOffByOne, T5, {"by_distance"}),
    (DistancesOffByOne, KERPLE_POWER, {"by_distance"}),
    (DistancesOffByOne, SANDWICH, {"by_distance"}),
    (DistancesInBfloat16, ALIBI, {"by_distance"}),
    (HeadsOfDistancesLast, T5_CAUSAL, {"by_distance"}),
    (FormulaOfThePart, ALIBI, {"for_heads"}),
    (FormulaOfThePart, SANDWICH, {"for_heads"}),
    (FirstHeadsForAll, T5, {"for_heads"}),
    (FirstHeadsForAll, ALIBI, {"for_heads"}),
    (WholeOnEachRank, KERPLE_LOG, {"for_heads"}),
    (FrozenParts, T5, {"for_heads"}),
    (PartsShareMemory, FIRE, {"for_heads"}),
    (AnyHeads, ALIBI, {"for_heads"}),
]


def wrap(mutation: type[Wrapped], inner: PositionEncoding) -> Wrapped:
    wrapped = mutation(inner.to_json())
    wrapped.inner.load_state_dict(inner.state_dict())
    return wrapped


def sizes_of(encoding: PositionEncoding) -> dict[str, int]:
    """The sizes of the model that a wrapped encoding is for; the wrapper's own options do not say."""
    options = encoding.inner.options if isinstance(encoding, Wrapped) else {}
    return {name: options.get(name, size) for name, size in SIZES.items()}


def broken_clauses(encoding: PositionEncoding, reference: Reference | None) -> set[str]:
    with pytest.raises(ContractError) as caught:
        check_encoding(encoding, reference=reference, **sizes_of(encoding))
    return set(caught.value.broken)


# those that stand with the tests of their encoding
MUTATIONS += [entry for module in case_modules("mutations") for entry in module.mutations()]


@pytest.mark.parametrize("name", sorted({name for _, name, _ in MUTATIONS}))
def test_the_wrapper_alone_breaks_nothing(name: str) -> None:
    item = case(name)
    wrapped = wrap(Wrapped, item.encoding)
    check_encoding(wrapped, reference=item.reference, **sizes_of(wrapped))


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
    [
        (ROTARY, OTHER_BASE),
        (ROTARY, SWAPPED),
        ("alibi-4-symmetric", ALIBI),
        (T5_CAUSAL, T5),
        (KERPLE_LOG, KERPLE_POWER),
        ("sandwich-6", SANDWICH),
    ],
    ids=[
        "wrong base",
        "layouts swapped",
        "slopes of another head count",
        "directions swapped",
        "log for power",
        "another width",
    ],
)
def test_right_code_with_a_wrong_option_is_found_by_the_formula(built: str, expected: str) -> None:
    assert {"reference", "far_out"} <= broken_clauses(case(built).encoding, case(expected).reference)


def test_every_clause_is_broken_by_some_mutation() -> None:
    by_table = set().union(*(clauses for _, _, clauses in MUTATIONS))
    assert by_table | {"reference", "separate_instances", "double_precision"} == set(CLAUSES)


@pytest.mark.parametrize("name", [SINUSOID, ROTARY])
def test_one_rounding_to_float32_on_the_way_is_found_in_float64(name: str) -> None:
    item = case(name)
    broken = broken_clauses(wrap(RoundedToFloat32, item.encoding), item.reference)
    assert broken - {"one_rounding_in_bfloat16"} == {"double_precision"}


@pytest.mark.parametrize("build", [SharedCache, LastCache])
def test_a_cache_with_too_small_a_key_is_found(build: Callable[[int], PositionEncoding]) -> None:
    assert "separate_instances" in broken_clauses(build(24), None)
