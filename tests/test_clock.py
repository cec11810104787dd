"""The one clock: what a limit leaves, also for a part of the work."""

import math

import pytest

from radcluster.clock import Clock


@pytest.mark.parametrize(
    ("limit", "seconds", "expected"),
    [(None, 5.0, 5.0), (None, math.inf, None), (3.0, 5.0, 3.0), (5.0, 3.0, 3.0), (5.0, 0.0, 0.0)],
)
def test_a_part_ends_with_its_own_limit_or_with_the_whole(limit, seconds, expected):
    found = Clock(limit).within(seconds).limit
    assert found is None if expected is None else found == pytest.approx(expected, abs=0.1)


def test_a_part_of_a_cancelled_call_has_no_time():
    clock = Clock(None)
    assert not clock.within(5.0).expired
    clock.cancel()
    assert clock.expired and clock.within(5.0).expired
