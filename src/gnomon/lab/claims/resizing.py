"""Claims 39, 42 and 43: a learned table that is too short, one that is frozen, and positions that were never "
"trained."""

from typing import final

import torch
from torch import Tensor
from torch.nn.functional import interpolate

from gnomon.encodings import Learned, Rotary, Sinusoidal
from gnomon.encodings.base import PositionEncoding
from gnomon.lab.claims.base import Measured, Numbers, Said, claim, percent
from gnomon.lab.claims.seeds import seeded
from gnomon.lab.claims.small import Tagger, accuracy, fit, token_before
from gnomon.lab.experiments.context import Context

SHORT, LONG, DIM, SYMBOLS, HEADS = 12, 24, 32, 8, 2
TRAINED, TUNED = 500, 60  #: steps
CHANCE = 1 / SYMBOLS


def tagger(encoding: PositionEncoding) -> Tagger:
    return Tagger(SYMBOLS, SYMBOLS, encoding, dim=DIM, layers=1)


def score(model: Tagger, length: int, context: Context, *, first: int = 0) -> float:
    rows = token_before(length, symbols=SYMBOLS, rows=100)(context.generator("test", length))
    return accuracy(model, rows, first=first)


def with_table(model: Tagger, table: Tensor) -> Tagger:
    """A copy of the model whose learned table is this one."""
    encoding = Learned(len(table), DIM)
    encoding.weight.data.copy_(table)
    other = tagger(encoding)
    weights = {name: value for name, value in model.state_dict().items() if not name.endswith("encoding.weight")}
    other.load_state_dict(weights, strict=False)
    return other.eval()


def table_of(model: Tagger) -> Tensor:
    encoding = model.encoder.encoding
    assert isinstance(encoding, Learned)
    return encoding.weight.detach().clone()


@claim(39, "5.4")
@final
class Enlarging(Measured):
    """A trained table of 12 rows enlarged to 24 in three ways, at the old length and at the new one, before and after
    a short training at the new length."""

    statement = "When a learned table is too short, change to RoPE, or enlarge it and initialise it anew."
    truth = (
        "Enlarge it without losing what it knows: interpolate it, or keep the old rows and add new ones "
        "(Dosovitskiy et al. 2021, section 3.2, interpolate)."
    )
    gnomon = "`PE222` finds rows that went to the wrong places"

    def measure(self, context: Context) -> dict[str, float]:
        draw, generator = token_before(SHORT, symbols=SYMBOLS), context.generator("rows")
        numbers = {}
        with seeded(context):
            model = tagger(Learned(SHORT, DIM))
            fit(model, draw, generator, steps=TRAINED)
            old = table_of(model)
            fresh = Learned(LONG, DIM).weight.detach()
            stretched = interpolate(old.mT[None], LONG, mode="linear", align_corners=True)[0].mT
            kept = torch.cat((old, fresh[SHORT:]))
            for name, table in (("anew", fresh), ("stretched", stretched), ("kept", kept)):
                larger = with_table(model, table)
                numbers[f"{name}, old length"] = score(larger, SHORT, context)
                longer = context.generator("tuning")
                fit(larger, token_before(LONG, symbols=SYMBOLS), longer, steps=TUNED)
                numbers[f"{name}, tuned"] = score(larger, LONG, context)
        return {"before": score(model, SHORT, context), **numbers}

    def judge(self, numbers: Numbers) -> Said:
        anew, stretched, kept = (numbers[f"{name}, tuned"] for name in ("anew", "stretched", "kept"))
        seen = (
            f"A table of {SHORT} rows that gives {percent(numbers['before'])} is enlarged to {LONG}. At the old length "
            f"a table drawn anew gives {percent(numbers['anew, old length'])}, a stretched one "
            f"{percent(numbers['stretched, old length'])}, old rows kept {percent(numbers['kept, old length'])}. After "
            f"{TUNED} steps at {LONG}: {percent(anew)}, {percent(stretched)}, {percent(kept)}."
        )
        return Said("fails" if anew.high < max(stretched.low, kept.low) else "depends", seen)


@claim(42, "5.4")
@final
class FrozenTable(Measured):
    """Fine-tuning at positions whose rows were never trained, with the table frozen and free."""

    statement = "Frozen positions hurt fine-tuning where the task needs new positions: free them, or add an adapter."
    truth = "Plausible; it hangs on whether the rows in use were trained."
    gnomon = "`PE501` notes a frozen table; `PE212` finds rows that were never trained"

    def measure(self, context: Context) -> dict[str, float]:
        numbers = {}
        with seeded(context):
            model = tagger(Learned(LONG, DIM))
            fit(model, token_before(SHORT, symbols=SYMBOLS), context.generator("rows"), steps=TRAINED)
            for name, frozen in (("frozen", True), ("free", False)):
                tuned = with_table(model, table_of(model))
                tuned.encoder.encoding.requires_grad_(not frozen)
                draw, generator = token_before(SHORT, symbols=SYMBOLS), context.generator("tuning")
                fit(tuned, draw, generator, steps=TUNED, first=SHORT)
                numbers[name] = score(tuned, SHORT, context, first=SHORT)
        return {"before": score(model, SHORT, context), **numbers}

    def judge(self, numbers: Numbers) -> Said:
        frozen, free = numbers["frozen"], numbers["free"]
        seen = (
            f"A model that gives {percent(numbers['before'])} at positions 0 to {SHORT - 1} is tuned for {TUNED} "
            f"steps at {SHORT} to {LONG - 1}: {percent(frozen)} with the table frozen, {percent(free)} with it free."
        )
        return Said("holds" if frozen.high < free.low else "fails" if frozen.low > free.high else "depends", seen)


@claim(43, "5 end")
@final
class OutOfRange(Measured):
    """Trained at positions 0 to 5, used at 100 to 105."""

    statement = "Positions in use outside the range seen in training (0 to 5 against 100 and more) confuse a model."
    truth = "A real kind of fault for absolute positions; encodings that depend on distances alone do not see it."
    gnomon = "`PE212`, `PE512` and `PE513`; the [monitor](monitor.md) while training"

    def measure(self, context: Context) -> dict[str, float]:
        made = {"learned": Learned(128, DIM), "sinusoidal": Sinusoidal(DIM), "rotary": Rotary(DIM // HEADS)}
        numbers = {}
        for name, encoding in made.items():
            with seeded(context, name):
                if isinstance(encoding, Learned):
                    encoding.reset_parameters()
                model = tagger(encoding)
            fit(model, token_before(6, symbols=SYMBOLS), context.generator("rows"), steps=TRAINED)
            numbers[f"{name}, 0 to 5"] = score(model, 6, context)
            numbers[f"{name}, 100 to 105"] = score(model, 6, context, first=100)
        return numbers

    def judge(self, numbers: Numbers) -> Said:
        parts = [
            f"{name} {percent(numbers[f'{name}, 0 to 5'])} and {percent(numbers[f'{name}, 100 to 105'])}"
            for name in ("learned", "sinusoidal", "rotary")
        ]
        seen = f"Right at 0 to 5 and at 100 to 105: {', '.join(parts)}; chance is {CHANCE:.1%}."
        kept = {name: numbers[f"{name}, 100 to 105"] for name in ("learned", "sinusoidal", "rotary")}
        lost = all(kept[name].high < numbers[f"{name}, 0 to 5"].low for name in ("learned", "sinusoidal"))
        relative = kept["rotary"].low > 0.9 * numbers["rotary, 0 to 5"].low
        return Said("depends" if lost and relative else "holds" if lost else "fails", seen)
