"""R's glmnet as a peer: one process of R that holds the data and fits when asked."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

# Reads the matrix once, then a line "lambda thresh largest" for each fit. The way to the penalty asked for goes down a
# path of ten, as glmnet's authors advise; the coefficients are left in a file, the intercepts first.
_SCRIPT = """
suppressMessages(library(glmnet))
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]; family <- arguments[2]; alpha <- as.numeric(arguments[3])
read <- function(name, what, n) readBin(file.path(folder, name), what, n = n, size = if (what == "integer") 4 else 8)
size <- read("shape", "integer", 3)
X <- new("dgCMatrix", Dim = size[1:2], i = read("indices", "integer", size[3]),
         p = read("indptr", "integer", size[2] + 1), x = read("data", "double", size[3]))
y <- factor(read("labels", "integer", size[1]))
input <- file("stdin", "r")
while (length(line <- readLines(input, 1)) > 0) {
  asked <- as.numeric(strsplit(line, " ")[[1]])
  path <- exp(seq(log(max(asked[3], asked[1])), log(asked[1]), length.out = 10))
  model <- suppressWarnings(glmnet(X, y, family = family, alpha = alpha, lambda = path, thresh = asked[2],
                                   standardize = FALSE))
  last <- length(model$lambda)
  beta <- if (is.list(model$beta)) rbind(model$a0[, last], sapply(model$beta, function(b) b[, last])) else
    c(model$a0[last], model$beta[, last])
  writeBin(as.numeric(beta), file.path(folder, "beta"))
  cat("done\\n"); flush(stdout())
}
"""


def there() -> bool:
    """Tell whether R and glmnet are installed."""
    program = shutil.which("Rscript")
    return (
        program is not None and subprocess.run([program, "-e", "library(glmnet)"], capture_output=True).returncode == 0
    )


class Glmnet:
    """A process of R with a matrix and labels; the intercepts are not penalised."""

    def __init__(self, X: sp.csc_matrix, labels: np.ndarray, family: str, alpha: float) -> None:
        self.n_documents, self.n_columns = X.shape
        self.n_classes = 1 if family == "binomial" else len(np.unique(labels))
        self._folder = tempfile.TemporaryDirectory()
        arrays = {
            "shape": np.array([*X.shape, X.nnz], np.int32),
            "indices": X.indices.astype(np.int32),
            "indptr": X.indptr.astype(np.int32),
            "data": X.data.astype(np.float64),
            "labels": labels.astype(np.int32),
        }
        for name, array in arrays.items():
            array.tofile(Path(self._folder.name) / name)
        script = Path(self._folder.name) / "fit.R"
        script.write_text(_SCRIPT)
        command = ["Rscript", str(script), self._folder.name, family, str(alpha)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def fit(self, weight: float, tolerance: float, largest: float) -> np.ndarray:
        """Fit with a rate (or precision) on the scale of the sum of losses, down from the largest one.

        Returns a row for each class, the intercept first.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(weight / self.n_documents, tolerance, largest / self.n_documents, file=self._process.stdin, flush=True)
        if self._process.stdout.readline() != "done\n":
            raise RuntimeError("glmnet gave up")
        beta = np.fromfile(Path(self._folder.name) / "beta")
        return beta.reshape(self.n_classes, self.n_columns + 1)

    def __del__(self) -> None:
        self._process.kill()
        self._process.wait()
