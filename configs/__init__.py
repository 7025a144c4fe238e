# SPDX-License-Identifier: Apache-2.0
"""Configuration shipped with Pincite, read as package resources."""
