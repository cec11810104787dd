"""The house keeps its floor plan: an import points down, and setup.cfg lists every room."""

import ast
import configparser
from pathlib import Path

import pytest

import radcluster

ROOT = Path(__file__).parent.parent
#: The floor of each room, from the foundation up. Modules of the top level are named by themselves.
FLOORS = {
    0: ["clock", "compiled", "errors", "progress", "result", "show", "status"],
    1: ["problem", "solvers", "settings"],
    2: ["conic", "graph", "proof"],
    3: ["models"],
    4: ["relaxation", "feasibility"],
    5: ["methods", "api", "estimator", "datasets", "metrics", "plots", "views"],
    6: ["study"],
    7: ["cli", "benchmarks"],
}
FLOOR = {room: floor for floor, rooms in FLOORS.items() for room in rooms}
#: Rooms that may not look at each other although they share a floor, or at a lower one.
STRANGERS = {
    "conic": {"problem", "graph", "proof", "settings"},
    "proof": {"graph", "conic", "solvers"},
    "models": {"solvers"},
    "graph": {"conic", "proof", "solvers"},
}
MOST_MODULES = 12


def modules() -> dict[str, Path]:
    """Every module of the package, by the name under which it is imported."""
    found = {}
    for folder, package in (
        ("radcluster", "radcluster"),
        ("models", "radcluster.models"),
        ("benchmarks", "radcluster.benchmarks"),
    ):
        for path in (ROOT / folder).rglob("*.py"):
            parts = [package, *path.relative_to(ROOT / folder).with_suffix("").parts]
            found[".".join(part for part in parts if part != "__init__")] = path
    return found


def imported(tree: ast.AST, package: str, known) -> set[str]:
    """Modules of the package that a module imports, also inside its functions.

    What the package itself offers, such as ``from radcluster import solve``, counts as the module
    that it comes from.
    """
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            parts = above if node.level else []
            source = ".".join([*parts, *([node.module] if node.module else [])])
            names |= {f"{source}.{alias.name}" for alias in node.names} | {source}
    offered = {
        f"radcluster.{name}": getattr(radcluster, name).__module__ for name in radcluster.__all__
    }
    names = {offered.get(name, name) if name not in known else name for name in names}
    return {name for name in names if name in known and name != "radcluster"}


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else "radcluster"


def wrong_edges(sources: dict[str, str]) -> list[str]:
    """Imports that point up, or from one room to another that it may not know."""
    wrong = []
    for module, source in sources.items():
        if module == "radcluster":
            continue
        is_package = any(name.startswith(f"{module}.") for name in sources)
        package = module if is_package else module.rpartition(".")[0]
        for other in imported(ast.parse(source), package, sources):
            here, there = room(module), room(other)
            if here == there:
                continue
            if FLOOR[there] > FLOOR[here] or there in STRANGERS.get(here, ()):
                wrong.append(f"{module} imports {other}")
    return sorted(wrong)


@pytest.fixture(scope="module")
def sources():
    return {name: path.read_text() for name, path in modules().items()}


def test_every_module_has_a_floor(sources):
    assert {room(name) for name in sources} - {"radcluster"} <= set(FLOOR)


def test_imports_point_down(sources):
    assert wrong_edges(sources) == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("radcluster.problem.instance", "from radcluster.graph import conflicts"),
        ("radcluster.models.milp", "from radcluster.solvers.mip import solve_model"),
        ("radcluster.conic.schur", "import radcluster.problem.instance"),
        ("radcluster.proof.verify", "from radcluster.graph.cliques import max_clique"),
        ("radcluster.problem.instance", "from ..methods import exact"),
        ("radcluster.solvers.catalogue.scip", "from ...methods.exact import run"),
        ("radcluster.clock", "from .settings import Settings"),
        ("radcluster.graph", "from ..methods import exact"),
        ("radcluster.settings", "from radcluster import solve"),
    ],
)
def test_an_upward_import_is_found(sources, module, line):
    edited = sources | {module: f"{line}\n{sources[module]}"}
    assert any(edge.startswith(f"{module} imports") for edge in wrong_edges(edited))


def test_setup_cfg_lists_every_package(sources):
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    listed = set(config["options"]["packages"].split())
    assert listed == {name for name, path in modules().items() if path.name == "__init__.py"}


def test_no_room_is_crowded():
    for folder in (ROOT / "radcluster", *(ROOT / "radcluster").rglob("*")):
        if folder.is_dir():
            names = [path.name for path in folder.glob("*.py") if path.name != "__init__.py"]
            assert len(names) <= MOST_MODULES, f"{folder.name} has {len(names)} modules"
