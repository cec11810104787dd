"""The ``radcluster`` command. One module per command, loaded when it is called.

Exit codes: 0 solved, 2 bad input, 3 proven infeasible, 4 time limit without a solution,
5 solver not available, 1 a solver failed, 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import importlib
import os
import sys

import click

from radcluster.errors import (
    CompilingTimeUp,
    InputError,
    SolverFailure,
    SolverUnavailable,
    Terminated,
)
from radcluster.progress import announcing

#: Each command, the module that holds it, and its line in ``radcluster --help``.
COMMANDS = {
    "demo": "Solve the paper's two-moons instance to proven optimality and draw it.",
    "solve": "Cluster points so that no cluster is wider than 2r.",
    "run": "Solve the experiment that a TOML file describes.",
    "sweep": "Solve every combination of radius, clusters, method, solver and seed.",
    "min-clusters": "Fewest clusters that a radius needs, with proof.",
    "min-radius": "Smallest radius that a number of clusters allows, with proof.",
    "check": "Check a certificate or a partition, by none of the code that found it.",
    "solvers": "List the solvers by name: what they solve, what is installed.",
    "reproduce": "Reproduce the paper's table and figures.",
    "bench": "Measure this machine against the numbers in the documentation.",
}


class _LazyGroup(click.Group):
    def list_commands(self, ctx):
        return list(COMMANDS)

    def get_command(self, ctx, name):
        if name not in COMMANDS:
            return None
        command = importlib.import_module(f"radcluster.cli.{name.replace('-', '_')}").command
        command.name = name
        return command

    def format_commands(self, ctx, formatter):
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(self, ctx, args):
        if args and args[0] not in COMMANDS:
            raise click.UsageError(f"unknown command {args[0]!r}. Commands: {', '.join(COMMANDS)}")
        return super().resolve_command(ctx, args)


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="radcluster")
def cli():
    """k-means with a hard radius: no two points of a cluster more than 2r apart.

    Every answer comes with a bound, every refusal with a reason that can be checked by hand.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; errors are one line on standard error."""
    try:
        if any("\0" in argument for argument in arguments or ()):
            raise InputError("an argument holds a NUL character")
        with announcing(_say_compiling):
            code = cli.main(args=arguments, prog_name="radcluster", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help())
        code = 0
    except (click.ClickException, InputError) as error:
        code = _fail(error.format_message() if hasattr(error, "format_message") else error, 2)
    except SolverUnavailable as error:
        code = _fail(error, 5)
    except CompilingTimeUp as error:
        code = _fail(error, 4)
    except SolverFailure as error:
        code = _fail(error, 1)
    except BrokenPipeError:
        # Whoever read our output has gone; Python would complain once more on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        code = _fail(f"{where}{error.strerror or error}", 1)
    except MemoryError:
        code = _fail("out of memory: take fewer points, or method heuristic", 1)
    except (KeyboardInterrupt, click.Abort) as error:
        # click turns an interrupt into its own Abort.
        terminated = isinstance(error.__cause__, Terminated)
        code = _fail("terminated", 143) if terminated else _fail("interrupted", 130)
    sys.exit(code or 0)


def _say_compiling() -> None:
    click.echo("radcluster: compiling, once on this machine; it takes some seconds", err=True)


def _fail(message, code: int) -> int:
    line = " ".join(str(message).split())
    click.echo(f"radcluster: error: {line}", err=True)
    return code
