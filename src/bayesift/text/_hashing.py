"""Keyed hashing for the compiled tables: nobody can prepare texts whose tokens all meet in one place of a table.

Two words are multiplied after a secret word was mixed into each, and both halves of the 128-bit product are folded
into one (as in wyhash); a second product with two more secret words spreads what is left of the structure. The secret
is drawn anew in every process and never leaves it. It decides where a term stands in a table, and nothing else: the
numbers of terms and the columns of matrices do not depend on it.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from bayesift._kernel import kernel
from bayesift._typing import UInt64Array
from bayesift.text._bits import trailing_zeros

#: Words of a secret.
N_WORDS = 4

_U = np.uint64
_DOUBLE, _SINGLE = ir.IntType(128), ir.IntType(64)


def _fold_product(typing_context: Any, first: Any, second: Any) -> Any:
    """Multiply two ``uint64`` and return the exclusive or of the upper and the lower half of the product."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        product = builder.mul(*(builder.zext(argument, _DOUBLE) for argument in arguments))
        upper = builder.lshr(product, ir.Constant(_DOUBLE, 64))
        return builder.xor(builder.trunc(upper, _SINGLE), builder.trunc(product, _SINGLE))

    return types.uint64(types.uint64, types.uint64), generate


# Numba fills in the first argument; to a type checker the intrinsic is opaque.
fold_product: Any = intrinsic(_fold_product)


def new_secret() -> UInt64Array:
    """Draw a secret from the operating system."""
    words = np.frombuffer(os.urandom(8 * N_WORDS), dtype=np.uint64)
    # An odd factor loses no bit of the other one.
    return words | np.uint64(1)


#: The secret of this process.
SECRET = new_secret()


@kernel(inline="always")
def home_slot(low, high, secret, n_slots):  # type: ignore[no-untyped-def]
    """Return the slot at which the search for two words begins; the number of slots is a power of two, at least 2."""
    mixed = fold_product(fold_product(low ^ secret[0], high ^ secret[1]) ^ secret[2], secret[3])
    return np.int64(mixed >> (_U(64) - _U(trailing_zeros(_U(n_slots)))))
