# SPDX-License-Identifier: Apache-2.0
"""Where configuration comes from: the folder that PINCITE_CONFIG names, or else what is shipped in the package."""

import os
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from haystack_integrations.document_stores.pincite.errors import ConfigurationError

CONFIG_VARIABLE = "PINCITE_CONFIG"
PACKAGES = ("pincite.configs", "pincite.pipelines")


def config_dir() -> Path | None:
    """
    The user's configuration folder, or ``None`` when only the packaged configuration counts.

    :raises ConfigurationError: if PINCITE_CONFIG names something that is not a folder.
    """
    value = os.environ.get(CONFIG_VARIABLE, "")
    if not value:
        return None
    folder = Path(value).expanduser()
    if not folder.is_dir():
        raise ConfigurationError(f"{CONFIG_VARIABLE} is {value!r}, which is not a folder; name one or unset it")
    return folder


def read_config(name: str) -> tuple[str, str]:
    """
    Read a configuration or pipeline file.

    A file of the user's folder replaces the packaged one of the same name, whole; a file that the folder lacks comes
    from the package, so that a user copies only what he changes. The working folder is never searched (contract,
    "Where things are").

    :param name: a plain file name such as ``corpora.yaml``.
    :returns: the text, and where it was read from: a path, or ``pincite.configs/corpora.yaml``.
    :raises ConfigurationError: if neither place has the file, or it cannot be read as UTF-8 text.
    """
    if not name or name in {".", ".."} or any(mark in name for mark in "/\\\0:"):
        raise ConfigurationError(f"{name!r} is no configuration file name; write the name alone, without a folder")
    folder = config_dir()
    if folder is not None and (folder / name).is_file():
        return _decode(folder / name, str(folder / name)), str(folder / name)
    for package in PACKAGES:
        resource = resources.files(package).joinpath(name)
        if resource.is_file():
            return _decode(resource, f"{package}/{name}"), f"{package}/{name}"
    places = f"in {CONFIG_VARIABLE} ({folder})" if folder else f"in {CONFIG_VARIABLE} (not set)"
    raise ConfigurationError(f"{name} is neither {places} nor in the packages {' and '.join(PACKAGES)}")


def _decode(file: Path | Traversable, origin: str) -> str:
    try:
        # "utf-8-sig": editors on Windows put a byte order mark in front, which YAML would take for text.
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{origin} is not UTF-8 text (byte {error.start}); save it as UTF-8") from error
    except OSError as error:
        raise ConfigurationError(f"{origin} cannot be read: {error.strerror}") from error
