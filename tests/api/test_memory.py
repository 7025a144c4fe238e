# SPDX-License-Identifier: Apache-2.0
"""A server tells the allocator to give memory back, unless its user told it something else."""

import os
import platform
import subprocess
import sys

import pytest
from pincite.api.memory import steady_memory

# Threads that allocate at one time, each at home in an arena of its own if it may; prints how many there are.
COUNT_ARENAS = """
import ctypes, os, sys, tempfile, threading
from pincite.api.memory import steady_memory
if sys.argv[1] == "steady":
    assert steady_memory({})
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
barrier = threading.Barrier(12)
def work():
    barrier.wait()
    for _ in range(200):
        libc.malloc(5000)
    barrier.wait()
threads = [threading.Thread(target=work) for _ in range(12)]
[it.start() for it in threads], [it.join() for it in threads]
with tempfile.NamedTemporaryFile() as file:
    libc.fopen.restype = ctypes.c_void_p
    stream = ctypes.c_void_p(libc.fopen(file.name.encode(), b"w"))
    libc.malloc_info(0, stream)
    libc.fclose(stream)
    print(open(file.name).read().count("<heap nr="))
"""


def arenas(how: str) -> int:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run(
        [sys.executable, "-c", COUNT_ARENAS, how], check=True, stdout=subprocess.PIPE, text=True, env=kept
    )
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_threads_share_two_arenas() -> None:
    assert arenas("steady") <= 2 < arenas("as it is")


@pytest.mark.parametrize("name", ["MALLOC_ARENA_MAX", "GLIBC_TUNABLES", "LD_PRELOAD"])
def test_what_the_user_set_stays(name: str) -> None:
    assert steady_memory({name: "1"}) is False
