# SPDX-License-Identifier: Apache-2.0
"""Pincite over HTTP."""
