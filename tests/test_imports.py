"""What ``import radcluster`` loads, and that Pyomo learns of the conic solvers in either order."""

import subprocess
import sys

import pytest


def run(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_importing_radcluster_imports_nothing_heavy():
    run("import sys, radcluster; assert not {'numpy', 'pyomo', 'sklearn'} & set(sys.modules)")


@pytest.mark.parametrize(
    "imports",
    [
        "import radcluster; from pyomo.environ import SolverFactory",
        "from pyomo.environ import SolverFactory; import radcluster",
    ],
)
def test_pyomo_knows_the_conic_solvers(imports):
    run(f"{imports}\nassert SolverFactory('clarabel').available(exception_flag=False)")
