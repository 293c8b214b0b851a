"""Library for LD_PRELOAD with which reading a file fails, as from a bad sector or a network folder for a moment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_SOURCE = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long reads;

/* Of the calls that read a file named $FAIL_FILE, those from $FAIL_FIRST to before $FAIL_END fail with $FAIL_ERRNO. */
ssize_t read(int file, void *buffer, size_t size) {
  char link[64], path[4096];
  const char *name = getenv("FAIL_FILE");
  size_t expected = name ? strlen(name) : 0;
  int before = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = name ? readlink(link, path, sizeof path) : 0;
  errno = before;
  if (expected && length >= (ssize_t)expected && !memcmp(path + length - expected, name, expected)) {
    if (reads++ >= atol(getenv("FAIL_FIRST")) && reads <= atol(getenv("FAIL_END"))) {
      errno = atoi(getenv("FAIL_ERRNO"));
      return -1;
    }
  }
  return syscall(SYS_read, file, buffer, size);
}

long reads_until_now(void) {
  long counted = reads;
  reads = 0;
  return counted;
}
"""


def run_with_failing_reads(script: str, *arguments: str, folder: Path) -> str:
    """Run a Python script in which reads fail, and return what it prints; skip the test where that is impossible.

    The script sets the variables that the source above names, and calls `reads_until_now` of `ctypes.CDLL(None)`, which
    starts the count again.
    """
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("needs Linux and a C compiler")
    library = folder / "failing_reads.so"
    command = [compiler, "-x", "c", "-shared", "-fPIC", "-o", str(library), "-"]
    if subprocess.run(command, input=_SOURCE, text=True, capture_output=True, check=False).returncode:
        pytest.skip("the C compiler lacks the headers of the C library")
    environment = os.environ | {"LD_PRELOAD": str(library), "FAIL_FIRST": "0", "FAIL_END": "0", "FAIL_ERRNO": "5"}
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, env=environment, check=False
    )
    assert not done.returncode, done.stderr
    return done.stdout
