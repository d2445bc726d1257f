"""PE503: outputs follow a position parameter, but no gradient comes back to it."""

from collections.abc import Iterator

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.backward import backward
from gnomon.doctor.evidence.calling import model
from gnomon.report.document import Finding, Measured


@check("PE503", "position-parameter-detached", severity="error", needs=(backward,))
def position_parameter_detached(subject: Subject) -> Iterator[Finding | Measured]:
    """A bias table, slopes or frequencies change the outputs, but the backward pass does not reach them.

    Why: a learned bias goes through code that tables of the embeddings never see: a fused attention kernel that gives
    no gradient for its mask, a cache that was filled without autograd, a value read through `.data` or `.item()`. The
    loss falls all the same, and the parameter keeps its first values.

    Fix: compute the bias from the parameter in every forward, inside autograd, and take an attention path that has a
    gradient for it (a dense bias given to scaled_dot_product_attention has one; torch's flex attention on CPU has
    none).

    Sources: attention-gym issues 20 and 69, pytorch issue 145208 (learned biases in flex attention).
    """
    found = backward(subject)
    limit = model(subject).tolerance
    if found.failure:
        yield Finding(
            "the backward pass",
            f"the backward pass fails: {found.failure}",
            "take an attention path that has a gradient for everything it captures: a dense bias as attn_mask",
        )
    for reached in found.reached:
        yield Measured(f"gradient reaches {reached.name}", str(any(reached.not_zero)), "True", "outputs follow it")
        if reached.effect > limit and not any(reached.not_zero):
            how = "is zero" if any(reached.in_graph) else "does not exist"
            yield Finding(
                reached.name,
                f"outputs move by {reached.effect:.2g} of their size when it moves, but its gradient {how}",
                "compute the bias from the parameter in every forward: no .data, no detach(), no cache made without"
                " autograd",
                {"effect": reached.effect, "gradient": 0.0},
            )
