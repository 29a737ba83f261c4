# ctest labels: slow
"""The CI jobs of docs/ci do what they say: their steps are run here, with a stand-in for the host's own programs."""

import json
import os
import pathlib
import subprocess
import xml.etree.ElementTree as tree

import pytest
import yaml

from conftest import BUILD, ROOT

QUICK = "--min-window 50ms --warmup 3 --time 2s --budget 1s"


def shell(script, folder, env, name="bash"):
    return subprocess.run(
        [name, "-e", "-c", script],
        cwd=folder,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=600,
    )


def write_program(folder, tiny_train, *more):
    folder.mkdir(exist_ok=True)
    program = folder / "train.sh"
    program.write_text(f"#!/bin/sh\nexec {' '.join([*tiny_train, '--epochs', '100000000', '--shallow', *more])}\n")
    program.chmod(0o755)


@pytest.fixture
def host(loopscope, tmp_path):
    """`loopscope` on the PATH, and a `gh` and a `curl` that keep what they were given."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "loopscope").symlink_to(BUILD / "loopscope")
    # `gh` names the comment's file last.
    for name, comment in (("gh", '"${@: -1}"'), ("curl", "gate.md")):
        path = programs / name
        keep = f'printf "%s\\n" "$@" > {tmp_path}/{name}.arguments\ncp {comment} {tmp_path}/{name}.comment\n'
        path.write_text(f"#!/bin/bash\n{keep}")
        path.chmod(0o755)
    return {"PATH": f"{programs}:{os.environ['PATH']}"}


def check_reports(folder, comment):
    assert comment.read_text().startswith("## ❌ Loopscope gate: FAIL") and "host reads" in comment.read_text()
    results = json.loads((folder / "gate.sarif").read_text())["runs"][0]["results"]
    where = results[0]["locations"][0]["physicalLocation"]
    assert results[0]["ruleId"] == "gate-sync" and where["artifactLocation"]["uri"].endswith("tiny_train.cpp")
    assert tree.parse(folder / "gate.xml").getroot().get("failures") == "1"


def test_github_actions(host, tmp_path, tiny_train):
    workflow = yaml.safe_load((ROOT / "docs/ci/github-actions.yml").read_text())
    (job,) = workflow["jobs"].values()
    write_program(tmp_path / "base", tiny_train)
    write_program(tmp_path / "here", tiny_train, "--item")
    env = {**host, **workflow["env"], "GATE_OPTIONS": QUICK, "PULL_REQUEST": "17"}
    checked_out = [step["with"]["path"] for step in job["steps"] if step.get("uses", "").startswith("actions/checkout")]
    assert checked_out == ["here", "base"]
    ends = {}
    for step in job["steps"]:
        if "run" in step:
            folder = tmp_path / step.get("working-directory", "")
            ends[step["name"]] = shell(step["run"], folder, env)
    assert {name: end.returncode for name, end in ends.items()} == {
        "Build both sides": 0,
        "Gate": 1,
        "Comment on the pull request": 0,
    }, ends
    check_reports(tmp_path, tmp_path / "gh.comment")
    assert (tmp_path / "gh.arguments").read_text().split()[:3] == ["pr", "comment", "17"]
    (upload,) = [step for step in job["steps"] if "upload-sarif" in step.get("uses", "")]
    assert (tmp_path / upload["with"]["sarif_file"]).exists()
    for step in job["steps"][job["steps"].index(upload) :]:
        assert "!cancelled()" in step["if"], "a failed gate is what they are for"


def in_clone(tmp_path, tiny_train):
    """A clone of a repository whose main branch holds the program, with a change that reads in every step."""
    origin, checkout = tmp_path / "origin", tmp_path / "checkout"
    write_program(origin, tiny_train)
    git = "git -c user.name=a -c user.email=a@example.org"
    made = shell(f"git init -q -b main && git add -A && {git} commit -qm base && git clone -q . {checkout}", origin, {})
    assert made.returncode == 0, made.stderr
    write_program(checkout, tiny_train, "--item")
    return checkout


def write_log(path, ends, folder):
    """What the runner's page shows of these steps."""
    steps = [f"▸ {name}\n{end.stdout}{end.stderr}exit {end.returncode}\n" for name, end in ends.items()]
    text = "\n".join(steps).replace(str(folder), "/home/runner/work").replace(str(ROOT), "/home/runner/work/checkout")
    path.write_text(text)


def test_the_action(host, tmp_path, tiny_train):
    """Each step's script, with GitHub's substitutions; pip and other actions are replaced. docs/ci/action.log is
    the log of it: LOOPSCOPE_ACTION_LOG=FILE writes that."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    inputs = {name: one.get("default", "") for name, one in action["inputs"].items()}
    inputs |= {"command": "./train.sh 'two words'", "build": "touch built", "base": "main", "history": "perf"}
    inputs["options"] = QUICK
    checkout, temp = in_clone(tmp_path, tiny_train), tmp_path / "temp"
    temp.mkdir()
    env = {**host, "RUNNER_TEMP": str(temp), "GITHUB_OUTPUT": str(temp / "output"),
           "GITHUB_STEP_SUMMARY": str(temp / "summary")}  # fmt: skip
    ends = {}
    for step in action["runs"]["steps"]:
        if "run" not in step or step["name"] == "Install Loopscope":
            continue
        assert step["shell"] == "bash" and "${{" not in step["run"], "what GitHub puts in is no part of a script"
        given = {name: inputs.get(text.split("inputs.")[-1].split(" ")[0], "17") for name, text in step["env"].items()}
        ends[step["name"]] = shell(step["run"], checkout, env | given)
    if log := os.environ.get("LOOPSCOPE_ACTION_LOG"):
        write_log(pathlib.Path(log), ends, tmp_path)
    assert {name: end.returncode for name, end in ends.items()} == {
        "Check out the base": 0,
        "Build both sides": 0,
        "Gate": 1,
        "Comment on the pull request": 0,
    }, ends
    assert (checkout / "built").exists() and (temp / "base/built").exists()
    assert (temp / "output").read_text() == "verdict=fail\n"
    assert (temp / "summary").read_text() == (tmp_path / "gh.comment").read_text()
    assert "host reads" in (tmp_path / "gh.comment").read_text()
    assert (checkout / "perf/history.sqlite").exists() and (temp / "gate.sarif").exists()
    assert (tmp_path / "gh.arguments").read_text().split()[:3] == ["pr", "comment", "17"]
    steps = action["runs"]["steps"]
    after = steps[[step["name"] for step in steps].index("Gate") + 1 :]
    assert after and all("!cancelled()" in step["if"] for step in after), "a failed gate is what they are for"


def test_gitlab(host, tmp_path, tiny_train):
    job = yaml.safe_load((ROOT / "docs/ci/gitlab-ci.yml").read_text())["performance"]
    checkout = in_clone(tmp_path, tiny_train)
    env = {
        **host,
        **job["variables"],
        "GATE_OPTIONS": QUICK,
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "GITLAB_TOKEN": "secret",
        "CI_API_V4_URL": "https://gitlab.example/api/v4",
        "CI_PROJECT_ID": "5",
        "CI_MERGE_REQUEST_IID": "17",
    }
    done = shell("\n".join(job["script"]), checkout, env)
    assert done.returncode == 1, done.stderr
    assert shell("\n".join(job["after_script"]), checkout, env).returncode == 0
    check_reports(checkout, tmp_path / "curl.comment")
    assert (
        "https://gitlab.example/api/v4/projects/5/merge_requests/17/notes" in (tmp_path / "curl.arguments").read_text()
    )
    assert (checkout / job["artifacts"]["reports"]["junit"]).exists()
    for path in job["artifacts"]["paths"]:
        assert (checkout / path).exists()
