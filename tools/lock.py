"""Turn a report of pip into a list of versions with their hashes: ``python tools/lock.py REPORT LOCK``.

The report is what ``pip install --dry-run --ignore-installed --report REPORT …`` writes. ``pip install --require-hashes
-r LOCK`` then installs these very files, wherever they come from; the list holds no addresses.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def locked(report: dict[str, Any]) -> list[str]:
    """Return a line for every file that would be installed, sorted; the project itself, a folder, has none."""
    lines = []
    for item in report["install"]:
        if "dir_info" in item["download_info"]:
            continue
        name, version = item["metadata"]["name"], item["metadata"]["version"]
        digest = item["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256")
        if digest is None:
            raise ValueError(f"{name} {version} has no SHA-256 in the report; expected one for every file")
        lines.append(f"{name}=={version} --hash=sha256:{digest}")
    return sorted(lines, key=str.lower)


def main() -> None:
    """Read the report and write the list."""
    report, target = map(Path, sys.argv[1:])
    lines = locked(json.loads(report.read_text(encoding="utf-8")))
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{target}: {len(lines)} packages")


if __name__ == "__main__":
    main()
