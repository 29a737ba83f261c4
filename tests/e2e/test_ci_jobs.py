"""The CI jobs of docs/ci do what they say: their steps are run here, with a stand-in for the host's own programs."""

import json
import os
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
    for name in ("gh", "curl"):
        path = programs / name
        path.write_text(
            f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/{name}.arguments\ncp gate.md {tmp_path}/{name}.comment\n'
        )
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


def test_gitlab(host, tmp_path, tiny_train):
    job = yaml.safe_load((ROOT / "docs/ci/gitlab-ci.yml").read_text())["performance"]
    origin, checkout = tmp_path / "origin", tmp_path / "checkout"
    write_program(origin, tiny_train)
    git = "git -c user.name=a -c user.email=a@example.org"
    made = shell(f"git init -q -b main && git add -A && {git} commit -qm base && git clone -q . {checkout}", origin, {})
    assert made.returncode == 0, made.stderr
    write_program(checkout, tiny_train, "--item")
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
