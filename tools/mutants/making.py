"""What can be broken in a function: one small change for each line, found in its syntax tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BEYOND = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
_TURNED = {ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<"}
_OPPOSITE = {ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is"}
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Pow: "*", ast.BitAnd: "|",
    ast.BitOr: "&", ast.Mod: "*",
}  # fmt: skip
_NAMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any"}
_OPERATOR = re.compile(rb"not\s+in|is\s+not|in|is|and|or|<=|>=|==|!=|\*\*|//|[-+*/%&|<>]")
#: Which of several changes of a line is made: the one that tells most.
_RANKS = ("check", "comparison", "operator", "name", "negation", "number")


@dataclass(frozen=True)
class Mutant:
    """A change of one place of a file: the bytes from ``start`` to ``end`` become ``new``."""

    file: str
    function: str
    line: int
    start: int
    end: int
    old: str
    new: str
    kind: str

    def __str__(self) -> str:
        old = " ".join(self.old.split())
        return f"{self.file}:{self.line} {self.function}: {old} -> {self.new}"

    def applied(self, source: bytes) -> bytes:
        """Return the file with the change."""
        return source[: self.start] + self.new.encode() + source[self.end :]


class _Finder:
    """Lists the changes that can be made in a function."""

    def __init__(self, file: str, source: bytes, function: str, boundaries: bool) -> None:
        self.file, self.source, self.function, self.boundaries = file, source, function, boundaries
        self.lines = [0]
        for line in source.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))

    def span(self, node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self.lines[node.lineno - 1] + node.col_offset
        return start, self.lines[node.end_lineno - 1] + node.end_col_offset

    def change(self, start: int, end: int, new: str, kind: str) -> Mutant:
        line = self.source.count(b"\n", 0, start) + 1
        return Mutant(self.file, self.function, line, start, end, self.source[start:end].decode(), new, kind)

    def operator(self, left: ast.expr, right: ast.expr, new: str, kind: str) -> Iterator[Mutant]:
        start, end = self.span(left)[1], self.span(right)[0]
        found = _OPERATOR.search(self.source, start, end)
        if found:
            yield self.change(*found.span(), new, kind)

    def of(self, node: ast.AST) -> Iterator[Mutant]:
        """List the changes of a node itself."""
        if isinstance(node, ast.If) and all(isinstance(part, ast.Raise) for part in node.body):
            yield self.change(*self.span(node.test), "False", "check")
        elif isinstance(node, ast.Compare) and len(node.ops) >= 1:
            kind = type(node.ops[0])
            order = _BEYOND if self.boundaries else _TURNED
            new = order.get(kind) or _OPPOSITE[kind]
            yield from self.operator(node.left, node.comparators[0], new, "comparison")
        elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            yield from self.operator(node.left, node.right, _OPERATORS[type(node.op)], "operator")
        elif isinstance(node, ast.AugAssign) and type(node.op) in _OPERATORS:
            yield from self.operator(node.target, node.value, _OPERATORS[type(node.op)], "operator")
        elif isinstance(node, ast.BoolOp):
            new = "or" if isinstance(node.op, ast.And) else "and"
            yield from self.operator(node.values[0], node.values[1], new, "operator")
        elif isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
            yield self.change(self.span(node)[0], self.span(node.operand)[0], "", "negation")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if name in _NAMES:
                end = self.span(node.func)[1]
                yield self.change(end - len(name), end, _NAMES[name], "name")
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
            value = node.value
            other = not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else 2 * value or 1.0
            yield self.change(*self.span(node), repr(other), "number")


def _inner(node: ast.AST) -> Iterator[ast.AST]:
    """List the nodes of a function, without texts, types and what an error says."""
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Assert):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "args", "decorator_list") and not isinstance(node, ast.Call):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _inner(child)


def mutants_of(root: Path, file: str, functions: list[str] | None, boundaries: bool) -> list[Mutant]:
    """Return one change for each line of the functions of a file that has any, in the order of the lines."""
    source = (root / file).read_bytes()
    best: dict[int, Mutant] = {}
    named = set()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef) or (functions is not None and node.name not in functions):
            continue
        named.add(node.name)
        finder = _Finder(file, source, node.name, boundaries)
        for inner in _inner(node):
            for mutant in finder.of(inner):
                known = best.get(mutant.line)
                if known is None or _RANKS.index(mutant.kind) < _RANKS.index(known.kind):
                    best[mutant.line] = mutant
    if functions is not None and named != set(functions):
        raise ValueError(f"{file} has no function {sorted(set(functions) - named)[0]}")
    return [best[line] for line in sorted(best)]
