# SPDX-License-Identifier: Apache-2.0
"""What the reranker runs and how it is watched."""
