# SPDX-License-Identifier: Apache-2.0
"""Measuring retrieval: labelled questions, metrics, stages, baselines, and the gates a change must pass (E3, E4)."""
