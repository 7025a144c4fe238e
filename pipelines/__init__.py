# SPDX-License-Identifier: Apache-2.0
"""One query pipeline and one indexing pipeline per corpus, and the loader that checks them."""
