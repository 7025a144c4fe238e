# SPDX-License-Identifier: Apache-2.0
"""``pincite init --here``: the shipped configuration and pipelines as files to edit."""

from importlib import resources
from pathlib import Path

from haystack_integrations.document_stores.pincite.errors import BadInputError
from haystack_integrations.document_stores.pincite.resources import PACKAGES


def copy_configuration(folder: Path) -> tuple[list[str], list[str]]:
    """
    Copy every packaged YAML file into ``folder``; a file that is already there is left as it is.

    :returns: names of the files written, and of those left alone.
    :raises BadInputError: the folder cannot be written to.
    """
    written: list[str] = []
    kept: list[str] = []
    for package in PACKAGES:
        for resource in sorted(resources.files(package).iterdir(), key=lambda entry: entry.name):
            if resource.name.endswith(".yaml"):
                new = _write_new(folder / resource.name, resource.read_bytes())
                (written if new else kept).append(resource.name)
    return written, kept


def _write_new(path: Path, content: bytes) -> bool:
    try:
        # "x": the check and the creation are one step, so an edited file cannot be lost between them.
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        return False
    except OSError as error:
        raise BadInputError(f"{path} cannot be written: {error.strerror}") from error
    return True
