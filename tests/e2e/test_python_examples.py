# ctest labels: long measured
# ctest timeout: 3600
"""The Python examples: their planted flaws are found, each fix is measured; writes their table in docs/speedups.md."""

import json
import os
import pathlib
import shutil
import sys

import jsonschema
import pytest

from conftest import BUILD, ROOT, SAME_TRAINING
from pages import refill
from test_python_scripts import needs

sys.path.insert(0, str(ROOT / "tests"))
from tricks import matrix  # noqa: E402

EXAMPLES = ROOT / "workloads" / "python"
SCRIPTS = ROOT / "tests" / "e2e" / "scripts"
TABLE = ROOT / "docs/speedups.md"
BOUNDS = ["--warmup", "5", "--steps", "25", "--time", "60s"]
BIN = pathlib.Path(sys.executable).parent
ENVIRONMENT = {
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONWARNINGS": "ignore",
    "HF_HUB_OFFLINE": "1",
    "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
}
IMAGES = ["--samples", "400", "--epochs", "100"]
SENTENCES = ["--sentences", "300", "--epochs", "100"]
TORCHRUN = ["torchrun", "--standalone", "--nproc_per_node=2"]
rows = {}
host = {}

pytestmark = pytest.mark.skipif(
    not (BUILD / "probes" / "python" / "site" / "sitecustomize.py").exists(), reason="the Python shim is not built"
)


def run(loopscope, *command):
    done, report = loopscope.report("run", *BOUNDS, "--", *command, cwd=EXAMPLES, env=ENVIRONMENT)
    assert done.code == 0, done.err
    return report


def found(report):
    """Rule -> "file:line" of its first evidence, for findings above info."""
    places = {}
    for finding in report["findings"]:
        where = finding["evidence"][0]["where"]
        if finding["severity"] != "info":
            places[finding["rule"]] = where and f"{pathlib.Path(where['path']).name}:{where['line']}"
    return places


def line(file, text):
    lines = (EXAMPLES / file).read_text().splitlines()
    return f"{file}:{next(number for number, one in enumerate(lines, 1) if text in one)}"


def can_fire(report, rule):
    return matrix.row_of(report, rule)["verdict"] != "not-applicable" and not matrix.measured_without_gain(report, rule)


def others_run():
    """Then a loader's worker gets its processor late, which is not a flaw of the script."""
    return os.getloadavg()[0] > len(os.sched_getaffinity(0)) + 1


def bfloat16_units():
    """The repaired scripts compute in bfloat16, which is a flaw on a processor without such units."""
    return any(flag in pathlib.Path("/proc/cpuinfo").read_text() for flag in ("avx512_bf16", "amx_bf16"))


def is_clean(report, *but):
    expected = {*but, *({"input-starvation"} if others_run() else set())}
    assert set(found(report)) <= expected | (set() if bfloat16_units() else {"half-on-cpu"}), found(report)


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    return ["--data", str(tmp_path_factory.mktemp("data") / "images"), *IMAGES]


@needs("PIL", "numpy")
def test_every_flaw_of_the_image_classifier_has_its_line(loopscope, images):
    file = "image_classifier.py"
    report = run(loopscope, sys.executable, file, *images)
    places = found(report)
    anomaly = next(one for one in report["findings"] if one["rule"] == "debug-left-on")
    switch = anomaly["evidence"][1]["where"]
    assert f"{pathlib.Path(switch['path']).name}:{switch['line']}" == line(file, "set_detect_anomaly(True)")
    layers = {
        line(file, text) for text in ("F.relu(self.bn1(self", "self.bn2(self", "self.bn(self.stem", "self.shortcut(x))")
    }
    assert places.pop("bias-before-norm") in layers and places.pop("grad-in-eval") in layers | {
        line(file, "self.head(x)")
    }
    # Anomaly mode takes most of the step: the layers' share of it lies about the rule's threshold.
    if can_fire(report, "fp32-compute") and matrix.row_of(report, "fp32-compute")["verdict"] != "clear":
        assert places.pop("fp32-compute") in layers | {line(file, "self.head(x)")}
    planted = {
        "debug-left-on": line(file, "loss.backward()"),
        "graph-retained": line(file, "total_loss += loss"),
        "single-tensor-optimizer": line(file, "optimizer.step()"),
        "grads-zeroed": line(file, "optimizer.zero_grad(set_to_none=False)"),
        "input-starvation": line(file, "Image.open("),
        "needless-copy": line(file, "torch.tensor(np.stack(images))"),
    }
    # With fast memory these two cost under 1 % of a step: the rules must then be clear.
    for rule in {"grads-zeroed", "needless-copy"} - places.keys():
        assert next(row["verdict"] for row in report["rules"] if row["id"] == rule) == "clear"
        del planted[rule]
    assert places == planted


@needs("PIL", "numpy")
def test_the_image_classifier_with_its_flaws_repaired(loopscope, images):
    is_clean(run(loopscope, sys.executable, "image_classifier_tuned.py", *images))


def test_every_flaw_of_the_language_model_has_its_line(loopscope):
    file = "tiny_gpt.py"
    report = run(loopscope, sys.executable, file, *SENTENCES)
    places = found(report)
    inner = {
        line(file, text)
        for text in ("q, k, v = self.qkv", "mixed = F.scaled", "x = x + self.out", "self.up(self", "self.head(")
    }
    assert places.pop("grad-in-eval") in inner
    if can_fire(report, "fp32-compute"):
        assert places.pop("fp32-compute") in inner
    assert places == {
        "graph-retained": line(file, "history = history + loss"),
        "single-tensor-optimizer": line(file, "optimizer.step()"),
    }


def test_the_language_model_with_its_flaws_repaired(loopscope):
    is_clean(run(loopscope, sys.executable, "tiny_gpt_tuned.py", *SENTENCES))


def test_two_ranks_under_torchrun(loopscope):
    file = "ddp_two_ranks.py"
    report = run(loopscope, *TORCHRUN, file, "--epochs", "50")
    assert report["steps"]["measured"] >= 20
    # Four batches of 32 in a step.
    assert report["steps"]["samples_per_s"] == pytest.approx(128e3 / report["steps"]["mean_ms"], rel=0.01)
    places = found(report)
    planted = {
        "accumulation-allreduce": line(file, "loss.backward()"),
        "duplicated-data": line(file, "DataLoader(data("),
        "loss-reduction": line(file, "dist.all_reduce(mean)"),
    }
    assert planted.items() <= places.items()
    expected = planted | {
        "fp32-compute": line(file, "F.cross_entropy(model(inputs)"),
        "input-starvation": line(file, "in enumerate(loader)"),
        "single-tensor-optimizer": line(file, "optimizer.step()"),
        "unused-parameter-search": line(file, "find_unused_parameters=True"),
    }
    # Which rank is late, how long both wait for each other, and whether they take longer than one would, depends on what
    # else the machine does.
    for rule in ("straggler", "exposed-communication", "overdistributed"):
        places.pop(rule, None)
    assert places.items() <= expected.items()


def test_two_ranks_with_their_flaws_repaired(loopscope):
    # A rank whose processor is the slower one is late without a fault of the script's, and the other waits for it.
    report = run(loopscope, *TORCHRUN, "ddp_two_ranks_tuned.py", "--epochs", "50")
    is_clean(report, "straggler", "exposed-communication")


def prove(loopscope, command, *options, budget, folder):
    done, report = loopscope.report(
        "prove",
        "--warmup",
        "5",
        "--min-window",
        "0.5s",
        "--time",
        "30s",
        "--budget",
        budget,
        *options,
        "--",
        *command,
        cwd=folder,
        env=ENVIRONMENT,
        timeout=1200,
    )
    assert done.code == 0, done.err
    jsonschema.validate(report, json.loads((ROOT / "reports/schema.json").read_text()))
    for row in report["trials"]:
        assert row["verdict"] not in ("failed", "different-training"), row
        checked = row["applied"]["changed"] > 0 and row["exactness"] in SAME_TRAINING and row["loss"]["verdict"]
        assert not checked or row["loss"]["verdict"] in SAME_TRAINING[row["exactness"]], row
    return report


def cell(row):
    if not row["ci95"]:
        return "–"
    boundary = " of the epoch boundary" if row.get("metric") == "epoch-boundary" else ""
    return f"{row['speedup']:.2f}x [{row['ci95'][0]:.2f}, {row['ci95'][1]:.2f}]{boundary}"


def note(program, report):
    machine = report["run"]["host"]
    host["name"] = f"{machine['cpu']}, {machine['cores']} cores, torch {report['run']['versions'].get('torch', '?')}"
    for row in report["trials"]:
        if row["context"] == "alone" and any(
            one["context"] != "alone" and one["treatment"] == row["treatment"] for one in report["trials"]
        ):
            continue
        reason = f" ({row['reason']})" if row["verdict"] == "not-applicable" else ""
        rows[program, row["treatment"]] = (
            f"| `{program}` | {row['treatment']}={row['value']} | {cell(row)} | {row['n']} | {row['verdict']}{reason} | "
            f"{(row['loss'] or {}).get('verdict') or '–'} |"
        )
    if report["combined"] and report["combined"]["speedup"]:
        together = report["combined"]
        rows[program, "all"] = (
            f"| `{program}` | recommended: {', '.join(together['treatments'])} | {cell(together)} | {together['n']} | "
            "measured on fresh blocks | each fix is checked by itself |"
        )


@pytest.fixture(scope="module", autouse=True)
def table():
    yield
    if len({program for program, _ in rows}) < 3:
        return  # a part of the tests was run: the table stays as it is
    lines = [
        f"Measured on {host['name']}.",
        "",
        "| script | fix | speedup, 95 % interval | n | verdict | training |",
        "|---|---|---|---|---|---|",
        *rows.values(),
    ]
    refill(TABLE, "python examples", lines)


@needs("PIL", "numpy")
def test_the_fixes_of_the_image_classifier(loopscope, images):
    report = prove(loopscope, [sys.executable, "image_classifier.py", *images], budget="9m", folder=EXAMPLES)
    note("image_classifier.py", report)
    assert report["combined"]["ci95"][0] > 1


def test_the_fixes_of_the_language_model(loopscope):
    report = prove(loopscope, [sys.executable, "tiny_gpt.py", *SENTENCES], budget="5m", folder=EXAMPLES)
    note("tiny_gpt.py", report)


def test_the_fixes_of_two_ranks(loopscope):
    only = "ddp.find_unused=off,ddp.no_sync=on,amp=bf16"
    report = prove(
        loopscope, [*TORCHRUN, "ddp_two_ranks.py", "--epochs", "50"], "--only", only, budget="6m", folder=EXAMPLES
    )
    note("ddp_two_ranks.py", report)


def test_the_fix_of_two_ranks_that_share_parameters(loopscope):
    file = "fsdp_two_ranks.py"
    report = prove(
        loopscope, [*TORCHRUN, file, "--steps", "1000"], "--only", "fsdp.reshard", budget="4m", folder=EXAMPLES
    )
    note(file, report)
    (row,) = report["trials"]
    assert row["applied"]["places"][0]["where"].endswith(f"{file}:{line(file, 'fully_shard(layer')}")
    assert row["verdict"] == "faster" and row["exactness"] == "exact"


PUBLIC = {
    "mnist": ("grad.set_to_none=on,optimizer.impl=foreach", [sys.executable, "mnist.py", "--samples", "1200"]),
    "imagenet": ("loader.persistent=on", [sys.executable, "imagenet.py", "--dummy", "-j", "1", "--dummy-size", "320"]),
    "word model": ("clip.foreach=on", [sys.executable, "word_language_model.py"]),
    "gpt": ("amp=bf16", [sys.executable, "minimal_gpt.py", "dtype=float32"]),
    "lightning": ("optimizer.impl=fused", [sys.executable, "lightning_autoencoder.py"]),
    "hugging face": ("amp=bf16", [sys.executable, "hugging_face_trainer.py"]),
    "accelerate": (
        "optimizer.impl=fused",
        ["accelerate", "launch", "--cpu", "--num_processes", "1", "accelerate_train.py"],
    ),
    "notebook": ("optimizer.impl=fused", ["jupyter", "execute", "notebook.ipynb"]),
    "torchrun": ("optimizer.impl=fused", [*TORCHRUN, "ddp.py", "60", "10"]),
}


@needs("lightning", "transformers", "accelerate", "nbclient", "ipykernel")
@pytest.mark.parametrize("name", PUBLIC)
def test_a_script_of_the_public_kind_is_rerun_with_a_fix(loopscope, tmp_path, name):
    """It is applied, trains the same, and leaves the folder as it was: checkpoints and logs go into a throw-away one."""
    only, command = PUBLIC[name]
    folder = tmp_path / "scripts"
    shutil.copytree(SCRIPTS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    report = prove(
        loopscope, command, "--only", only, "--blocks", "4", "-o", tmp_path / "out", budget="60s", folder=folder
    )
    assert {row["treatment"] for row in report["trials"]} == {one.split("=")[0] for one in only.split(",")}
    assert any(row["applied"]["changed"] > 0 and row["loss"]["verdict"] for row in report["trials"]), report["trials"]
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
