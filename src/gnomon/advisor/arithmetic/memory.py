"""Bytes that positions take, and those of a cache of keys and values beside them."""

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
FLOAT32 = 4


def whole_bias(num_heads: int, length: int) -> int:
    """A float32 bias for every head, query and key: 4 H T^2 bytes.

    >>> whole_bias(8, 1024)
    33554432
    """
    return FLOAT32 * num_heads * length * length


def one_row_bias(num_heads: int, length: int) -> int:
    """A float32 bias that is the same for every query, as causal ALiBi is: 4 H T bytes.

    >>> one_row_bias(8, 1024)
    32768
    """
    return FLOAT32 * num_heads * length


def cosines_and_sines(rotary_dim: int, length: int) -> int:
    """A float32 cosine and sine for each rotated pair and position: 4 d T bytes.

    >>> cosines_and_sines(64, 1024)
    262144
    """
    return FLOAT32 * rotary_dim * length


def vectors(dim: int, rows: int, dtype: str) -> int:
    """A table of vectors.

    >>> vectors(512, 528, "bfloat16")
    540672
    """
    return BYTES[dtype] * dim * rows


def key_value_cache(*, layers: int, key_heads: int, head_dim: int, length: int, batch: int, dtype: str) -> int:
    """A key and a value for each layer, head and token: 2 N H_kv D T B times the bytes of a number.

    >>> key_value_cache(layers=2, key_heads=1, head_dim=64, length=1024, batch=1, dtype="bfloat16")
    524288
    """
    return 2 * layers * key_heads * head_dim * length * batch * BYTES[dtype]
