"""Tables that follow from the code: solvers, methods, what a formulation is made of.

Directives: ``solver-table`` (all, or those that take one class of programs), ``method-table``,
``program`` (the mathematics that opens a module, as written there), ``measured`` (the table and
the figure that a benchmark wrote).
"""

from __future__ import annotations

import ast
import csv
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive

ROOT = Path(__file__).parent.parent.parent


def table(columns, rows) -> nodes.table:
    """A docutils table of plain words; words between backquotes become code."""
    group = nodes.tgroup(cols=len(columns))
    group.extend(nodes.colspec(colwidth=1) for _ in columns)
    head, body = nodes.thead(), nodes.tbody()
    head += _row(columns)
    body.extend(_row(row) for row in rows)
    group += [head, body]
    return nodes.table("", group)


def _row(cells) -> nodes.row:
    row = nodes.row()
    for cell in cells:
        paragraph = nodes.paragraph()
        for number, words in enumerate(str(cell).split("`")):
            if words:
                paragraph += nodes.literal(text=words) if number % 2 else nodes.Text(words)
        row += nodes.entry("", paragraph)
    return row


def _as_code(install: str) -> str:
    """The command as code, what stands in brackets as words."""
    command, bracket, note = install.partition(" (")
    if not command.startswith(("pip ", "apt-get ")) or " after " in command:
        return install
    return f"`{command}`{bracket}{note}"


class SolverTable(Directive):
    """``{solver-table}``, or ``{solver-table} MILP`` for those that take this class."""

    optional_arguments = 1

    def run(self):
        from radcluster.solvers.catalogue import SOLVERS

        wanted = self.arguments[0] if self.arguments else None
        rows = [
            (f"`{info.name}`", ", ".join(info.classes), _as_code(info.install))
            for info in SOLVERS.values()
            if wanted is None or wanted in info.classes
        ]
        return [table(("solver", "takes", "how to get it"), rows)]


class MethodTable(Directive):
    """``{method-table}``: the register of methods."""

    def run(self):
        from radcluster.methods.register import METHODS

        rows = [(f"`{m.name}`", m.summary, ", ".join(m.reads)) for m in METHODS.values()]
        return [table(("method", "what it does", "settings of its own"), rows)]


class Program(Directive):
    """``{program} models/milp.py``: the docstring that opens the file, as it stands there."""

    required_arguments = 1

    def run(self):
        path = ROOT / self.arguments[0]
        self.state.document.settings.env.note_dependency(str(path))
        text = ast.get_docstring(ast.parse(path.read_text()))
        return [nodes.literal_block(text, text, language="text", classes=["program"])]


class Measured(Directive):
    """``{measured} NAME``: the table of ``benchmarks/results/NAME.csv`` and the figure beside it.

    The words of the directive stand for them as long as nothing was measured.
    """

    required_arguments = 1
    has_content = True

    def run(self):
        stem = ROOT / "benchmarks" / "results" / self.arguments[0]
        data, picture = stem.with_suffix(".csv"), stem.with_suffix(".png")
        for path in (data, picture):
            self.state.document.settings.env.note_dependency(str(path))
        if not data.exists():
            found = nodes.container()
            self.state.nested_parse(self.content, self.content_offset, found)
            return found.children
        with data.open(newline="") as file:
            columns, *rows = csv.reader(file)
        found = [table(columns, rows)]
        if picture.exists():
            words = "Gap against seconds, a panel for each size and dimension"
            source = f"../benchmarks/results/{picture.name}"
            found.append(nodes.image("", uri=source, alt=words))
        return found


def setup(app):
    app.add_directive("measured", Measured)
    app.add_directive("solver-table", SolverTable)
    app.add_directive("method-table", MethodTable)
    app.add_directive("program", Program)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
