# SPDX-License-Identifier: Apache-2.0
"""The demo corpus: instruments written for this project."""
