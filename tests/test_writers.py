"""Whatever the package writes to a file, it writes to a temporary one first, or says here why not."""

from __future__ import annotations

import ast
from pathlib import Path

import bayesift

SOURCE = Path(bayesift.__file__).parent

#: Methods and functions that write files.
WRITES = {"write_text", "write_bytes", "savefig", "savez", "savez_compressed", "savetxt", "tofile", "to_csv", "to_json"}
WRITES |= {"to_parquet", "sink_csv", "write_csv", "write_parquet", "copyfile", "copy2", "symlink_to", "hardlink_to"}
#: Blocks in which they may: the file takes its place when the block ends.
ATOMIC = {"atomic_path", "open_output", "new_path"}
#: Functions that write in another way, and why.
OTHERWISE = {
    ("_files.py", "open_through"): "writes to devices and pipes, which cannot be replaced",
    ("_files.py", "_claimed"): "a lock, in the temporary folder",
    ("_files.py", "_remove_unclaimed"): "opens a lock",
    ("filtering/_store.py", "__init__"): "the journal, which is only added to",
    ("review/storage/claim.py", "__init__"): "a lock, which says who holds it",
    ("workflow/filter.py", "decision_writer"): "decisions, which are only added",
    ("workflow/filter.py", "_add_missing"): "decisions, which are only added",
    ("plots/display.py", "save_plot"): "draws into memory",
    ("datasets/_asreview.py", "_unpacked"): "tables of an archive, in a temporary folder",
    ("review/web/uploads.py", "kept"): "a file that was sent, in a temporary folder",
    ("shards/_layout.py", "write"): "the manifest, in the hidden folder that gets its name when all is written",
    ("shards/_writing.py", "__enter__"): "a lock and the plan, in that folder",
    ("shards/_writing.py", "_flush"): "the journal, in that folder, which is only added to",
    ("shards/_writing.py", "_finish"): "the terms, in that folder",
    ("workflow/warm.py", "warm"): "texts to classify, in a temporary folder",
}


def name_of(call):
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def is_writing(call):
    """Tell whether a call writes a file: by its name, or as ``open`` with such a mode."""
    if name_of(call) not in ("open", "fdopen"):
        # A function of the same name without a dot is one of ours.
        return isinstance(call.func, ast.Attribute) and name_of(call) in WRITES
    modes = [*call.args, *(word.value for word in call.keywords if word.arg == "mode")]
    texts = [mode.value for mode in modes if isinstance(mode, ast.Constant) and isinstance(mode.value, str)]
    return any(len(text) <= 4 and set(text) <= set("rwxabt+") and set(text) & set("wxa+") for text in texts)


def writers(node, function="", atomic=False):
    """Yield the functions in which something is written outside of the blocks."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        function = node.name
    if isinstance(node, ast.With):
        calls = [item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)]
        atomic = atomic or any(name_of(call) in ATOMIC for call in calls)
    if isinstance(node, ast.Call) and not atomic and is_writing(node):
        yield function
    for child in ast.iter_child_nodes(node):
        yield from writers(child, function, atomic)


def test_every_file_is_written_under_a_temporary_name():
    found = {
        (path.relative_to(SOURCE).as_posix(), function)
        for path in SOURCE.rglob("*.py")
        for function in writers(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == set(OTHERWISE)


def test_writers_are_recognised():
    def of(text):
        return list(writers(ast.parse(text)))

    assert of("def f(p):\n p.write_text('a')") == ["f"]
    assert of("def f(p):\n open(p, 'w')\n p.open(mode='ab')\n p.open('r+b')") == ["f"] * 3
    assert of("def f(p):\n with atomic_path(p) as t:\n  t.write_bytes(b'')\n  open(t, 'wb')") == []
    assert of("def f(p):\n with open(p) as t, p.open('rb') as s:\n  t.read()") == []
