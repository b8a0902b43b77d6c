"""Machine words out of byte buffers, for the compiled scanner.

Eight bytes are handled at a time as one 64-bit word ("SIMD within a register"); numba has no unaligned load, store or
count of trailing zeros, so these are given here as one-instruction intrinsics.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

_WORD = ir.IntType(64)


def _word_pointer(context: Any, builder: Any, array_type: Any, array: Any, offset: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [offset]), _WORD.as_pointer())


def _load_word(typing_context: Any, buffer: Any, offset: Any) -> Any:
    """Load eight bytes of a ``uint8`` array at any offset as a little-endian ``uint64`` (no bounds check)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_word_pointer(context, builder, signature.args[0], *arguments), align=1)

    return types.uint64(buffer, types.intp), generate


def _store_word(typing_context: Any, buffer: Any, offset: Any, word: Any) -> Any:
    """Store a ``uint64`` as eight little-endian bytes of a ``uint8`` array (no bounds check)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, position, value = arguments
        builder.store(value, _word_pointer(context, builder, signature.args[0], array, position), align=1)
        return context.get_dummy_value()

    return types.void(buffer, types.intp, types.uint64), generate


def _trailing_zeros(typing_context: Any, word: Any) -> Any:
    """Count the zero bits below the lowest set bit of a non-zero ``uint64``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


def _swap_bytes(typing_context: Any, word: Any) -> Any:
    """Reverse the eight bytes of a ``uint64``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bswap(arguments[0])

    return types.uint64(types.uint64), generate


# Numba fills in the first argument; to a type checker the intrinsics are opaque.
load_word: Any = intrinsic(_load_word)
store_word: Any = intrinsic(_store_word)
trailing_zeros: Any = intrinsic(_trailing_zeros)
swap_bytes: Any = intrinsic(_swap_bytes)
