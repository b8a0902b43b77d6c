"""Damage to the bytes of a file, as transmission, editors and strangers do it."""

from __future__ import annotations

from random import Random

#: What is put in: marks of the formats, numbers at the ends of their ranges, bytes that are no text.
PIECES = (
    b"", b"0", b"-", b"-1", b"1e999", b"nan", b"inf", b"1e-320", b"99999999999999999999", b"2147483648",
    b" ", b"\t", b"\n", b"\r", b"\r\n", b"\n\n", b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe",
    b",", b";", b":", b"#", b'"', b'""', b"'", b"\\", b"\\ud800", b"[", b"]", b"{", b"}", b"null", b"true", b"<", b"</",
    b"ER  - ", b"TY  - ", b"qid:1", b"=", b"PAR1",
)  # fmt: skip


def damaged(content: bytes, random: Random) -> bytes:
    """Change, put in, take out, repeat or cut off some bytes."""
    parts = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 1, 2, 3, 8))):
        place = random.randrange(len(parts) + 1)
        match random.choice(("bit", "bit", "byte", "byte", "piece", "piece", "out", "repeat", "move", "cut")):
            case "bit" if place < len(parts):
                parts[place] ^= 1 << random.randrange(8)
            case "byte":
                parts[place : place + 1] = bytes([random.choice((0, 1, 127, 128, 255, random.randrange(256)))])
            case "piece":
                parts[place:place] = random.choice(PIECES)
            case "out":
                del parts[place : place + random.choice((1, 2, 4, 16, 100))]
            case "repeat":
                parts[place:place] = parts[place : place + random.choice((1, 8, 60))] * random.choice((1, 2, 50))
            case "move":
                other = random.randrange(len(parts) + 1)
                parts[other:other] = parts[place : place + 20]
            case "cut":
                del parts[place:]
    return bytes(parts)
