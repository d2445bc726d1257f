"""gnomon held to its own promises on the machine at hand: the contract, and every path against its plain twin."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal, final

import torch
from torch import Tensor

from gnomon.attention import Attention
from gnomon.attention.paths import ATTENTION
from gnomon.encodings.base import PositionEncoding, registry
from gnomon.errors import GnomonError
from gnomon.kernels.rotary import PATHS, ROTATION, apply_rotary
from gnomon.kernels.rotary.path import Request
from gnomon.kernels.rotary.turn import Turn
from gnomon.kernels.rotation import LAYOUTS, rotate
from gnomon.testing import check_encoding
from gnomon.testing.trial import ClauseError, Trial, require_close

Status = Literal["passed", "failed", "not here"]
HEADS, HEAD_DIM = 3, 8
DIM = HEADS * HEAD_DIM
#: What float32 paths may differ by from their twins.
SAME = 5e-6
#: One rounding of numbers below 8: half a step of the last bit.
ROUNDED = {torch.float32: SAME, torch.bfloat16: 2**-6, torch.float16: 2**-9}


@final
@dataclass(frozen=True)
class Tried:
    """One thing that was tried. `detail` says what failed, or why it cannot be tried on this machine."""

    part: str
    name: str
    status: Status
    detail: str
    seconds: float


def selftest(device: str = "cpu") -> Iterator[Tried]:
    """Try everything, one after another: the contract of each encoding, each path of the rotation and of attention.

    With another `device`, also what each encoding gives there against what it gives on the CPU. Raises GnomonError when
    there is no such device.

    >>> first = next(selftest())
    >>> first.part, first.name, first.status
    ('contract', 'alibi', 'passed')
    """
    place = _device(device)
    for name, cls in registry:
        yield _tried("contract", name, partial(_contract, cls))
    for name in PATHS:
        yield _tried("rotation", name, partial(_rotation, name, place))
    for name in ATTENTION.names[1:]:
        yield _tried("attention", name, partial(_attention, name, place))
    if place.type != "cpu":
        for name, cls in registry:
            yield _tried("device", name, partial(_on_device, cls.sample(HEADS, HEAD_DIM), place))


class NotHereError(Exception):
    """It cannot be tried on this machine; the message says why."""


def _tried(part: str, name: str, test: Callable[[], None]) -> Tried:
    started = time.perf_counter()
    status: Status = "passed"
    detail = ""
    try:
        test()
    except NotHereError as reason:
        status, detail = "not here", str(reason)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong is what the self-test is there to tell
        status, detail = "failed", str(error) or type(error).__name__
    return Tried(part, name, status, detail, time.perf_counter() - started)


def _device(name: str) -> torch.device:
    try:
        place = torch.device(name)
        torch.zeros(1, device=place).cpu()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        said = str(error).splitlines()[0].rstrip(".")
        raise GnomonError(f"There is no device {name!r} here ({said}); `gnomon env` lists those there are.") from None
    return place


def _contract(cls: type[PositionEncoding]) -> None:
    check_encoding(cls.sample(HEADS, HEAD_DIM), num_heads=HEADS, head_dim=HEAD_DIM, dim=DIM)


def _rotation(name: str, device: torch.device) -> None:
    """Each layout and dtype that the path takes, against the plain rotation in float64."""
    generator = torch.Generator().manual_seed(0)
    angles = torch.randn(40, 3, generator=generator)
    tables = (angles.cos().to(device), angles.sin().to(device))
    positions = torch.tensor([[0, 1, 2, 3, 4], [35, 36, 37, 38, 39]], device=device)
    refusals = []
    for layout in LAYOUTS:
        for dtype, tolerance in ROUNDED.items():
            x = torch.randn(2, HEADS, 5, HEAD_DIM, generator=generator).to(device, dtype)
            reason = PATHS[name].refusal(Request((x,), None, Turn(*tables, positions, layout)))
            if reason is not None:
                refusals.append(reason)
                continue
            with ROTATION.using(name):
                got = apply_rotary(x, cos=tables[0], sin=tables[1], positions=positions, layout=layout)
            rows = (table[positions].unsqueeze(1).double() for table in tables)
            want = rotate(x.double(), *rows, layout=layout)
            require_close(_one(got).double(), want, f"{layout}, {dtype}", tolerance)
    if len(refusals) == len(LAYOUTS) * len(ROUNDED):
        raise NotHereError(refusals[0])


def _one(turned: Tensor | tuple[Tensor, Tensor]) -> Tensor:
    return turned if isinstance(turned, Tensor) else turned[0]


def _attention(name: str, device: torch.device) -> None:
    """Causal attention of two rows with each encoding of one axis, against the dense path."""
    x = torch.randn(2, 40, DIM, generator=torch.Generator().manual_seed(0)).to(device)
    positions = torch.arange(40, device=device)[None]
    served = 0
    for encoding_name, cls in registry:
        encoding = cls.sample(HEADS, HEAD_DIM)
        if encoding.axes > 1:
            continue
        torch.manual_seed(0)
        layer = Attention(DIM, num_heads=HEADS, encoding=encoding, causal=True).to(device)
        with torch.no_grad():
            with ATTENTION.using("dense"):
                want = layer(x, positions)
            try:
                with ATTENTION.using(name):
                    got = layer(x, positions)
            except GnomonError:
                continue
        require_close(got, want, encoding_name, SAME)
        served += 1
    if not served:
        raise NotHereError("it serves none of the encodings here")


def _on_device(encoding: PositionEncoding, device: torch.device) -> None:
    trial = Trial(encoding, None, HEADS, HEAD_DIM, DIM)
    inputs = trial.scattered()
    want = trial.run(inputs)
    there = encoding.to(device)
    moved = type(inputs)(*(x.to(device) for x in (inputs.x, inputs.q, inputs.k, inputs.positions)))
    for hook, value in trial.run(moved, there).items():
        if value.device.type != device.type:
            raise ClauseError(f"{hook} is on {value.device}")
        require_close(value.cpu(), want[hook], hook, SAME)
