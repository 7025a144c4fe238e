# SPDX-License-Identifier: Apache-2.0
"""Haystack components of Pincite, one stage a file."""
