"""PE313: which layers rotate, against what the config says of each."""

from collections.abc import Iterator, Mapping

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import claims
from gnomon.doctor.evidence.layer_kinds import layers_without_positions, numbered
from gnomon.doctor.evidence.turned import TurnedLanes, turned_lanes
from gnomon.report.document import Finding, Measured

ROTATIONS = ("rotary", "mrope", "xpos", "axial_rotary")


@check("PE313", "rotated-layers", severity="error", needs=(turned_lanes,))
def rotated_layers(subject: Subject) -> Iterator[Finding | Measured]:
    """A layer that the config says is rotary does not rotate its queries and keys.

    Why: the rotation is applied anew in every layer, so one layer can be left out (a fused path that skips it, a flag
    read with the wrong sense, a list of layers that is off by one) and the model still runs, a little worse. Queries
    and keys of that layer are then the same at every place when every token is the same. Some designs leave layers
    without positions on purpose, every fourth as a rule; their configs say so.

    Fix: call the rotation in each layer that the config gives one; name the layers without in no_rope_layers (0: none)
    or by their layer_types.

    Sources: Su et al. 2021, arXiv:2104.09864, section 3.4; Yang et al. 2025, arXiv:2501.18795 (layers without, in
    turn); transformers' SmolLM3, Cohere 2 and Llama 4.
    """
    stacks = _stacks(turned_lanes(subject))
    claimed = any(claim.kind in ROTATIONS for claim in claims(subject))
    if not claimed and not any(any(layers.values()) for layers in stacks.values()):
        raise MissingEvidence("no rotary encoding is claimed, and no queries or keys are rotated")
    exempt = layers_without_positions(subject) if claimed else frozenset()
    for stack, layers in stacks.items():
        still = sorted(number for number, turned in layers.items() if not turned and number not in exempt)
        wanted = len(layers.keys() - exempt)
        yield Measured(f"layers that rotate in {stack}", sum(layers.values()), wanted, "all that should")
        if not still or (len(stacks) > 1 and not any(layers.values())):
            continue  # an encoder of another kind beside a rotary decoder
        if claimed:
            yield _missing(stack, still, layers)
        elif not _in_turn(layers):
            yield _irregular(stack, still, layers)


def _stacks(found: tuple[TurnedLanes, ...]) -> Mapping[str, dict[int, bool]]:
    """For each stack of layers, whether each of them turns what it attends with; cross-attention need not."""
    stacks: dict[str, dict[int, bool]] = {}
    unread = set[str]()  # hidden vectors hold positions too: what turns cannot be told
    places = numbered(lanes.where for lanes in found)
    for lanes in found:
        if lanes.where not in places:
            continue
        stack, number = places[lanes.where]
        layers = stacks.setdefault(stack, {})
        layers[number] = layers.get(number, False) or bool(lanes.pairs or lanes.torn)
        if lanes.unexplained:
            unread.add(stack)
    return {stack: layers for stack, layers in stacks.items() if stack not in unread}


def _in_turn(layers: Mapping[int, bool]) -> bool:
    """Whether the layers without are every second, third, ... layer, counted so that each round ends with one."""
    still = {number for number, turned in layers.items() if not turned}
    return any(
        still == {number for number in layers if number % every == every - 1} for every in range(2, len(layers) + 1)
    )


def _missing(stack: str, still: list[int], layers: Mapping[int, bool]) -> Finding:
    listed = ", ".join(map(str, still))
    return Finding(
        f"{stack}.{still[0]}" if len(still) == 1 else f"{stack}, layers {listed}",
        f"{len(still)} of {len(layers)} layers ({listed}) do not rotate queries and keys, and the config gives "
        "them a rotary encoding",
        f"rotate queries and keys in layers {listed}; if they are meant to have no positions, write so "
        "(no_rope_layers, layer_types)",
        {"layers without": still, "layers": len(layers)},
    )


def _irregular(stack: str, still: list[int], layers: Mapping[int, bool]) -> Finding:
    listed = ", ".join(map(str, still))
    return Finding(
        stack,
        f"{len(still)} of {len(layers)} layers ({listed}) do not rotate queries and keys, in no regular turn, and "
        "nothing says that they should not",
        "rotate in those layers too, or say in the config which layers have no positions",
        {"layers without": still, "layers": len(layers)},
        severity="note",
    )
