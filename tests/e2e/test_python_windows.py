# ctest labels: measured
"""In long windows and with short steps in Python, only some steps have their operators recorded."""

import re
import sys

from test_python_run import ENVIRONMENT, pytestmark, write  # noqa: F401  a mark and a fixture, by their names


def test_of_a_long_window_some_steps_tell_their_operators(loopscope, write):
    body = """
model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs, labels = torch.randn(32, 16), torch.randint(2, (32,))
matrix = torch.randn(200, 200)
for step in range(1000):
    optimizer.zero_grad()
    cross_entropy(model(inputs), labels).backward()
    optimizer.step()
    if step % 10 == 8:
        torch.linalg.svdvals(matrix)
"""
    command = ("run", "--warmup", "5", "--steps", "600", "--", sys.executable, write(body))
    done, report = loopscope.report(*command, env=ENVIRONMENT)
    assert done.code == 0 and not done.err, done.err
    steps = report["steps"]
    assert steps["measured"] + steps["without_operators"] == 600
    # All of the first ones, and one in four; and those in which calls are followed.
    recorded = 16 + (600 - 16) / 4
    assert recorded <= steps["measured"] <= recorded + steps["disturbed"]
    assert steps["in_mean"] + steps["disturbed"] + steps["transient"] == 600
    assert report["breakdown"]["forward"] > 0
    [stall] = [one for one in report["findings"] if one["rule"] in ("periodic-stall", "uneven-steps")]
    assert "every 10 steps" in stall["title"] and "svd" in stall["evidence"][0]["text"]
    text = " ".join(loopscope(*command, env=ENVIRONMENT).out.split())
    [undisturbed] = re.findall(r"over (\d+) undisturbed steps", text)
    assert 300 <= int(undisturbed) < 600  # at most one of two steps is followed


def test_where_steps_are_short_more_of_them_pass(loopscope, write):
    body = """
model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs, labels = torch.randn(32, 16), torch.randint(2, (32,))
for step in range(1000):
    if len(sys.argv) > 1:
        torch.linalg.svdvals(matrix)
    optimizer.zero_grad()
    cross_entropy(model(inputs), labels).backward()
    optimizer.step()
"""
    script = write("import sys\nmatrix = torch.randn(300, 300)\n" + body)
    command = ("run", "--warmup", "5", "--steps", "30", "--", sys.executable, script)
    _, report = loopscope.report(*command, env=ENVIRONMENT)
    # After the first 16, one in four is recorded, and those in which calls are followed.
    steps, others = report["steps"], 3 * (30 - 16)
    assert 30 <= steps["measured"] <= 30 + steps["disturbed"]
    assert 30 + others - 3 <= steps["measured"] + steps["without_operators"] <= 30 + others
    _, report = loopscope.report(*command, "long", env=ENVIRONMENT)
    assert (report["steps"]["measured"], report["steps"]["without_operators"]) == (30, 0)
