# SPDX-License-Identifier: Apache-2.0
"""Leaving a failing ranker alone, and trying it again."""

import pytest
from haystack_integrations.components.pincite.ranking.circuit_breaker import CircuitBreaker


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def breaker(clock):
    return CircuitBreaker(3, 30.0, clock)


def fail(breaker, times):
    for _ in range(times):
        assert breaker.admit()
        breaker.record(success=False)


def test_it_opens_after_failures_in_a_row(breaker):
    fail(breaker, 2)
    breaker.record(success=True)
    fail(breaker, 3)
    assert not breaker.admit()


def test_one_trial_after_the_pause_closes_it(breaker, clock):
    fail(breaker, 3)
    clock.now = 29.9
    assert not breaker.admit()
    clock.now = 30.0
    assert breaker.admit()
    assert not breaker.admit(), "one trial at a time"
    breaker.record(success=True)
    fail(breaker, 2)
    assert breaker.admit()


def test_a_trial_that_fails_opens_it_for_another_pause(breaker, clock):
    fail(breaker, 3)
    clock.now = 30.0
    fail(breaker, 1)
    clock.now = 59.9
    assert not breaker.admit()
    clock.now = 60.0
    assert breaker.admit()


def test_a_trial_that_was_given_up_leaves_room_for_the_next(breaker, clock):
    fail(breaker, 3)
    clock.now = 30.0
    assert breaker.admit()
    breaker.release()
    assert breaker.admit()
