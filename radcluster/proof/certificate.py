"""What every certificate can do: be checked against an instance, and say itself in words."""

from __future__ import annotations

import math
from typing import ClassVar, Self

from radcluster import show
from radcluster.errors import InputError
from radcluster.problem.instance import Instance
from radcluster.proof.facts import Facts


class Certificate(dict):
    """A reason why an instance has no partition.

    Examples
    --------
    >>> from radcluster import Instance
    >>> from radcluster.proof.certificates import certificate_of
    >>> line = Instance([[0.0], [1.0], [2.0]], n_clusters=1, radius=0.25)
    >>> certificate = certificate_of({"kind": "clique", "points": [0, 1, 2], "fewest_clusters": 3})
    >>> certificate.check(line), certificate.check(line.replace(n_clusters=3))
    (True, False)
    >>> certificate.explain(line)
    'n_clusters=1 is infeasible at radius=0.25: these 3 points are pairwise more than 0.5 apart: \
[0, 1, 2]. Fewest clusters: 3.'
    """

    kind: ClassVar[str]
    #: The instance that it speaks of, where that is known.
    instance: Instance | None = None

    def about(self, instance: Instance) -> Self:
        """The same certificate, told which instance it speaks of."""
        self.instance = instance
        return self

    def _known(self, instance: Instance | None) -> Instance:
        instance = self.instance if instance is None else instance
        if instance is None:
            raise InputError("this certificate does not know its instance: give it one")
        return instance

    def plot(self, instance: Instance | None = None, ax=None, title: str | None = None):
        """Draw the reason on the data: the points in conflict, and how far apart they are.

        In the plane, mutually conflicting points get a disc of radius r each. No two discs
        overlap exactly when every two points lie more than 2r apart, so the eye checks the proof.
        In other dimensions the distances are written into a matrix.

        Returns
        -------
        matplotlib Axes
        """
        return show.view("certificates", "plot")(self, self._known(instance), ax, title)

    def _repr_html_(self) -> str:
        facts = [(name, _brief(value)) for name, value in self.items()]
        words = "" if self.instance is None else show.paragraph(self.explain())
        return show.card("radcluster certificate", facts, words)

    def proves(self, facts: Facts) -> bool:
        """Whether the facts bear it out. A missing or odd entry may raise."""
        raise KeyError(self.kind)

    def reason(self, instance: Instance) -> str:
        """The heart of the sentence, without its ends."""
        raise KeyError(self.kind)

    def check(self, instance: Instance | None = None) -> bool:
        """Whether it proves that the instance has no partition; a malformed one does not."""
        instance = self._known(instance)
        try:
            return self.proves(Facts(instance))
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):
            return False

    def explain(self, instance: Instance | None = None) -> str:
        """Why the instance is infeasible, in words that can be checked by hand."""
        instance = self._known(instance)
        start = f"n_clusters={instance.n_clusters} is infeasible at radius={_radius(instance)}: "
        return f"{start}{self.reason(instance)}.{self._remedies(instance)}"

    def _remedies(self, instance: Instance) -> str:
        text = ""
        if "fewest_clusters" in self:
            text += f" Fewest clusters: {self['fewest_clusters']}."
        if "smallest_radius" in self:
            radius = _rounded_up(self["smallest_radius"])
            text += f" Smallest radius for {instance.n_clusters}: {radius}."
        return text


def _brief(value) -> str:
    words = str(value)
    return words if len(words) <= 80 else f"{words[:77]}..."


def _rounded_up(radius: float) -> str:
    """Six digits that are never too small: the radius as printed must suffice."""
    if radius == 0:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(radius)) - 5)
    text = f"{radius:.6g}"
    return text if float(text) >= radius else f"{float(text) + unit:.6g}"


def _radius(instance: Instance) -> str:
    if instance.uniform_radius:
        return f"{instance.radius:.9g}"
    return "(" + ", ".join(f"{r:.9g}" for r in instance.radii) + ")"
