# SPDX-License-Identifier: Apache-2.0
"""How a query names an instrument: vocabulary, words, and where a name begins and ends."""
