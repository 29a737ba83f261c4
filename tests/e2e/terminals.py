"""Reading what a process writes to a terminal."""

import os
import threading

END = b"\0"


def all_of(own, terminal, process):
    """All that the process wrote until it ended, as bytes. Takes over both ends of the terminal.

    This end stays open until the process is gone, and then marks what is the last: a terminal whose other end is closed
    may report so (EIO) before the bytes that were written just before are handed on.
    """

    def mark_the_end():
        process.wait()
        os.write(terminal, END)

    ending = threading.Thread(target=mark_the_end)
    ending.start()
    seen = b""
    while not seen.endswith(END):
        seen += os.read(own, 1 << 16)
    ending.join()
    os.close(terminal)
    os.close(own)
    return seen.removesuffix(END)
