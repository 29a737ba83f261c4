"""Programs that run beside each other and take turns, for differences of a few percent on a machine that is not steady:
what drifts slower than a turn is in all of them alike, and differences are taken within a round of turns.

A program that takes turns runs one stretch of its loop for each line it reads and answers with a line of JSON, its
clocks' readings; when its input ends it says its last and ends. While one runs, the others sleep on their input.
"""

import argparse
import json
import pathlib
import statistics
import subprocess

from paired import CannotMeasure

END_S = 60  # a program that takes longer to end hangs


def options(description, amount, default_amount, default_clock, add_own=lambda parser: None, most_builds=1):
    """The command line of a benchmark: --build, --blocks, --rounds, --clock, --seed and `amount`, how much a turn does.
    `builds` are the folders of --build, `build` is the first."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--build", type=pathlib.Path, action="append", dest="builds")
    parser.add_argument(
        "--blocks", type=int, default=8, help="each starts all programs anew; at least 6, for an interval"
    )
    parser.add_argument("--rounds", type=int, default=30, help="turns of each program in a block")
    parser.add_argument(f"--{amount}", type=int, default=default_amount, help="in a turn")
    clock_help = "cpu: processor time of the training thread, for a busy machine"
    parser.add_argument("--clock", choices=("wall", "cpu"), default=default_clock, help=clock_help)
    parser.add_argument("--seed", type=int, default=1)
    add_own(parser)
    chosen = parser.parse_args()
    if chosen.blocks < 6 or chosen.rounds < 1:
        parser.error("--blocks must be at least 6 and --rounds at least 1")
    chosen.builds = [one.resolve() for one in chosen.builds or [pathlib.Path("build")]]
    if len(chosen.builds) > most_builds:
        parser.error(f"--build may be given {most_builds} times")
    chosen.build = chosen.builds[0]
    return chosen


def preloaded(build, mode):
    """What `loopscope` preloads into a launch of LOOPSCOPE_MODE `mode`."""
    names = ("preload", "calls") if mode == "trace" else ("preload",)
    return ":".join(str(build / "probes" / f"libloopscope_{name}.so") for name in names)


class Player:
    """A program that takes turns."""

    def __init__(self, name, command, environment):
        self.name = name
        self.process = subprocess.Popen(
            command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def turn(self):
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            self.end()
        answer = self.process.stdout.readline()
        return json.loads(answer) if answer else self.end()

    def end(self):
        """What the program says once its input has ended."""
        output, errors = self.process.communicate(timeout=END_S)
        if self.process.returncode != 0 or not output.strip():
            raise CannotMeasure(f"{self.name}: exit {self.process.returncode}: {errors.strip()[-400:]}")
        return json.loads(output.strip().splitlines()[-1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def take_turns(players, rounds, order):
    """[{name: readings}] of `rounds` rounds, every player once in each, in an order drawn anew."""
    for player in players:
        player.turn()  # warms up
    return [{player.name: player.turn() for player in order.sample(players, len(players))} for _ in range(rounds)]


def added(rounds, arm, base, clock):
    """What `arm` adds to a turn of `base`: the median over rounds of differences within a round."""
    return statistics.median(one[arm][clock] - one[base][clock] for one in rounds)
