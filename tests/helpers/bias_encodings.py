"""Score-bias encodings with several sets of options, and the scalar formula of each with the numbers it holds now."""

from collections.abc import Callable

import torch

from gnomon.encodings import FIRE, KERPLE, ALiBi, PositionEncoding, Sandwich, T5Bias, alibi, fire, kerple, sandwich, t5

Bias = Callable[[int, int, int], float]


def bias_formula(encoding: PositionEncoding) -> Bias:
    """The reference of a bias encoding as a function of head, query position and key position."""
    makers: dict[type, Callable[..., Bias]] = {
        ALiBi: _alibi,
        T5Bias: _t5,
        KERPLE: _kerple,
        Sandwich: _sandwich,
        FIRE: _fire,
    }
    return makers[type(encoding)](encoding)


def bias_encodings() -> dict[str, PositionEncoding]:
    """New instances at each call, with drawn parameters; names start with the registered name."""
    torch.manual_seed(0)
    made: dict[str, PositionEncoding] = {}
    for heads in (1, 4, 6, 12):
        made[f"alibi-{heads}-symmetric"] = ALiBi(heads)
        made[f"alibi-{heads}-causal"] = ALiBi(heads, form="causal")
        made[f"alibi-{heads}-asymmetric"] = ALiBi(heads, form="asymmetric")
    made["alibi-6-symmetric-16"] = ALiBi(6, alibi_bias_max=16)
    made["alibi-4-asymmetric-3"] = ALiBi(4, form="asymmetric", alibi_bias_max=3)
    made["alibi-6-causal-scaled"] = ALiBi(6, form="causal", logit_scale=8**-0.5)
    for direction in ("both", "causal"):
        made[f"t5-{direction}"] = _drawn_t5(T5Bias(6, direction=direction))  # type: ignore[arg-type]
        made[f"t5-{direction}-small"] = _drawn_t5(T5Bias(3, num_buckets=10, max_distance=21, direction=direction))  # type: ignore[arg-type]
    for form in ("log", "power"):
        made[f"kerple-{form}"] = KERPLE(6, form=form)  # type: ignore[arg-type]
        made[f"kerple-{form}-outside"] = _outside(KERPLE(6, form=form))  # type: ignore[arg-type]
    made["sandwich-128"], made["sandwich-6"] = Sandwich(6), Sandwich(3, sinusoid_dim=6)
    made["fire-512"], made["fire-8"] = FIRE(6), _lively(FIRE(6, hidden_dim=5, threshold=8, initial_c=0.7))
    return made


def _drawn_t5(encoding: T5Bias) -> T5Bias:
    """The same table for every direction and size of one shape, far from zero."""
    with torch.no_grad():
        encoding.weight.normal_(generator=torch.Generator().manual_seed(0))
    return encoding


def _outside(encoding: KERPLE) -> KERPLE:
    """Some parameters where the bounds must act: on both sides of them, at zero, and below it."""
    with torch.no_grad():
        encoding.p.copy_(torch.tensor([-0.5, 0.0, 0.005, 2.5, 1.0, 0.02]))
        encoding.a.copy_(torch.tensor([0.5, 1.5, 0.3, 0.2, -0.7, 0.001]))
    return encoding


def _lively(encoding: FIRE) -> FIRE:
    """Parameters that default initialisation does not reach: a negative c, another multiplier."""
    with torch.no_grad():
        encoding.c.neg_()
        encoding.multiplier.fill_(-1.25)
    return encoding


def _alibi(encoding: ALiBi) -> Bias:
    options = encoding.options
    return lambda head, i, j: alibi.reference(head, i, j, **options)


def _t5(encoding: T5Bias) -> Bias:
    table, most, direction = encoding.weight.tolist(), encoding.max_distance, encoding.direction
    return lambda head, i, j: t5.reference(head, i, j, table=table, max_distance=most, direction=direction)


def _kerple(encoding: KERPLE) -> Bias:
    p, a, form = encoding.p.tolist(), encoding.a.tolist(), encoding.form
    return lambda head, i, j: kerple.reference(i, j, p=p[head], a=a[head], form=form)


def _sandwich(encoding: Sandwich) -> Bias:
    heads, width = encoding.num_heads, encoding.sinusoid_dim
    return lambda head, i, j: sandwich.reference(head, i, j, num_heads=heads, sinusoid_dim=width)


def _fire(encoding: FIRE) -> Bias:
    c, threshold = abs(encoding.c.item()), abs(encoding.multiplier.item()) * encoding.threshold
    first = list(zip(encoding.hidden.weight[:, 0].tolist(), encoding.hidden.bias.tolist(), strict=True))
    second, last = encoding.output.weight.tolist(), encoding.output.bias.tolist()
    return lambda head, i, j: fire.reference(
        i, j, c=c, threshold=threshold, first=first, second=second[head], last=last[head]
    )
