"""The monitor of a training loop: measures now and then, logs numbers, and says once when one leaves its range."""

import logging
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, final

import torch
from torch import Tensor, nn

from gnomon.adapters.wording import said
from gnomon.doctor.monitor.alarms import crossed, rising
from gnomon.doctor.monitor.measuring import Probe, gradient_ratios, norm_ratios, positions_of
from gnomon.doctor.monitor.probing import Call, bound, call_of
from gnomon.doctor.monitor.sizes import kept, moved, ratio
from gnomon.doctor.monitor.targets import targets, unwrap
from gnomon.errors import GnomonError
from gnomon.report.document import Finding

Log = Callable[[Mapping[str, float], int], None]
logger = logging.getLogger("gnomon.monitor")


def to_logging(values: Mapping[str, float], step: int) -> None:
    """One line at level INFO to the logger gnomon.monitor."""
    logger.info("step %d: %s", step, ", ".join(f"{name} {value:.4g}" for name, value in values.items()))


@final
class Monitor:
    """Call `step` after the backward pass and before the optimizer's step.

    On one step of `every` it reads position tables, words and their gradients, and runs the first rows of the batch,
    about `tokens` tokens, through the model without gradients; the other steps cost nothing. Training is bit for bit
    what it is without it. `log(values, step)` gets the numbers; `history` keeps them, a dict for each measured step,
    and `findings` what left its range, each once, which also goes to the logger `gnomon.monitor` as a warning.

    The model may be wrapped for data-parallel training or compiled. The batch is that of the last forward in train mode
    when `step` is not given one; give it to a model that is compiled in place (`model.compile()`).

    >>> model = nn.Sequential(nn.Embedding(9, 4), nn.Linear(4, 9))
    >>> with Monitor(model, log=lambda values, step: None) as monitor:
    ...     model(torch.tensor([[1, 2, 3]])).sum().backward()
    ...     monitor.step()
    >>> monitor.history[0]["positions/max"]
    2.0
    """

    def __init__(self, model: nn.Module, *, every: int = 50, tokens: int = 512, log: Log = to_logging) -> None:
        if every < 1 or tokens < 1:
            raise GnomonError(f"every and tokens are at least 1, got {every} and {tokens}.")
        self.model, self.every = unwrap(model), every
        self.log = log
        self.steps = 0
        self.history: list[dict[str, float]] = []
        self.findings: list[Finding] = []
        self.probe: Probe | None = Probe(self.model, tokens)
        self._call: Call | None = None
        self._before: dict[str, Tensor] = {}
        self._words: Tensor | None = None
        self._hook = model.register_forward_pre_hook(self._keep, with_kwargs=True)

    def step(self, batch: Any = None, loss: Tensor | float | None = None) -> None:
        """One optimizer step is about to be taken: `batch` as the loop has it, `loss` to be logged beside the rest."""
        self._close_update()
        self.steps += 1
        if (self.steps - 1) % self.every == 0:
            call = self._call if batch is None else call_of(self.model, batch)
            self._measure(call, loss)
        self._call = None

    def close(self) -> None:
        """Measure the last update and let go of the model; `history` and `findings` stay."""
        self._close_update()
        self._hook.remove()
        self._call = None

    def __enter__(self) -> "Monitor":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def _keep(self, _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Before each forward: its arguments, when the step that follows is measured."""
        if self.steps % self.every == 0 and torch.is_grad_enabled():
            self._call = bound(self.model, args, kwargs)

    def _measure(self, call: Call | None, loss: Tensor | float | None) -> None:
        watched = targets(self.model)
        values = {} if loss is None else {"loss": float(loss.detach() if isinstance(loss, Tensor) else loss)}
        with torch.no_grad():
            values |= dict(norm_ratios(watched)) | dict(gradient_ratios(watched))
            if call is not None:
                values |= dict(positions_of(call)) | self._probed(call)
            self._before = {name: kept(table) for name, table in watched.positions.items()}
            self._words = None if watched.words is None else kept(watched.words)
        self.history.append({"step": float(self.steps), **values})
        self._tell(values)
        if self.probe is not None:
            self._alarm(*rising(self.probe.losses.buckets()))

    def _probed(self, call: Call) -> dict[str, float]:
        """The numbers of the small forward; one that fails is told once and not tried again."""
        if self.probe is None:
            return {}
        try:
            return dict(self.probe(call, targets(self.model)))
        except Exception as error:  # noqa: BLE001  training goes on, whatever a forward says
            logger.warning("the small forward fails, only sizes and gradients are measured: %s", said(error))
            self.probe = None
            return {}

    def _close_update(self) -> None:
        """After the optimizer's step: how far positions moved beside the words."""
        if not self._before:
            return
        watched = targets(self.model)
        before, words = self._before, self._words
        self._before, self._words = {}, None
        if words is None or watched.words is None or words.shape[1:] != watched.words.shape[1:]:
            return
        with torch.no_grad():
            whole = moved(words, watched.words)
            each = {n: moved(before[n], table) for n, table in watched.positions.items() if n in before}
        ratios = {f"update ratio/{n}": value for n, part in each.items() if (value := ratio(part, whole)) is not None}
        finite = {name: value for name, value in ratios.items() if value != float("inf")}
        if finite:
            self.history[-1] |= finite
            self._tell(finite)

    def _tell(self, values: Mapping[str, float]) -> None:
        self.log(values, self.steps)
        self._alarm(*crossed(values))

    def _alarm(self, *found: Finding) -> None:
        told = {(f.where, *f.measured) for f in self.findings}
        for finding in found:
            if (finding.where, *finding.measured) not in told:
                self.findings.append(finding)
                logger.warning("step %d, %s: %s; %s", self.steps, finding.where, finding.message, finding.fix)
