"""Ways to rotate queries and keys as candidates: copies, gnomon's own, and those of other libraries."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from gnomon.bench.cell import Candidate, Request
from gnomon.bench.peers.installed import as_reason
from gnomon.bench.peers.rotary import PEERS, RotaryPeer, Rotate
from gnomon.bench.rotations import Pair, Rotation
from gnomon.errors import GnomonError
from gnomon.kernels.rotary import ROTATION, apply_rotary
from gnomon.report.bench.results import Row

COPY, CLONE, FRESH, GIVEN, IN_PLACE = "copy_", "clone", "gnomon, fresh", "gnomon, out=", "gnomon, in place"
FAILS = "fails here"
Answer = Callable[[], Pair]


def copies(rotation: Rotation) -> Iterator[Candidate]:
    """The limits: queries and keys copied into given memory, and cloned."""
    (q, k), (to_q, to_k) = rotation.inputs, rotation.copies()
    yield Candidate(COPY, lambda: (to_q.copy_(q), to_k.copy_(k)))
    yield Candidate(CLONE, lambda: (q.clone(), k.clone()))


def gnomons(rotation: Rotation) -> Iterator[Candidate]:
    """gnomon's rotation as it chooses its path: in place, into given memory, and into fresh memory."""
    (q, k), kept, out = rotation.inputs, rotation.copies(), rotation.copies()
    turn = turning(rotation)
    turned = rotation.copies()  # an own copy, which the timed calls turn on and on
    yield Candidate(IN_PLACE, lambda: turn(*turned, inplace=True), error(rotation, lambda: turn(*kept, inplace=True)))
    yield known(rotation, GIVEN, lambda: turn(q, k, out=out))
    yield known(rotation, FRESH, lambda: turn(q, k))


def forced(rotation: Rotation, *names: str, fresh: bool = False) -> Iterator[Candidate]:
    """The same along each of the named paths, into given memory or fresh; one that cannot do it says why when asked."""
    (q, k), out = rotation.inputs, None if fresh else rotation.copies()
    for name in names:
        call = partial(_along, name, partial(turning(rotation), q, k, out=out))
        yield known(rotation, path_name(name, fresh=fresh), call)


def path_name(path: str, *, fresh: bool = False) -> str:
    """What the row of a forced path is called."""
    return f"gnomon {path}, {'fresh' if fresh else 'out='}"


def turning(rotation: Rotation) -> Callable[..., Any]:
    """`apply_rotary` with everything but queries, keys and where the result goes."""
    cos, sin = rotation.tables
    return partial(apply_rotary, cos=cos, sin=sin, layout=rotation.layout)


def peers(
    rotation: Rotation, request: Request, call: Callable[[Rotate, Tensor, Tensor], Answer] = partial, back: bool = False
) -> Iterator[Candidate | Row]:
    """Each peer that has this layout, in the order of its own tensors; a row that says why, where one cannot run.

    `call` makes what is timed from the function and its queries and keys; with `back`, it gives gradients.
    """
    for peer in PEERS:
        if peer.layout == rotation.layout:
            yield _peer(peer, rotation, request, partial(_candidate, peer, rotation, call, back, request.quick))


def peer_names(rotation: Rotation) -> tuple[str, ...]:
    """The names of the rows that `peers` gives."""
    return tuple(peer.name for peer in PEERS if peer.layout == rotation.layout)


def _peer(
    peer: RotaryPeer, rotation: Rotation, request: Request, candidate: Callable[[Rotate], Candidate]
) -> Candidate | Row:
    if peer.slow_start and request.quick:
        return Row(peer.name, missing="compiled in the full form only")
    return unless_missing(peer.name, request, lambda: candidate(peer.make(rotation)))


def unless_missing(name: str, request: Request, make: Callable[[], Candidate]) -> Candidate | Row:
    """The candidate of a peer, or the row that says why there is none. `name` starts with the peer's."""
    if name.partition(",")[0] not in request.peers:
        return Row(name, missing="not installed, or not asked for")
    try:
        with as_reason(FAILS):
            candidate = make()
    except GnomonError as why:
        return Row(name, missing=str(why))
    return candidate if candidate.error is None else replace(candidate, error=partial(asked, candidate.error))


def asked(error: Callable[[], float]) -> float:
    """An error that code of others is asked for; whatever that raises is the reason why it is not measured."""
    with as_reason(FAILS):
        return error()


def _candidate(
    peer: RotaryPeer, rotation: Rotation, call: Callable[..., Answer], back: bool, once: bool, rotate: Rotate
) -> Candidate:
    answer = call(rotate, *(rotation.by_token if peer.by_token else rotation.inputs))
    return Candidate(peer.name, answer, partial(rotation.error, answer, by_token=peer.by_token, back=back), once)


def error(rotation: Rotation, answer: Answer) -> Callable[[], float]:
    """How far an answer is from float64's, to be asked later."""
    return partial(rotation.error, answer)


def known(rotation: Rotation, name: str, answer: Answer) -> Candidate:
    """A candidate whose call gives the answer itself."""
    return Candidate(name, answer, error(rotation, answer))


def _along(path: str, call: Answer) -> Pair:
    with ROTATION.using(path):
        return call()


def word(dtype: torch.dtype) -> str:
    """float32 of torch.float32."""
    return str(dtype).removeprefix("torch.")
