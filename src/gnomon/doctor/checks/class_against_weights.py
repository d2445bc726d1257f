"""PE240: the class that the config names has another kind of positions than the weights in the files."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.adapters.claims import Claim
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt, claims
from gnomon.doctor.evidence.tables import is_position_name
from gnomon.report.document import Finding, Measured

ALIBI_KEYS = ("alibi", "use_alibi", "alibi_starting_size")
CODE = "auto_map"  # the class comes with the files


@check("PE240", "class-against-weights", severity="error", needs=("claims", "trained"))
def class_against_weights(subject: Subject) -> Iterator[Finding | Measured]:
    """The config's class has a table of positions that the checkpoint lacks, or passes over one that it holds.

    Why: a model with ALiBi or rotary positions has no table. Loaded as plain BERT, because its own code was not
    trusted or its `model_type` says so, it gets a table of fresh random numbers, stops at its length, and loses the
    bias it was trained with. The other way round, the class may know no relative positions, and leave the tables that
    the files hold for them unread: the BERT of transformers 5 does so with `position_embedding_type: relative_key`.

    Fix: load the class that the checkpoint was saved from (`trust_remote_code=True` where its code comes with it), or
    correct `model_type` and `position_embedding_type`. For relative BERT, a version of transformers that has it (4.x).

    Sources: DNABERT_2 issue 9 (an ALiBi model loaded as plain BERT fails above 512), transformers issue 31387;
    transformers pull request 41170 (relative positions taken out of BERT and its kin).
    """
    if not subject.trained:
        raise MissingEvidence("no weights from a checkpoint")
    learned = [claim for claim in claims(subject) if claim.kind == "learned" and claim.table_names]
    names = [info.name for info in subject.tensors.infos()]
    relative = [claim for claim in claims(subject) if claim.kind not in ("learned", "rotary") and claim.table_names]
    if not learned and not relative:
        raise MissingEvidence("the config claims no learned table of positions")
    config = attempt(lambda s: s.config, subject) or {}
    for claim in learned:
        held = [name for name in names if any(re.search(pattern, name) for pattern in claim.table_names)]
        yield Measured(f"position tables of {claim.where} in the files", len(held), 1, f"{len(names)} tensors read")
        if not held:
            yield _finding(claim, names, config)
    unread = _unread(subject) if relative else frozenset()
    for claim in relative:
        held = [name for name in names if any(re.search(pattern, name) for pattern in claim.table_names)]
        left = [name for name in held if any(name == key or name.endswith(f".{key}") for key in unread)]
        yield Measured(f"{claim.kind} tables of {claim.where} that loading left out", len(left), 0, f"of {len(held)}")
        if left:
            yield Finding(
                left[0],
                f"the files hold {len(held)} tables of the claimed {claim.kind} encoding, and the class that loads "
                f"them reads {len(held) - len(left)}: it has no such positions",
                "load it with the class, or the version of the library, that it was trained with",
                {"held": len(held), "left out": len(left)},
            )


def _unread(subject: Subject) -> frozenset[str]:
    """Tensors of the files that the loaded class has no place for."""
    report = attempt(lambda s: s.get("loading"), subject) or {}
    return frozenset(map(str, report.get("unexpected", ())))


def _finding(claim: Claim, names: list[str], config: Mapping[str, Any]) -> Finding:
    named = config.get("architectures")
    kind = str(named[0]) if isinstance(named, list | tuple) and named else str(config.get("model_type"))
    hints = [f"{key} is {config[key]!r}" for key in ALIBI_KEYS if config.get(key)]
    near = [name for name in names if is_position_name(name, ())]
    hint = f"; {hints[0]}, which plain classes do not read" if hints else f"; {near[0]} may be it" if near else ""
    return Finding(
        claim.where,
        f"{kind} has a learned table of {claim.options.get('rows', 'all')} positions and the files have none{hint}: "
        "loading draws it at random",
        "load the class that the checkpoint was saved from"
        + (" (trust_remote_code=True)" if CODE in config else ", or rename the table in the files"),
        {"tensors": len(names)},
        severity="warning" if CODE in config else "error",
    )
