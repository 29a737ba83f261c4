"""Shows what a hanging command is doing, and ends it with everything that it started."""

import os
import pathlib
import shutil
import signal
import subprocess

PROC = pathlib.Path("/proc")


def parent_of(process):
    return int((process / "stat").read_text().rpartition(")")[2].split()[1])


def tree(root):
    """The process `root` and all below it that can be seen."""
    children = {}
    for process in PROC.glob("[0-9]*"):
        try:
            children.setdefault(parent_of(process), []).append(int(process.name))
        except OSError:
            continue  # ended meanwhile
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def threads_of(pid):
    """A line per thread: its name, state, processor time in seconds, and where it waits in the kernel."""
    for task in sorted((PROC / str(pid) / "task").glob("*")):
        fields = (task / "stat").read_text().rpartition(")")[2].split()
        seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        name, wait = ((task / file).read_text().strip() for file in ("comm", "wchan"))
        yield f"  {task.name} {name}: {fields[0]}, {seconds:.1f} s, {wait}"


def stacks_of(pid):
    if shutil.which("gdb") is None:
        return ""
    command = ["gdb", "-p", str(pid), "-batch", "-nx", "-ex", "thread apply all backtrace 16"]
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60).stdout[-12000:]
    except subprocess.TimeoutExpired:
        return "  gdb took over 60 s\n"


def describe(root):
    text = ""
    for pid in tree(root):
        try:
            command = (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            text += f"{pid}: {command}\n" + "\n".join(threads_of(pid)) + "\n" + stacks_of(pid)
        except OSError:
            text += f"{pid}: ended\n"
    return text


def end(root):
    for pid in tree(root):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
