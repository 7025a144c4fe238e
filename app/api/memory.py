# SPDX-License-Identifier: Apache-2.0
"""
Memory of a server that runs for weeks: the C library is told to give back what is freed.

glibc makes an arena for every thread that allocates while another does, up to eight a core, and each keeps holes of its
own; and it stops giving large blocks back once it has seen some. Python keeps nothing of a search, yet the process grew
by 40 to 190 bytes a search for as long as was measured (``benchmarks/load.py``). With the settings below the heap stays
as large as it was after the first minute, and a search takes no more processor time (9.8 ms against 10.8).
"""

import ctypes
from collections.abc import Mapping

# From malloc.h, which says what they mean.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
_SETTINGS = {_ARENA_MAX: 2, _MMAP_THRESHOLD: 256 * 1024, _TRIM_THRESHOLD: 1024 * 1024}
_OF_THE_USER = ("MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD")


def steady_memory(environment: Mapping[str, str]) -> bool:
    """
    Tell the allocator; before threads are started.

    :param environment: of the process. Whoever set the allocator there, or another one, knows better.
    :returns: whether it was told: not by the user's wish, nor where the C library is no glibc.
    """
    if any(name.startswith(_OF_THE_USER) for name in environment):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and all(mallopt(name, value) for name, value in _SETTINGS.items())
