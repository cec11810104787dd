"""What the file formats share: the program to write, numbers as text, atomic writing."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from pyomo.common.errors import InfeasibleConstraintException

from radcluster.conic.compiling.compiler import compile_model
from radcluster.conic.compiling.objective import with_epigraph
from radcluster.conic.program import ConicProgram
from radcluster.errors import InputError


def program_of(model) -> ConicProgram:
    """The program of a model over its own variables, with a linear objective."""
    try:
        program = compile_model(model, inline=True)
    except InfeasibleConstraintException as error:
        raise InputError(f"there is nothing to write: {error}") from None
    if not len(program.c):
        raise InputError(f"the model {model.name} has no free variables to write")
    return program if program.P is None else with_epigraph(program)


def number(value: float) -> str:
    """A number that reads back as the same."""
    return repr(float(value)) if value != int(value) or abs(value) > 1e15 else str(int(value))


def write_lines(path, lines: Iterable[str]) -> None:
    """Write a file at once: it is complete, or as it was."""
    path = Path(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="ascii") as stream:
            stream.writelines(f"{line}\n" for line in lines)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


class Fields:
    """The words of a file, taken one after the other."""

    def __init__(self, path, words: list[str]):
        self.path, self._words, self._next = path, words, 0

    def __bool__(self) -> bool:
        return self._next < len(self._words)

    def word(self) -> str:
        if not self:
            raise InputError(f"{self.path} ends too early")
        self._next += 1
        return self._words[self._next - 1]

    def _as(self, kind):
        word = self.word()
        try:
            return kind(word)
        except ValueError:
            raise InputError(f"{self.path}: {word!r} is not a number") from None

    def integer(self) -> int:
        return self._as(int)

    def real(self) -> float:
        return self._as(float)

    def index(self, below: int, first: int = 0) -> int:
        """A whole number from ``first`` on, as one from 0; less than ``below``."""
        found = self.integer() - first
        if not 0 <= found < below:
            raise InputError(f"{self.path}: the index {found + first} is out of range")
        return found
