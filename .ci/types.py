# SPDX-License-Identifier: Apache-2.0
"""
Run mypy on the packages under their import names.

The folders are not named like the packages they become (``package-dir`` in pyproject.toml), and mypy does not follow
an editable install's import hook. So the mapping is laid out as symbolic links below ``build/types``, and the paths
in mypy's report are turned back into those of the tree.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINKS = Path("build") / "types"
CHECKED = ("pincite", "haystack_integrations.components.pincite", "haystack_integrations.document_stores.pincite")


def link_packages() -> dict[str, str]:
    """Lay out the links; gives the tree's folder for each linked one, both relative to the root."""
    shutil.rmtree(ROOT / LINKS, ignore_errors=True)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    folders = {}
    for package, folder in settings["package-dir"].items():
        linked = LINKS.joinpath(*package.split("."))
        (ROOT / linked).mkdir(parents=True, exist_ok=True)
        for file in (ROOT / folder).iterdir():
            if file.suffix == ".py" or file.name == "py.typed":
                (ROOT / linked / file.name).symlink_to(file)
        folders[linked.as_posix()] = folder
    return folders


def main() -> int:
    folders = link_packages()
    command = [sys.executable, "-m", "mypy", "--strict", *(part for name in CHECKED for part in ("-p", name))]
    environment = {**os.environ, "MYPYPATH": str(ROOT / LINKS)}
    report = subprocess.run(  # noqa: S603 - our own command
        command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    text = report.stdout
    for linked, folder in sorted(folders.items(), key=lambda pair: -len(pair[0])):
        text = text.replace(f"{linked}/", f"{folder}/")
    sys.stdout.write(text)
    return report.returncode


if __name__ == "__main__":
    sys.exit(main())
