# SPDX-License-Identifier: Apache-2.0
"""Pincite for agents: tools of the Model Context Protocol."""
