#!/usr/bin/env python3
"""Writes what a shell knows of `loopscope`, from the program's own --help: completions for bash, zsh and fish, and
loopscope.1 for man.

Usage: make_shell_files.py PROGRAM FOLDER
"""

import dataclasses
import pathlib
import re
import subprocess
import sys
import unicodedata


@dataclasses.dataclass
class Option:
    names: list  # "-o", "--output"
    value: str  # "DIR"; empty: it takes none
    text: str


@dataclasses.dataclass
class Command:
    id: str
    summary: str
    usage: str
    example: str
    options: list
    words: list  # what its input may be: the ids of rules


def said(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout


def rows(text):
    """A table of --help: what stands in the first column, and its text, which goes on in indented lines."""
    found = []
    for line in text.splitlines():
        if row := re.match(r"  (\S.*?)(?: {2,}(.*))?$", line):
            found.append([row[1], row[2] or ""])
        elif found and line.startswith("   "):
            found[-1][1] = f"{found[-1][1]} {line.strip()}".strip()
    return found


def section(text, title):
    after = text.partition(f"\n{title}:\n")[2]
    return after.partition("\n\n")[0]


def read_command(program, name, summary):
    text = said(program, name, "--help")
    options = []
    for head, meaning in rows(section(text, "Options")):
        names, _, value = head.partition(" ")
        options.append(Option(names.split(","), value, meaning))
    usage = re.search(r"^Usage: (.*)$", text, re.MULTILINE)[1]
    takes_id = re.search(r" \[ID\]", usage)
    ids = re.findall(r"^([a-z][\w.-]*)  ", said(program, name), re.MULTILINE) if takes_id else []
    return Command(name, summary, usage, section(text, "Example").strip(), options, ids)


def read_commands(program):
    table = section(said(program, "--help"), "Commands")
    return [read_command(program, name, summary) for name, summary in rows(table)]


def choices(option):
    """The words that an option takes, where its text lists them: "print this instead of text: text, json"."""
    listed = re.search(r": ((?:[\w-]+, )+[\w-]+)$", option.text)
    return listed[1].split(", ") if option.value == "NAME" and listed else []


def bash(commands):
    lines = ["# bash completion for loopscope", "_loopscope() {"]
    lines += ["  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} i", "  COMPREPLY=()"]
    lines += ["  for ((i = 1; i < COMP_CWORD; i++)); do", "    [[ ${COMP_WORDS[i]} == -- ]] || continue"]
    lines += ["    if declare -F _command_offset > /dev/null; then _command_offset $((i + 1)); return; fi"]
    lines += ['    if ((COMP_CWORD == i + 1)); then COMPREPLY=($(compgen -c -- "$word")); return; fi']
    lines += ['    COMPREPLY=($(compgen -f -- "$word")); return', "  done"]
    lines += ["  if ((COMP_CWORD == 1)); then"]
    lines += [f'    COMPREPLY=($(compgen -W "{" ".join(one.id for one in commands)} --help --version" -- "$word"))']
    lines += ["    return", "  fi", "  local options words", "  case ${COMP_WORDS[1]} in"]
    for command in commands:
        names = " ".join(name for option in command.options for name in option.names)
        lines += [f'    {command.id}) options="{names}" words="{" ".join(command.words)}" ;;']
    lines += ["    *) return ;;", "  esac", "  case $before in"]
    seen = {}
    for option in (option for command in commands for option in command.options if option.value):
        reply = (
            f'-W "{" ".join(choices(option))}"' if choices(option) else {"FILE": "-f", "DIR": "-d"}.get(option.value)
        )
        for name in option.names:
            seen.setdefault(name, f'COMPREPLY=($(compgen {reply} -- "$word"));' if reply else "")
    lines += [f"    {name}) {reply} return ;;" for name, reply in seen.items()]
    lines += ["  esac", "  if [[ $word == -* ]]; then", '    COMPREPLY=($(compgen -W "$options --" -- "$word"))']
    lines += ["  elif [[ $words ]]; then", '    COMPREPLY=($(compgen -W "$words" -- "$word"))', "  else"]
    lines += ['    COMPREPLY=($(compgen -f -- "$word"))', "  fi", "}", "complete -o filenames -F _loopscope loopscope"]
    return "\n".join(lines) + "\n"


def zsh_quoted(text):
    return re.sub(r"([\[\]:])", r"\\\1", text).replace("'", "'\\''")


def zsh(commands):
    lines = ["#compdef loopscope", "_loopscope() {", "  local at=${words[(i)--]}"]
    lines += ["  if ((at < CURRENT)); then shift $at words; ((CURRENT -= at)); _normal; return; fi"]
    lines += ["  if ((CURRENT == 2)); then", "    local -a commands=("]
    lines += [f"      '{zsh_quoted(one.id)}:{zsh_quoted(one.summary)}'" for one in commands]
    lines += ["    )", "    _describe command commands", "    return", "  fi"]
    lines += ["  local name=$words[2]", "  shift words", "  ((CURRENT -= 1))", "  case $name in"]
    for command in commands:
        lines += [f"    {command.id})", "      _arguments \\"]
        for option in command.options:
            action = ""
            if option.value:
                kind = {"FILE": "_files", "DIR": "_files -/"}.get(option.value, "")
                kind = f"({' '.join(choices(option))})" if choices(option) else kind
                action = f":{zsh_quoted(option.value)}:{kind}"
            for name in option.names:
                lines += [f"        '{name}[{zsh_quoted(option.text)}]{action}' \\"]
        inputs = f"({' '.join(command.words)})" if command.words else "_files"
        lines += [f"        '*:input:{inputs}'", "      ;;"]
    lines += ["  esac", "}", '_loopscope "$@"']
    return "\n".join(lines) + "\n"


def fish_quoted(text):
    return text.replace("\\", "\\\\").replace("'", "\\'")


def fish(commands):
    lines = ["# fish completion for loopscope", "function __loopscope_is"]
    lines += ["  set -l words (commandline -opc)", "  contains -- -- $words; and return 1"]
    lines += ["  test (count $words) -ge 2; and test $words[2] = $argv[1]", "end"]
    lines += ["function __loopscope_after_dashes", "  contains -- -- (commandline -opc)", "end"]
    lines += ["function __loopscope_program", "  set -l words (commandline -opc) (commandline -ct)"]
    lines += [
        "  set -l at (contains -i -- -- $words)",
        "  complete -C (string join ' ' -- $words[(math $at + 1)..])",
        "end",
    ]
    lines += ["complete -c loopscope -n __loopscope_after_dashes -f -a '(__loopscope_program)'"]
    for command in commands:
        lines += [
            f"complete -c loopscope -n __fish_use_subcommand -f -a {command.id} -d '{fish_quoted(command.summary)}'"
        ]
        here = f"complete -c loopscope -n '__loopscope_is {command.id}'"
        for option in command.options:
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
            value = {"": "", "FILE": " -r -F", "DIR": " -x -a '(__fish_complete_directories)'"}.get(option.value, " -x")
            value += f" -a '{' '.join(choices(option))}'" if choices(option) else ""
            lines += [f"{here} {names}{value} -d '{fish_quoted(option.text)}'"]
        if command.words:
            lines += [f"{here} -f -a '{' '.join(command.words)}'"]
    return "\n".join(lines) + "\n"


def troff(text):
    text = re.sub(r"^([.'])", r"\\&\1", text.replace("\\", "\\e").replace("-", "\\-"))
    return "".join(one if one.isascii() else f"\\[u{ord(one):04X}]" for one in unicodedata.normalize("NFKC", text))


def manual(commands, version):
    lines = [f'.TH LOOPSCOPE 1 "" "loopscope {version}" "User Commands"', ".SH NAME"]
    lines += ["loopscope \\- finds what slows a training loop, and proves each fix by measuring", ".SH SYNOPSIS"]
    lines += [".B loopscope", "COMMAND [options] [\\-\\- CMD...]", ".SH DESCRIPTION"]
    lines += ["Put your own command after \\-\\-, as you always start it. Start with", ".PP", ".RS"]
    lines += [".B loopscope run \\-\\- python train.py", ".RE"]
    for command in commands:
        lines += [f".SH {command.id.upper()}", troff(command.summary), ".PP", f".B {troff(command.usage)}"]
        for option in command.options:
            lines += [
                ".TP",
                f"\\fB{troff(', '.join(option.names))}\\fR {troff(option.value)}".strip(),
                troff(option.text),
            ]
        if command.example:
            lines += [".PP", "Example:", ".PP", ".nf", troff(command.example), ".fi"]
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    commands = read_commands(program)
    files = {"loopscope.bash": bash(commands), "_loopscope": zsh(commands), "loopscope.fish": fish(commands)}
    files["loopscope.1"] = manual(commands, said(program, "--version").split()[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
