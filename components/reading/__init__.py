# SPDX-License-Identifier: Apache-2.0
"""From files to text, and from text to sections, boundaries and quotes."""
