"""ASReview's simulate command with its default model, from the same two starting records."""

from __future__ import annotations

import csv
import os
import sqlite3
import subprocess
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from bayesift._typing import BoolArray
from bayesift.review.simulate import Simulation

#: The program, and where its project files are kept from one run of the benchmark to the next.
PROGRAM = os.environ.get("ASREVIEW", "asreview")
RUNS = Path(os.environ.get("ASREVIEW_RUNS", Path(tempfile.gettempdir()) / "asreview-runs"))


def run(review: str, texts: list[str], relevant: BoolArray, start: tuple[int, int], seed: int) -> Path:
    """Return the project file of a simulation; made now unless it is there."""
    project, done = RUNS / f"{review}-{seed}.asreview", RUNS / f"{review}-{seed}.done"
    if done.exists():
        return project
    RUNS.mkdir(parents=True, exist_ok=True)
    table = RUNS / f"{review}.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["title", "abstract", "label_included"])
        for text, label in zip(texts, relevant, strict=True):
            title, _, abstract = text.partition("\n")
            writer.writerow([title, abstract, int(label)])
    project.unlink(missing_ok=True)
    command = [PROGRAM, "simulate", table, "--prior-idx", *start, "--seed", seed, "--output", project]
    subprocess.run([str(part) for part in command], check=True, capture_output=True, cwd=RUNS)
    done.touch()
    return project


def read(project: Path, relevant: BoolArray, start: tuple[int, int]) -> Simulation:
    """Read the order of the records; those that came after the last relevant one follow in their own order."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(zipfile.ZipFile(project).read("results.db"))
        file.flush()
        rows = sqlite3.connect(file.name).execute("SELECT record_id FROM results ORDER BY rowid").fetchall()
    order = [int(row) for (row,) in rows]
    if tuple(order[:2]) != start:
        raise ValueError(f"{project.name} starts from the records {order[:2]}; expected {start}")
    rest = np.setdiff1d(np.arange(len(relevant)), order)
    reading = np.append(np.array(order[2:], dtype=np.int64), rest)
    return Simulation(reading, relevant[reading], ["peer"] * len(reading), start)
