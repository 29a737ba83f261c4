# ctest labels: measured
"""Of long windows and of short steps in Python some steps have their operators recorded: which, by how long they take."""

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
    assert steps["measured"] == 16 + (600 - 16) / 4  # all of the first ones, and one in four
    assert report["breakdown"]["forward"] > 0
    [stall] = [one for one in report["findings"] if one["rule"] == "periodic-stall"]
    assert stall["title"].startswith("every 10 steps") and "svd" in stall["evidence"][0]["text"]
    text = " ".join(loopscope(*command, env=ENVIRONMENT).out.split())
    assert "over 162 steps" in text and "438 more passed without a record of their operators" in text


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
    others = 3 * (30 - 16)  # but for those behind the last one in its four
    assert report["steps"]["measured"] == 30 and others - 3 <= report["steps"]["without_operators"] <= others
    _, report = loopscope.report(*command, "long", env=ENVIRONMENT)
    assert (report["steps"]["measured"], report["steps"]["without_operators"]) == (30, 0)
