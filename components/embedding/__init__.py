# SPDX-License-Identifier: Apache-2.0
"""The local embedding models."""
