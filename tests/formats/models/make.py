"""Write the stored model files, each with the answers it must always give.

``python tests/formats/models/make.py`` writes all, ``… make.py probit dcm`` some. Once a protocol is released, run it
only for a new one, into a new folder: the files that are there show that old ones can still be read.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from bayesift import save
from bayesift.formats.model_file import PROTOCOL
from formats.models.cases import CASES, NEW_COUNTS, NEW_TEXTS, TEXT_CASES, answers

STORED = ("text-lasso", "hashed-naive-bayes", "informed-lasso", "polytomous", "probit", "mixed", "dcm", "tagging")
STORED += ("relevance", "perceptron-low-rank", "process")


def main() -> None:
    """Write all files into the folder of the protocol that is written now."""
    folder = Path(__file__).parent / f"protocol-{PROTOCOL}"
    for name in sys.argv[1:] or STORED:
        model = {**TEXT_CASES, **CASES}[name]()
        documents = np.array(NEW_TEXTS) if name in TEXT_CASES else NEW_COUNTS
        save(model, folder / f"{name}.bayesift", provenance={"made by": "tests/formats/models/make.py", "case": name})
        np.savez_compressed(folder / f"{name}.npz", documents=documents, **answers(model, documents))


if __name__ == "__main__":
    main()
