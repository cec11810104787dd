"""Writing files whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from radcluster.errors import InputError


def check_writable(path: str | Path) -> None:
    """Refuse a path that cannot be written, before the work is done."""
    if "\0" in str(path):
        raise InputError(f"cannot write {str(path)!r}: a path holds no NUL")
    parent = Path(path).resolve().parent
    if Path(path).is_dir():
        raise InputError(f"cannot write {path}: it is a folder")
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise InputError(f"cannot write {path}: no folder to write to at {parent}")


def write_labels(path: str | Path, labels) -> None:
    """One label per line, in the order of the points."""
    write_text(path, "".join(f"{label}\n" for label in labels))


def write_json(path: str | Path, data) -> None:
    """One JSON object."""
    write_text(path, json.dumps(data, allow_nan=False) + "\n")


def write_text(path: str | Path, text: str) -> None:
    """Write a file whole: until then, what was there stays as it was."""
    path = Path(path)
    try:
        if path.exists() and not path.is_file():
            path.write_text(text)  # a pipe or a device: nothing to keep
            return
        _replace(path.resolve(), text)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None


def _replace(path: Path, text: str) -> None:
    """Write beside the file, then put the new one in its place."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(descriptor, "w") as file:
            file.write(text)
        os.chmod(name, path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
