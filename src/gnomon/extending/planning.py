"""What an extension of a checkpoint folder will change, chosen by what the model has: rotation, tables, or neither."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, final

from gnomon.adapters.checkpoints.huggingface import folder_config
from gnomon.adapters.claims import Claim
from gnomon.adapters.families import claims_of
from gnomon.adapters.families.config_reader import LENGTH, ConfigReader, inner
from gnomon.adapters.subject import MissingEvidence
from gnomon.errors import GnomonError
from gnomon.extending.asked import Asked
from gnomon.extending.beside import Beside, read_beside
from gnomon.extending.plan import Plan, with_edits
from gnomon.extending.rotary.composing import composed
from gnomon.extending.rotary.held import Lengths
from gnomon.extending.rotary.lengths import lengths_of
from gnomon.extending.rotary.methods import METHODS
from gnomon.extending.rotary.reading import RotaryConfig, read_rotary
from gnomon.extending.rotary.writing import rotary_plan
from gnomon.extending.sentences import sentences
from gnomon.extending.unused import require_read

AUTO: Final = "auto"
ROTARY: Final = tuple(name for name in METHODS if name != "llama3")  #: llama3 only goes on from itself
TABLES: Final = ("tile", "interpolate", "keep-first", "hierarchical")
WORDS: Final = {
    "learned": "a learned table of positions",
    "sinusoidal": "sinusoids",
    "alibi": "ALiBi",
    "nope": "no positions",
    "t5": "biases by distance in buckets",
    "deberta": "biases by distance",
    "shaw": "a vector for each distance",
    "transformer_xl": "relative sinusoids",
    "rotary": "a rotation of queries and keys",
    "mrope": "a rotation of queries and keys",
    "window_bias": "biases of a window",
    "log_cpb": "biases of a window",
}
#: encodings that have numbers for any distance: nothing changes but stated lengths
ENDLESS: Final = {
    "alibi": "ALiBi has a bias for every distance",
    "nope": "the layers have no positions",
    "transformer_xl": "relative sinusoids are worked out for every distance",
    "sinusoidal": "sinusoids are worked out for every position",
}


@final
@dataclass(frozen=True)
class Planned:
    """`config` and the files `beside` it as they are, and the plan. `rotary`: stacks are asked what they make of it."""

    source: Path
    config: Mapping[str, Any]
    beside: Beside
    plan: Plan
    method: str
    rotary: bool

    @property
    def new_config(self) -> dict[str, Any]:
        """config.json as it will be, its keys in their order."""
        return with_edits(self.config, self.plan.config)


def planned(source: Path, asked: Asked) -> Planned:
    """The plan for a folder with a config.json and weights; nothing is written.

    Raises GnomonError with one sentence for what cannot be extended so.
    """
    if asked.method not in (AUTO, *ROTARY, *TABLES):
        raise GnomonError(f"{asked.method!r} is no method; there are {', '.join((AUTO, *ROTARY, *TABLES))}.")
    config = folder_config(source)
    rotary = read_rotary(config) if isinstance(asked.to, int) else None
    parts = list(_parts(source, config, rotary, asked))
    turned = any(lengths is not None for _, _, lengths in parts)
    require_read(asked, turned=turned, tables=any(plan.tensors for _, plan, _ in parts))
    if not parts:
        parts = [("lengths", _without_change(config, asked, rotary), None)]
    plan = parts[0][1]
    for _, other, _ in parts[1:]:
        plan = plan.joined(other)
    beside = read_beside(source)
    if isinstance(asked.to, int):
        lengths = next((lengths for _, _, lengths in parts if lengths is not None), None)
        plan = _with_limits(plan, source, beside.plan(asked.to, _lengths_before(config, lengths)), asked.to)
    return Planned(source, config, beside, plan, ", ".join(name for name, _, _ in parts), rotary is not None)


def _parts(
    source: Path, config: Mapping[str, Any], rotary: RotaryConfig | None, asked: Asked
) -> Iterator[tuple[str, Plan, Lengths | None]]:
    """The plan for what turns, and the one for what is looked up, each with the name of its method."""
    if rotary is not None and isinstance(asked.to, int) and asked.method not in TABLES:
        lengths = lengths_of(rotary, asked.to, asked.original)
        made = composed(rotary, lengths, asked.method, asked.lists)
        yield made.method, rotary_plan(rotary, made), lengths
    if asked.method in (AUTO, *TABLES):
        from gnomon.extending.tables.planning import plan_tables

        options, optimizer = asked.tables, asked.optimizer
        found = plan_tables(source, config, to=asked.to, method=asked.method, options=options, optimizer=optimizer)
        if found is not None:
            yield "tables" if asked.method == AUTO else asked.method, found, None


def _with_limits(plan: Plan, source: Path, found: Plan, to: int) -> Plan:
    """The plan with the other files that cut texts; what it says of them itself goes first."""
    from gnomon.extending.tables.beside import texts_beside

    others = [(name, content, word) for name, content, word in texts_beside(source, to) if name not in plan.files]
    return replace(
        plan,
        tokenizer={**found.tokenizer, **plan.tokenizer},
        generation={**found.generation, **plan.generation},
        files={**plan.files, **{name: content for name, content, _ in others}},
        words=tuple(dict.fromkeys((*plan.words, *found.words, *(word for _, _, word in others)))),
    )


def _lengths_before(config: Mapping[str, Any], lengths: Lengths | None) -> frozenset[int]:
    stated = inner(ConfigReader(config)).find(*LENGTH).integer
    found = {stated, *((lengths.now, lengths.stated) if lengths else ())}
    return frozenset(length for length in found if length)


def _without_change(config: Mapping[str, Any], asked: Asked, rotary: RotaryConfig | None) -> Plan:
    """Encodings without an end: only stated lengths grow."""
    if rotary is not None:
        raise GnomonError(
            f"{asked.method!r} stretches tables, and this model turns its queries and keys; "
            f"use {AUTO}, {', '.join(ROTARY)}."
        )
    kinds = {claim.kind for claim in _claims(config)}
    to = asked.to
    if not isinstance(to, int):
        raise GnomonError(
            f"The model has no grid of patches and no windows that --to {to[0]}x{to[1]} could be for; give --to as a "
            "number of tokens."
        )
    if asked.method != AUTO or not kinds or not kinds <= ENDLESS.keys():
        raise GnomonError(f"The model has {_said(kinds)}; {_instead(kinds, asked.method)}.")
    reader = inner(ConfigReader(config))
    stated = {key: length for key in LENGTH if (length := reader.find(key).integer)}
    if (reached := max(stated.values(), default=0)) >= to:
        raise GnomonError(f"The checkpoint states {reached:,} tokens already; --to must be longer, got {to:,}.")
    return Plan(
        config={reader.named(key): to for key in stated},
        words=sentences(f"{ENDLESS[kind]}, so only stated lengths change" for kind in sorted(kinds)),
        drawbacks=("Whether the model is any good beyond the length that it was trained for is for --check to say.",),
    )


def _said(kinds: set[str]) -> str:
    return " and ".join(sorted(WORDS.get(kind, kind) for kind in kinds)) or "no encoding that gnomon knows"


def _instead(kinds: set[str], method: str) -> str:
    """What a method is for, and which one is for the model."""
    if not kinds or method == AUTO:
        return "nothing there can be made longer"
    of = "rotary models" if method in ROTARY else "tables of positions"
    if "learned" in kinds:
        return f"--method {method} is for {of}; give {', '.join(TABLES[:-1])} or {TABLES[-1]}"
    end = "where only stated lengths change" if kinds <= ENDLESS.keys() else "which says what can be done"
    return f"--method {method} is for {of}; give {AUTO}, {end}"


def _claims(config: Mapping[str, Any]) -> tuple[Claim, ...]:
    try:
        return claims_of(config)
    except MissingEvidence as error:
        raise GnomonError(f"The checkpoint cannot be extended: {error}.") from None
