"""Randomness by name: a draw depends on what it is called, never on the order in which things were drawn."""

from __future__ import annotations

import hashlib
import zlib
from typing import Final

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, PRNGKeyArray

from theorax.errors import UsageError

# Words of 32 bits in the key of each generator of JAX that the engine uses.
WORDS: Final = {"threefry2x32": 2, "rbg": 4}

BY_NAME: Final = "key by name"
"""The scope of the steps that make a key of a name, in a traced program."""


def named(key: PRNGKeyArray, name: str, *indices: int | Int[Array, ""]) -> PRNGKeyArray:
    """The key of the variable called ``name``, or of its entry ``indices``, below ``key``.

    The CRC-32 of the name is folded in, then the indices one by one: ``named(key, "values", 2)`` are the values of
    layer two whatever else the program draws, so that two networks built from one key share every variable they both
    have.

    **Errors:** two names collide with probability 2^-32.
    """
    with jax.named_scope(BY_NAME):
        key = jax.random.fold_in(key, np.uint32(zlib.crc32(name.encode())))
        for index in indices:
            key = jax.random.fold_in(key, jnp.asarray(index, jnp.uint32))
    return key


def seed_of(*names: str | int) -> int:
    """The 63-bit seed that belongs to these names, in this order: the leading bits of their SHA-256.

    Each name is written with its length, so ("ab", "c") and ("a", "bc") differ.

    **Raises:** UsageError without any name: one seed for everything is no seed.
    """
    if not names:
        raise UsageError(
            "seed_of() was given no name.\n"
            "  Draws of different claims would then share their randomness.\n"
            '  Write what the draws are for: `seed_of("rank_collapse_width", "constant", "1")`.'
        )
    text = "".join(f"{len(str(name))}:{name}" for name in names)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def root(seed: int, generator: str = "threefry2x32") -> PRNGKeyArray:
    """The key that a seed of at most 64 bits stands for, the same one in float32 and in float64 sessions.

    ``jax.random.key`` keeps 32 bits of the seed unless 64-bit integers are enabled; here both halves are always used.

    **Raises:** UsageError if the seed has a sign or more than 64 bits, or the generator is unknown.
    """
    if generator not in WORDS:
        raise UsageError(f"There is no generator `{generator}`. Write one of: {', '.join(WORDS)}.")
    if not 0 <= seed < 2**64:
        raise UsageError(
            f"A seed of {seed.bit_length()} bits{', below zero,' if seed < 0 else ''} does not fit a key of 64 bits. "
            "`seed_of(*names)` makes one that fits."
        )
    halves = [seed >> 32, seed & 0xFFFFFFFF]
    words = jnp.array(halves * (WORDS[generator] // 2), jnp.uint32)
    return jax.random.wrap_key_data(words, impl=generator)
