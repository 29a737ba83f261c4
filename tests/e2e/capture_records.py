"""Reads a capture's raw records (probes/wire.h), for tests of what probes write."""

import struct

MARKS = {
    2: "measure_begin",
    3: "measure_end",
    4: "epoch_end",
    5: "resident",
    6: "peak",
    7: "loss",
    8: "metric",
    9: "sample_hash",
    10: "probe_off",
    11: "probe_on",
    12: "clean_end",
    16: "epoch_start",
    17: "switch",
}
RANGES = {0: "user", 1: "loader", 2: "backward", 3: "optimizer", 4: "zero_grad", 8: "evaluation", 9: "forward"}


class Capture:
    """marks: (kind, name, value, time_ns) and ranges: (category, name, value, start_ns, duration_ns, stack) in time's
    order; ops: names; op_states: (name, sequence, shape hash, forward thread, flags) of them; applied: (key, where, old, now, flags); facts: dict; stacks: id -> ["path:line:function"]."""

    def __init__(self, path):
        self.marks, self.ranges, self.ops, self.applied, self.facts, self.stacks = [], [], [], [], {}, {}
        self.op_states = []
        self._strings = {0: ""}
        with open(path, "rb") as file:
            data = file.read()
        header_bytes, chunk_bytes = struct.unpack_from("<II", data, 12)
        self.clean_end = struct.unpack_from("<I", data, 52)[0] == 1
        records = [one for at in range(header_bytes, len(data), chunk_bytes) for one in _records(data, at)]
        for kind, _, body in records:
            if kind == 1:
                number, length = struct.unpack_from("<II", body, 4)
                self._strings[number] = body[12 : 12 + length].decode()
        for kind, sub, body in records:
            self._add(kind, sub, body)
        self.marks.sort(key=lambda mark: mark[3])
        self.ranges.sort(key=lambda one: one[3])

    def _add(self, kind, sub, body):
        text = self._strings.get
        if kind == 2:
            name, sequence, shapes, forward_thread, flags = struct.unpack_from("<I12xIIHH", body, 4)
            self.ops.append(text(name))
            self.op_states.append((text(name), sequence, shapes, forward_thread, flags))
        elif kind == 4:
            name, start, duration, value, stack = struct.unpack_from("<IQQQI", body, 4)
            self.ranges.append((RANGES.get(sub, sub), text(name), value, start, duration, stack))
        elif kind == 5:
            name, time, value = struct.unpack_from("<IQQ", body, 4)
            self.marks.append((MARKS.get(sub, sub), text(name), value, time))
        elif kind == 6:
            number, count = struct.unpack_from("<II", body, 4)
            frames = struct.unpack_from(f"<{count}Q", body, 16)
            self.stacks[number] = [text(frame & 0xFFFFFFFF) for frame in frames if frame >> 63]
        elif kind == 8:
            key, where, old, now, flags = struct.unpack_from("<5I", body, 4)
            self.applied.append((text(key), text(where), text(old), text(now), flags))
        elif kind == 16:
            clock, end, samples = struct.unpack_from("<IQQ", body, 4)
            self.marks.append(("step", text(clock), samples, end))
        elif kind == 9:
            key, value = struct.unpack_from("<II", body, 4)
            self.facts[text(key)] = text(value)

    def of(self, kind):
        return [mark for mark in self.marks if mark[0] == kind]

    def ranges_of(self, category):
        return [one for one in self.ranges if one[0] == category]

    def losses(self):
        return [struct.unpack("<d", struct.pack("<Q", mark[2]))[0] for mark in self.of("loss")]

    def lines(self, category):
        """Innermost "path:line:function" of the ranges that carry a stack."""
        return [self.stacks[one[5]][0] for one in self.ranges_of(category) if self.stacks.get(one[5])]


def _records(data, at):
    magic, used = struct.unpack_from("<I", data, at)[0], struct.unpack_from("<I", data, at + 16)[0]
    if magic != 0x4B48434C:
        return
    begin, end = at + 32, at + 32 + used
    while begin < end:
        kind, sub, words = struct.unpack_from("<BBH", data, begin)
        yield kind, sub, data[begin : begin + words * 8]
        begin += words * 8
