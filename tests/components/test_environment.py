# SPDX-License-Identifier: Apache-2.0
"""Switches from the environment."""

import pytest
from haystack_integrations.components.pincite.stages.environment import environment_count, environment_flag
from haystack_integrations.document_stores.pincite.errors import ConfigurationError

NAMES = ("PINCITE_TEST_SWITCH", "KB_TEST_SWITCH")


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("value", "on"), [("1", True), ("True", True), ("yes", True), (" on ", True), ("0", False), ("OFF", False)]
)
def test_a_flag(monkeypatch, value, on):
    monkeypatch.setenv(NAMES[1], value)
    assert environment_flag(*NAMES, default=not on) is on


def test_the_first_name_wins_and_empty_is_unset(monkeypatch):
    monkeypatch.setenv(NAMES[0], "")
    monkeypatch.setenv(NAMES[1], "7")
    assert environment_count(*NAMES, default=50) == 7
    monkeypatch.setenv(NAMES[0], "8")
    assert environment_count(*NAMES, default=50) == 8


def test_unset_is_the_default():
    assert environment_flag(*NAMES, default=True) is True
    assert environment_count(*NAMES, default=50) == 50


@pytest.mark.parametrize("value", ["maybe", "2"])
def test_a_flag_that_does_not_parse(monkeypatch, value):
    monkeypatch.setenv(NAMES[0], value)
    with pytest.raises(ConfigurationError, match=f"PINCITE_TEST_SWITCH is '{value}': expected 1, true"):
        environment_flag(*NAMES, default=False)


@pytest.mark.parametrize("value", ["0", "-1", "2.5", "many", "²"])
def test_a_count_that_does_not_parse(monkeypatch, value):
    monkeypatch.setenv(NAMES[0], value)
    with pytest.raises(ConfigurationError, match="expected a whole number from 1"):
        environment_count(*NAMES, default=50)
