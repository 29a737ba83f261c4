"""Loopscope in a notebook: runs a cell's training under the probes, in a fresh process, and shows the report's page.

    %load_ext loopscope

    %%loopscope [--cells 1,3-5] [options of `loopscope run`]
    for inputs, targets in loader: …

`--cells` names cells that are run before it, by their numbers: what they define is not in a fresh process by itself.
"""

import ast
import builtins
import html
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile

from .dask_report import program

# Loopscope is started beside the cells' files, so that it names them as the notebook does; the training is not.
RUNNER = """import os, sys
os.chdir({folder!r})
sys.path[0] = {folder!r}
sys.argv = [""]
for path in {paths!r}:
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), globals())
"""


def load_ipython_extension(shell):
    shell.register_magic_function(lambda line, cell: run_cell(shell, line, cell), "cell", "loopscope")


def run_cell(shell, line, cell):
    try:
        options, wanted = parse(line)
        cells = sources(shell, wanted)
    except ValueError as error:
        print(f"loopscope: {error}", file=sys.stderr)
        return
    number = len(history(shell)) - 1
    missing = names_missing([*cells.values(), cell], shell.user_ns)
    if missing:
        print(f"loopscope: {lacks(missing, history(shell), number)}", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory(prefix="loopscope-") as name:
        folder = pathlib.Path(name)
        paths = [write(folder, n, source) for n, source in {**cells, number: cell}.items()]
        (folder / "notebook.py").write_text(RUNNER.format(folder=os.getcwd(), paths=paths), encoding="utf-8")
        page = folder / "page.html"
        command = [program(), "run", "-o", folder / "run", "--quiet", "--format", "json", "--html", page, *options]
        if run([*command, "--", sys.executable, folder / "notebook.py"], folder) and page.exists():
            show(page.read_text(encoding="utf-8"))


def parse(line):
    """The options for `loopscope run`, and the numbers of the cells to run first."""
    words, cells = shlex.split(line), []
    if "--cells" in words:
        place = words.index("--cells")
        listed = words[place + 1] if place + 1 < len(words) else ""
        del words[place : place + 2]
        for part in listed.split(","):
            ends = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
            if not ends:
                raise ValueError(f"--cells takes numbers of cells such as 1,3-5, not {listed!r}")
            cells += range(int(ends[1]), int(ends[2] or ends[1]) + 1)
    return words, cells


def history(shell):
    """What was run, by number."""
    return dict(enumerate(shell.user_ns.get("In", [])))


def sources(shell, numbers):
    known = history(shell)
    for number in numbers:
        if not known.get(number):
            raise ValueError(f"there was no cell {number}")
    return {number: known[number] for number in numbers}


def plain(source):
    """The cell without the notebook's own commands, which a program does not know; lines keep their numbers."""
    if source.lstrip().startswith("%%"):
        return ""
    return re.sub(r"^(\s*)[%!?].*$", r"\1pass", source, flags=re.M)


def tree_of(source):
    try:
        return ast.parse(plain(source))
    except SyntaxError:
        return ast.Module([], [])


def defined(source):
    tree = tree_of(source)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(one.asname or one.name).split(".")[0] for one in node.names}
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
    return names


def used(source):
    return {node.id for node in ast.walk(tree_of(source)) if isinstance(node, ast.Name)}


def names_missing(cells, namespace):
    """Names that the cells use, none of them defines, and the notebook knows."""
    here = set().union(*map(defined, cells)) | set(dir(builtins))
    return sorted({name for cell in cells for name in used(cell) if name not in here and name in namespace})


def lacks(missing, cells, number):
    """What to do: the cells that define the names, with those that these need in turn."""
    needed, open_names = set(), list(missing)
    while open_names:
        name = open_names.pop()
        for n in sorted(cells, reverse=True):
            if n < number and n not in needed and name in defined(cells[n]):
                needed.add(n)
                open_names += used(cells[n]) - defined(cells[n]) - set(dir(builtins))
                break
    names = ", ".join(missing[:5]) + (" …" if len(missing) > 5 else "")
    text = f"this cell uses {names}, which a fresh process does not have"
    if not needed:
        return f"{text}: define them in the cell itself"
    return f"{text}: run the cells that define them first, `%%loopscope --cells {','.join(map(str, sorted(needed)))}`"


def write(folder, number, source):
    """A file named as the notebook shows the cell, so that the report's places are its own."""
    path = folder / f"In[{number}]"
    path.write_text(plain(source), encoding="utf-8")
    return str(path)


def run(command, folder):
    """Shows what the training prints as it comes. Interrupting the cell ends the training, with the report so far."""
    try:
        child = subprocess.Popen(
            list(map(str, command)), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
    except OSError as error:
        print(f"loopscope: {command[0]} cannot be started: {error.strerror}", file=sys.stderr)
        return False
    with child, child.stderr:
        while True:
            try:
                for text in child.stderr:
                    print(text, end="")
                return True
            except KeyboardInterrupt:
                child.send_signal(signal.SIGINT)


def show(page):
    from IPython.display import HTML, display

    style = "width: 100%; height: 40rem; border: 1px solid #888"
    display(HTML(f'<iframe title="Loopscope\'s report" style="{style}" srcdoc="{html.escape(page)}"></iframe>'))
