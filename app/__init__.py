# SPDX-License-Identifier: Apache-2.0
"""Pincite, the application: command line, service and everything else that serves people and programs."""
