"""Shared by the tests of the training programs in workloads/: launches them and parses their output."""

import os
import pathlib
import re
import shutil
import subprocess

BUILD = pathlib.Path(os.environ.get("LOOPSCOPE_BUILD", pathlib.Path(__file__).resolve().parents[2] / "build"))

# Every entry point of probes/loopscope.h, printed as a line on stderr.
LISTENER = r"""
#include <stdio.h>
void loopscope_v1_applied(const char* key, const char* where, const char* old, const char* now) {
  fprintf(stderr, "applied|%s|%s|%s|%s\n", key, where, old, now);
}
void loopscope_v1_not_applicable(const char* key, const char* reason) {
  fprintf(stderr, "not-applicable|%s|%s\n", key, reason);
}
void loopscope_v1_claim(const char* key) { fprintf(stderr, "claim|%s\n", key); }
void loopscope_v1_fact(const char* key, const char* value) { fprintf(stderr, "fact|%s|%s\n", key, value); }
void loopscope_v1_metric(const char* name, double value) { fprintf(stderr, "metric|%s|%g\n", name, value); }
void* loopscope_v1_optimizer_begin(const char* name, unsigned long parameters) {
  fprintf(stderr, "optimizer|%s|%lu\n", name, parameters);
  return (void*)name;
}
void loopscope_v1_optimizer_end(void* token) { fprintf(stderr, "optimizer-end|%s\n", (const char*)token); }
"""


def build_listener(folder):
    """The environment in which a program prints its calls to a probe; None without a C compiler."""
    compiler = shutil.which("cc")
    if not compiler:
        return None
    (folder / "listener.c").write_text(LISTENER)
    library = folder / "listener.so"
    subprocess.run([compiler, "-shared", "-fPIC", folder / "listener.c", "-o", library], check=True)
    return {"LD_PRELOAD": str(library)}


def launch(program, *arguments, env=None, timeout=120):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("LOOPSCOPE_")}
    return subprocess.run(
        [program, *map(str, arguments)], env={**clean, **(env or {})}, capture_output=True, text=True, timeout=timeout
    )


def items(settings):
    """Settings as arguments."""
    return [argument for name, value in settings.items() for argument in ("--set", f"{name}={value}")]


def losses(done):
    found = re.findall(r"^loss (\S+)$", done.stdout, re.M)
    assert found
    return found


def accuracy(done):
    return float(re.search(r"^final accuracy (\S+)", done.stdout, re.M).group(1))


def told(done, kind):
    return [line.split("|")[1:] for line in done.stderr.splitlines() if line.startswith(kind + "|")]
