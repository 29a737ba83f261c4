# ctest labels: long
"""`bisect` where times decide: a commit that sleeps longer and one that reads its loss are both found."""

import json
import time

from test_bisect import bisect, history  # noqa: F401  (a fixture)


def test_a_read_and_a_sleep_are_both_found(loopscope, history):
    """Five commits: the third sleeps, the fifth reads its loss in each step as well."""
    quick, slow = "--sleep 3000", "--sleep 9000"
    folder, ids, git = history(quick, quick, quick, slow, slow, slow + " --item")
    before = git("status", "--porcelain")
    done, told = bisect(loopscope, folder, ids[0], "HEAD", "--", "./train.sh")
    assert done.code == 0, done.err
    assert [one["commit"] for one in told["slow"]] == [ids[3], ids[5]], told
    sleep, read = told["slow"]
    assert sleep["subject"] == "number 3" and sleep["author"] == "Ann" and not sleep["maybe"]
    assert "slower by" in sleep["reason"] and "host reads" in read["reason"] and "tiny_train.cpp" in read["reason"]
    assert sleep["files"] == ["number.txt", "train.sh"]
    gates = {(one["base"], one["commit"]): one for one in told["gates"]}
    assert len(gates) == len(told["gates"]) <= 7 and told["commits"] == 5
    assert gates[ids[0], ids[3]]["pairs"] >= 5 and gates[ids[0], ids[5]]["pairs"] == 0
    assert f"{ids[3][:10]} slows it down: number 3" in done.out and "it changes number.txt, train.sh" in done.out
    assert git("status", "--porcelain") == before and len(git("worktree", "list").splitlines()) == 1

    # Every verdict is kept.
    began = time.monotonic()
    again, same = bisect(loopscope, folder, ids[0], "HEAD", "--resume", "--", "./train.sh")
    assert again.code == 0 and same["slow"] == told["slow"], again.err
    assert time.monotonic() - began < 20


def test_a_tenth_of_the_step_and_a_read_among_sixteen_commits(loopscope, history, tmp_path):
    """Prints what docs/commands/bisect.md reports."""
    quick, slow = "--sleep 3000", "--sleep 3400"
    folder, ids, git = history(*[quick] * 6, *[slow] * 6, *[slow + " --item"] * 5)
    window = ("--warmup", "10", "--time", "2s")
    words = ("bisect", *window, "-o", tmp_path / "out", "--json", tmp_path / "told.json", ids[0], "HEAD")
    began = time.monotonic()
    done = loopscope(*words, "--", "./train.sh", cwd=folder, timeout=1800)
    assert done.code == 0, done.err
    told = json.loads((tmp_path / "told.json").read_text())
    pairs = sum(one["pairs"] for one in told["gates"])
    print(f"{told['commits']} commits, {len(told['gates'])} gates, {pairs} pairs, {time.monotonic() - began:.0f} s")
    assert told["commits"] == 16 and [one["commit"] for one in told["slow"]] == [ids[6], ids[12]], told
    assert not told["slow"][0]["maybe"] and "host reads" in told["slow"][1]["reason"]
    assert len(told["gates"]) <= 12 and pairs <= 12 * 48
    assert len(git("worktree", "list").splitlines()) == 1
