# SPDX-License-Identifier: Apache-2.0
"""Does the database still keep what the specification promises? (C2, S1, S3)"""
