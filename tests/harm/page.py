"""docs/reliability.md: what the trials showed."""

_TOP = """# Reliability

What Loopscope does to a program that it watches, tried: `tests/harm/run.py --write docs/reliability.md` makes this page.

Each script is launched twice from the same folder, alone and under `loopscope run --steps 0`. Compared are the exit status, the bytes of standard output and standard error (Loopscope's own report and messages follow them), the bits of the trained numbers, warnings, tracebacks, pickles and attributes of loaders and optimizers, what is still alive at the end, and the files (working folder, `HOME`, `TMPDIR`, `/dev/shm`) and processes left behind.
"""


def of(themes, results, known):
    lines = [_TOP, "| scripts | tried | the same | different |", "|---|---|---|---|"]
    for theme, module in themes.items():
        mine = [name for name in module.SCRIPTS if name in results]
        other = [name for name in mine if results[name]]
        lines.append(
            f"| {theme} | {len(mine)} | {len(mine) - len(other)} | {', '.join(f'`{one}`' for one in other) or 'none'} |"
        )
    lines += ["", "## Known differences", ""]
    shown = [f"- `{name}`: {known[name]}." for name, found in results.items() if found and name in known]
    return "\n".join([*lines, *(shown or ["None."])]) + "\n"
