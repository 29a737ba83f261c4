"""Treatments that train a Python script otherwise: update rules, schedules and batches of one length, seen to take effect."""

import math

import pytest

from test_python_shim import SITE, launch  # noqa: F401  (a fixture)
from test_python_treatments import LOOP

pytestmark = pytest.mark.skipif(not (SITE / "sitecustomize.py").exists(), reason="the Python shim is not built")

TRAINED = (
    LOOP
    + """
model = build()
optimizer = OPTIMIZER
loader = DataLoader(Pairs(64), batch_size=8, shuffle=True)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
for epoch in range(3):
    for inputs, labels, _ in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
        print(optimizer.param_groups[0]["lr"])
    scheduler.step()
"""
)
ADAM = "torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=0.1)"


def words(done):
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def applied(capture, key):
    return [one[1:] for one in capture.applied if one[0] == key]


@pytest.mark.parametrize("rule", ["momentum", "lamb"])
def test_the_update_rule_is_another(launch, rule):
    """The rate and the weight decay are the program's, and its steps are still recorded."""
    body = (
        TRAINED.replace("OPTIMIZER", ADAM).replace('print(optimizer.param_groups[0]["lr"])', "")
        + """
group = optimizer.param_groups[0]
final = nn.functional.cross_entropy(model(Pairs(64).inputs), Pairs(64).labels)
print(type(optimizer).__name__, group["weight_decay"], round(group["lr"], 6), bool(torch.isfinite(final)))
"""
    )
    names = {"momentum": "SGD", "lamb": "LAMB"}
    done, [capture] = launch(body, prefix="", steps=0, treatment=f"optimizer={rule}")
    assert words(done) == [names[rule], "0.1", "0.00125", "True"]
    assert [one[1:] for one in applied(capture, "optimizer")] == [("adam", rule, 0)]
    assert len(capture.of("step")) == 24


@pytest.mark.long
def test_an_update_rule_computes_what_it_says(launch):
    """One step of each from the same gradient, by hand."""
    body = (
        LOOP
        + """
weight = nn.Parameter(torch.tensor([3.0, 4.0]))
optimizer = torch.optim.SGD([weight], lr=0.1)
weight.grad = torch.tensor([0.6, 0.8])
optimizer.step()
print(*[round(one, 4) for one in weight.tolist()])
"""
    )
    # lars: gradient times |w| / |g| = 5; lamb: Adam's first step is the sign, scaled to |w|; novograd: gradient over its norm
    expected = {"sgd": [2.94, 3.92], "lars": [2.7, 3.6], "novograd": [2.94, 3.92],
                "lamb": [3 - 0.1 * 5 / math.sqrt(2), 4 - 0.1 * 5 / math.sqrt(2)]}  # fmt: skip
    for rule, weights in expected.items():
        found = [float(one) for one in words(launch(body, prefix="", steps=0, treatment=f"optimizer={rule}")[0])]
        assert found == pytest.approx(weights, abs=0.02), rule


def test_an_update_rule_that_is_there_already(launch):
    done, [capture] = launch(TRAINED.replace("OPTIMIZER", ADAM), prefix="", steps=0, treatment="optimizer=adam")
    assert done.returncode == 0 and "adam already" in applied(capture, "optimizer")[0][2]


@pytest.mark.long
def test_the_rate_follows_a_schedule(launch):
    """Over ten epochs of eight steps, from a 25th of the program's rate on, whatever its own scheduler says."""
    body = TRAINED.replace("OPTIMIZER", "torch.optim.SGD(model.parameters(), lr=0.1)")
    own = [float(one) for one in words(launch(body, prefix="", steps=0)[0])]
    assert own == [0.1] * 8 + [0.05] * 8 + [0.025] * 8
    done, [capture] = launch(body, prefix="", steps=0, treatment="schedule=onecycle")
    rates = [float(one) for one in words(done)]
    # Three of ten epochs: the whole of the rise.
    assert rates == sorted(rates) and rates[0] < 0.006 and rates[-1] == pytest.approx(0.1)
    assert applied(capture, "schedule")[0][1:] == ("the program's own", "onecycle", 0)
    rates = [float(one) for one in words(launch(body, prefix="", steps=0, treatment="schedule=warmup-cosine")[0])]
    assert (
        rates[7] == pytest.approx(0.1)
        and rates[8] < 0.1
        and rates == [*sorted(rates[:8]), *sorted(rates[8:], reverse=True)]
    )
    assert {float(one) for one in words(launch(body, prefix="", steps=0, treatment="schedule=constant")[0])} == {0.1}


def test_a_schedule_needs_to_know_an_epoch_and_an_update_rule_its_name(launch):
    body = (
        LOOP
        + """
model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    nn.functional.cross_entropy(model(torch.randn(4, 8)), torch.zeros(4, dtype=torch.long)).backward()
    optimizer.step()
"""
    )
    done, [capture] = launch(body, prefix="", steps=0, treatment="schedule=onecycle;optimizer=best")
    assert "no such update rule: best" in applied(capture, "optimizer")[0][2]
    assert done.returncode == 0 and "the length of an epoch is unknown" in applied(capture, "schedule")[0][2]


TEXTS = (
    LOOP
    + """
class Texts(Dataset):
    def __len__(self):
        return 50
    def __getitem__(self, index):
        return torch.ones(LENGTH, dtype=torch.long), index
def pad(samples):
    return nn.utils.rnn.pad_sequence([one for one, _ in samples], batch_first=True), [index for _, index in samples]
before = torch.get_rng_state()
loader = DataLoader(Texts(), batch_size=8, shuffle=True, collate_fn=pad)
assert torch.equal(before, torch.get_rng_state()), "lengths are read without a trace"
held_out = DataLoader(Texts(), batch_size=8, collate_fn=pad)
seen, padded, tokens = [], 0, 0
model = nn.Embedding(2, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for texts, indices in loader:
    seen += indices
    padded += int((texts == 0).sum())
    tokens += texts.numel()
    optimizer.zero_grad()
    model(texts).sum().backward()
    optimizer.step()
in_order = [index for _, indices in held_out for index in indices] == list(range(50))
print(sorted(seen) == list(range(50)), seen != list(range(50)), padded < tokens / 5, len(loader), in_order)
"""
)


def test_texts_of_one_length_share_a_batch(launch):
    body = TEXTS.replace("LENGTH", "1 + 37 * index % 50")
    assert words(launch(body, prefix="", steps=0)[0]) == ["True", "True", "False", "7", "True"]
    done, [capture] = launch(body, prefix="", steps=0, treatment="batch.by_length=on")
    assert words(done) == ["True", "True", "True", "7", "True"]
    assert applied(capture, "batch.by_length")[0][1:] == ("random order", "by length, 1 to 50", 0)


@pytest.mark.long
def test_what_the_data_set_pads_stays_as_it_is(launch):
    done, [capture] = launch(TEXTS.replace("LENGTH", "9"), prefix="", steps=0, treatment="batch.by_length=on")
    assert done.returncode == 0 and "all samples have the same length" in applied(capture, "batch.by_length")[0][2]
