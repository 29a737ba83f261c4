"""loader.persistent=on: workers stay alive from one pass over the data to the next.

Restarted workers get a seed from the loader's generator, persistent ones do not: it is drawn all the same, so that
later shuffles are those of the untreated program."""

import weakref

from .. import hooks

KEY = "loader.persistent"
NOTHING = "no DataLoader was built"


def apply(value, report):
    wanted = value == "on"
    made = weakref.WeakSet()

    def change(arguments):
        old = bool(arguments.get("persistent_workers", False))
        if arguments.get("num_workers", 0) == 0:
            return report.not_applicable("the loader has no workers to keep")
        if old == wanted:
            return report.not_applicable(f"persistent_workers is {'on' if wanted else 'off'} already", had=value)
        arguments["persistent_workers"] = wanted
        loader = weakref.ref(arguments["self"])
        if wanted:
            made.add(arguments["self"])
        report.applied(old, wanted, read_back=lambda: getattr(loader(), "persistent_workers", None))

    def draw_seed(loader):
        if loader in made:
            report.torch.empty((), dtype=report.torch.int64).random_(generator=loader.generator)

    hooks.loader_arguments.append(change)
    hooks.pass_resumes.append(draw_seed)
