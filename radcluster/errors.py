"""What can go wrong, sorted by who has to act."""


class InputError(ValueError):
    """The data, an option or a combination of them cannot be used; the message says which."""


class SolverUnavailable(RuntimeError):
    """A known solver that is not installed here; the message says how to install it."""


class SolverFailure(RuntimeError):
    """A solver stopped without an answer that can be used."""
