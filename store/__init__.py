# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL behind Pincite: the embedded server, pools, schema and the corpus document store."""
