"""PE319: the coordinates of an image or a video turn the wrong pairs, or in the wrong order."""

from collections.abc import Iterator

from gnomon.adapters.claims import Claim
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.coordinates import GridTurns, grid_turns, planes_of_pairs
from gnomon.doctor.evidence.expected import claims_or_none, place
from gnomon.doctor.evidence.turned import TurnedLanes
from gnomon.doctor.thresholds import Threshold
from gnomon.encodings.mrope import MRoPE
from gnomon.errors import GnomonError
from gnomon.report.document import Finding, Measured

GRID = Threshold(0.02, "complex numbers of size 1; float32 gives 1e-4, a row taken for a column 0.5 and more")
AXES = ("time", "height", "width")
STILL = 1e-3


@check("PE319", "rotation-axes", severity="error", needs=(model,))
def rotation_axes(subject: Subject) -> Iterator[Finding | Measured]:
    """Time, height and width turn other pairs than the config gives them, or rows and columns are mixed up.

    Why: a rotation over several coordinates gives each its own pairs. The families order them differently: in blocks
    (Qwen2-VL: all of time, then height, then width) or in turn (Qwen3-VL). Text has equal coordinates and cannot tell.
    In images, patches are numbered row by row; a mesh made the other way round gives each patch the place of another,
    which no square image shows. Planes of position ids are moved one at a time, and images that are not square are made
    of one repeated patch: what turns then is seen in the queries.

    Fix: deal the pairs out as the config's sections and the family's order say; build rows and columns with
    indexing="ij" and flatten them row by row.

    Sources: Wang et al. 2024, arXiv:2409.12191, section 2.1; Bai et al. 2025, arXiv:2511.21631; alibaba/MNN#4133,
    huggingface/pytorch-image-models#2541, Liger-Kernel#276.
    """
    if model(subject).takes_images:
        yield from _of_image(grid_turns(subject))
        return
    claims = claims_or_none(subject, "mrope")
    if not claims:
        raise MissingEvidence("the model takes no images, and the config claims no rotation over several coordinates")
    yield from _of_planes(planes_of_pairs(subject), claims[0])


def _of_image(found: GridTurns) -> Iterator[Finding | Measured]:
    apart = found.apart()
    yield Measured(f"turns of {found.where} against rows and columns", apart, GRID.value, GRID.why)
    if apart <= GRID.value:
        return
    rows, columns, _ = found.turns.shape
    swapped = found.apart_the_other_way() <= GRID.value
    yield Finding(
        place(found.where),
        f"on {rows} x {columns} patches the angles are not those of rows and columns"
        + (f": they are those of {columns} x {rows}, height and width are exchanged" if swapped else ""),
        'number patches row by row: torch.meshgrid(rows, columns, indexing="ij"), then flatten',
        {"apart": apart, "rows": rows, "columns": columns},
    )


def _of_planes(found: tuple[TurnedLanes, ...], claim: Claim) -> Iterator[Finding | Measured]:
    expected = _expected(claim)
    turned = [{_number(pair, claim) for pair in lanes.moving(STILL)} for lanes in found]
    wrong = [
        (pair, axis) for axis, pairs in enumerate(turned) for pair in sorted(pairs) if expected.get(pair, axis) != axis
    ]
    sizes = [len(pairs) for pairs in turned]
    yield Measured("pairs that time, height and width turn", str(sizes), str(claim.options["sections"]), "the config's")
    if not any(sizes):
        yield Finding(found[0].where, "no plane of the position ids turns anything", "use the ids that are passed")
    elif wrong:
        pair, axis = wrong[0]
        yield Finding(
            place(found[0].where),
            f"pair {pair} turns with {AXES[axis]}; sections {list(claim.options['sections'])}, "
            f"{claim.options['arrangement']}, give it to {AXES[expected[pair]]} ({len(wrong)} pairs in all)",
            f"pairs by axis: {' '.join(str(expected[pair]) for pair in sorted(expected))} (0 time, 1 height, 2 width)",
            {"pair": pair, "axis": AXES[axis], "expected": AXES[expected[pair]]},
        )


def _expected(claim: Claim) -> dict[int, int]:
    """The axis of each pair."""
    options = claim.options
    try:
        built = MRoPE(
            int(options["rotary_dim"]), sections=tuple(options["sections"]), arrangement=options["arrangement"]
        )
    except (GnomonError, KeyError, TypeError, ValueError) as error:
        raise MissingEvidence(f"the config's sections cannot be built: {error}") from None
    return dict(enumerate(built.axis_of_pair))


def _number(pair: tuple[int, int], claim: Claim) -> int:
    """Which pair it is, counted as the layout pairs lanes."""
    return pair[0] if claim.options.get("layout") == "half" else pair[0] // 2
