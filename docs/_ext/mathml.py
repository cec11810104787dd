"""Mathematics as MathML, which browsers draw by themselves: no script, no network, no TeX."""

from __future__ import annotations

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def convert(source: str, **options) -> str:
    """MathML with sums at full size in tables, and braces that do not grow with their content."""
    found = tex2mathml(source, **options).replace("<mtable", '<mtable displaystyle="true"')
    for brace in "{}":
        found = found.replace(f"<mo>{brace}</mo>", f'<mo stretchy="false">{brace}</mo>')
    return found


def inline(writer, node):
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def display(writer, node):
    # ``align`` as TeX knows it is ``aligned`` within a display; docutils reads & and \\ itself.
    source = node.astext()
    for name in ("align*", "align", "equation*", "equation", "gather*", "gather"):
        source = source.replace(f"\\begin{{{name}}}", "").replace(f"\\end{{{name}}}", "")
    writer.body.append(f'<div class="math-display">{convert(source.strip(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
