"""What the tensors of an attention are for, by the names that the field gives them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, final

from gnomon.errors import GnomonError

Role = Literal["query", "key", "fused", "query norm", "key norm", "value", "other"]

MODULES: Mapping[Role, re.Pattern[str]] = {
    "query": re.compile(r"q|wq|w_q|q_?proj|query(_proj)?|to_q|q_lin|linear_q|q_b_proj", re.IGNORECASE),
    "key": re.compile(r"k|wk|w_k|k_?proj|key(_proj)?|to_k|k_lin|linear_k|kv_a_proj_with_mqa", re.IGNORECASE),
    "fused": re.compile(r"qkv|wqkv|qkv_?proj|to_qkv|query_key_value", re.IGNORECASE),
    "value": re.compile(r"v|wv|w_v|v_?proj|value(_proj)?|to_v|v_lin|linear_v", re.IGNORECASE),
    "query norm": re.compile(r"(q|query)_(norm|layernorm|ln)", re.IGNORECASE),
    "key norm": re.compile(r"(k|key)_(norm|layernorm|ln)", re.IGNORECASE),
    #: outputs, sinks, masks and tables, and of latent attention what comes before the heads: no lane of a head in it
    "other": re.compile(
        r"o|wo|w_o|o_?proj|out|out_?proj|output|dense|proj|c_proj|to_out|out_lin|linear_out|sinks?|lambda_\w+|v_norm"
        r"|rotary_\w+|inv_freq|embed_positions|bias|masked_bias|attn_sub_norm|subln|groupnorm|inner_attn_ln"
        r"|q_a_proj|q_a_layernorm|kv_a_layernorm|kv_b_proj",
        re.IGNORECASE,
    ),
}
OTHER_TOWER = re.compile(r"vis(ion|ual)|image|audio|cross|encoder_attn", re.IGNORECASE)  #: text alone is moved
ROWS = re.compile(r"(base_layer\.)?(weight|bias)|lora_B(\.\w+)?\.(weight|bias)|lora_magnitude_vector(\.\w+)*")
COLUMNS = re.compile(r"lora_A(\.\w+)?\.weight")  #: of a low-rank update: it reads the input, whatever the heads are
IN_NORM = re.compile(r"(norms\.\d+\.)?(weight|bias)")  #: StableLM has a norm for each head
LAYER = re.compile(r"(?<=\.)\d+(?=\.)")


@final
@dataclass(frozen=True)
class Name:
    """The name of a tensor, `attention` + `module` + "." + `part`, and what it is for."""

    whole: str
    attention: str
    module: str
    part: str
    role: Role

    @property
    def moves(self) -> bool:
        """Whether its rows lie in the order of the lanes."""
        return self.role not in ("value", "other") and not COLUMNS.fullmatch(self.part)

    @property
    def layer(self) -> int:
        numbers = LAYER.findall("." + self.attention)
        return int(numbers[-1]) if numbers else 0


def attentions_of(names: tuple[str, ...]) -> dict[str, tuple[Name, ...]]:
    """The tensors of every attention of the text model, by its path; those of each in order.

    Raises GnomonError for a tensor in an attention whose use is not known: rows of it might have to move too.

    >>> [name.role for name in attentions_of(("h.0.attn.q_proj.weight",))["h.0.attn."]]
    ['query']
    """
    paths = {path for name in names if (path := _anchor(name)) is not None and not OTHER_TOWER.search(name)}
    found: dict[str, list[Name]] = {path: [] for path in sorted(paths)}
    for name in sorted(names):
        steps = name.split(".")
        above = [path for cut in range(len(steps)) if (path := "".join(f"{step}." for step in steps[:cut])) in paths]
        if above:
            found[above[-1]].append(_read(name, above[-1]))
    return {path: tuple(members) for path, members in found.items()}


def _anchor(name: str) -> str | None:
    """The path of the attention that a projection of queries, or a fused one, stands in."""
    steps = name.split(".")
    for place, step in enumerate(steps):
        if any(MODULES[role].fullmatch(step) for role in ("query", "key", "fused")):  # type: ignore[index]
            return "".join(f"{before}." for before in steps[:place])
    return None


def _read(whole: str, attention: str) -> Name:
    module, _, part = whole.removeprefix(attention).partition(".")
    role = next((role for role, pattern in MODULES.items() if pattern.fullmatch(module)), None)
    if role is None:
        raise GnomonError(
            f"The tensor {whole!r} lies in an attention, and its use is not known: it may have to move with the rows "
            "of queries and keys, so nothing is written."
        )
    name = Name(whole, attention, module, part, role)
    fits = IN_NORM if role in ("query norm", "key norm") else ROWS
    if name.moves and not fits.fullmatch(part):
        raise GnomonError(
            f"The tensor {whole!r} belongs to quantised or packed weights, whose rows cannot be moved one by one; "
            "permute the weights before they are quantised."
        )
    return name
