# SPDX-License-Identifier: Apache-2.0
"""The page that `pincite serve` shows to a person: its files, and the answers that only it asks for."""
