# SPDX-License-Identifier: Apache-2.0
"""What a document is called: its heading, its parties, its file name."""
