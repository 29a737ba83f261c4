"""Output, exits, signals, children, what a program asks of its own interpreter."""

SCRIPTS = {
    "print_in_class": """
class Trainer:
    log = print
    def fit(self): self.log("epoch", 1)
Trainer().fit()
""",
    "print_is_builtin": """
import types, pickle, inspect
print(isinstance(print, types.BuiltinFunctionType), type(print), repr(print), print.__self__, inspect.signature(print))
print(pickle.loads(pickle.dumps(print)) is print, print.__doc__, print.__module__, print.__qualname__)
""",
    "print_raises": "print(1, nothing=2)",
    "print_stack": """
import traceback
class Seen:
    def __str__(self): return "".join(traceback.format_stack())
print(Seen())
""",
    "print_replaced": """
import builtins
own = print
builtins.print = lambda *given, **named: own("mine:", *given, **named)
print(epochs())
builtins.print = own
""",
    "frames_forbidden": """
import sys, threading
def forbid(event, given):
    if event == "sys._current_frames": raise RuntimeError("forbidden here")
sys.addaudithook(forbid)
done = threading.Event()
def count():
    total = 0
    while not done.is_set(): total += 1
thread = threading.Thread(target=count)
thread.start()
print(epochs(20))
done.set()
thread.join()
""",
    "logging_places": """
import logging, io
logging.basicConfig(format="%(filename)s:%(lineno)d %(funcName)s %(message)s", stream=sys.stdout)
class Handler(logging.Handler):
    def emit(self, record): raise ValueError("handler")
logging.warning("plain")
logging.warning("stack", stack_info=True)
logging.getLogger().addHandler(Handler())
logging.warning("fails")
""",
    "warnings_places": """
warnings.simplefilter("always")
class Data(Rows):
    def __getitem__(self, index):
        for level in range(1, 6): warnings.warn("level", stacklevel=level)
        return super().__getitem__(index)
next(iter(DataLoader(Data(), batch_size=1)))
""",
    "exit_3": "epochs(1); sys.exit(3)",
    "exit_at_once": "epochs(1); os._exit(7)",
    "exit_message": 'epochs(1); sys.exit("gave up")',
    "exit_by_error": 'epochs(1); raise RuntimeError("out of luck")',
    "killed": "epochs(1); os.kill(os.getpid(), 9)",
    "terminated": "epochs(1); os.kill(os.getpid(), 15)",
    "aborted": "epochs(1); os.abort()",
    "interrupted": "epochs(1); raise KeyboardInterrupt",
    "fault_handler": "import faulthandler; faulthandler.enable(); epochs(1); faulthandler.dump_traceback()",
    "at_exit": """
import atexit
atexit.register(lambda: print("exit handler"))
class Late:
    def __del__(self): print("late")
late = Late()
epochs(1)
""",
    "signal_handlers": """
import signal
print([signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD)])
signal.signal(signal.SIGALRM, lambda *_: print("alarm"))
signal.setitimer(signal.ITIMER_REAL, 0.01)
epochs(1)
signal.pause() if signal.getitimer(signal.ITIMER_REAL)[0] else None
""",
    "forked_child": """
pid = os.fork()
if not pid:
    epochs(1)
    os._exit(5)
print(os.waitpid(pid, 0)[1] >> 8)
""",
    "subprocesses": """
import subprocess
print(subprocess.run([sys.executable, "-c", "import torch; print(torch.ones(2))"], capture_output=True, text=True))
""",
    "process_pool": """
import multiprocessing
with multiprocessing.Pool(2) as pool: print(pool.map(abs, [-1, 2]))
""",
    "closes_descriptors": """
os.closerange(3, 1000)
print(epochs())
""",
    "changes_folder": """
os.makedirs("inside")
os.chdir("inside")
torch.save(model.state_dict(), "model.pt")
print(epochs(), os.listdir(".."))
""",
    "writes_files": """
import tempfile
print(tempfile.gettempdir() == os.environ["TMPDIR"])
torch.save(model.state_dict(), "model.pt")
open(os.path.expanduser("~/cache"), "w").write("1")
tempfile.NamedTemporaryFile(delete=False, prefix="kept").write(b"1")
print(epochs())
""",
    "traced_calls": """
seen = set()
sys.setprofile(lambda frame, event, argument: seen.add(frame.f_code.co_filename))
epochs(1)
sys.setprofile(None)
print(sorted(os.path.basename(one) for one in seen if "torch" not in one and "frozen" not in one))
""",
    "signatures": """
import inspect
for one in (nn.Module.__call__, nn.Module.zero_grad, torch.optim.Optimizer.zero_grad, DataLoader.__init__, DataLoader.__iter__,
            torch.autograd.backward, torch.optim.Optimizer.__init__):
    print(one.__qualname__, one.__module__, inspect.signature(one), inspect.isfunction(one), len(inspect.getsource(one)))
    print(sorted(vars(one)), one.__code__.co_firstlineno, one.__defaults__, getattr(one, "__wrapped__", None) is None)
""",
    "references": """
epochs(1)
print(sys.getrefcount(optimizer), sys.getrefcount(loader), sys.getrefcount(model), len(gc.garbage))
""",
    "standard_error": 'epochs(1); sys.stderr.write("to stderr\\n"); sys.stdout.write("no end of line")',
    "closed_output": "sys.stdout.close(); epochs(1); sys.stdout = sys.__stdout__ = open(os.devnull, 'w')",
    "no_torch": "NO_PRELUDE\nimport sys; print(sys.argv, sys.flags, __name__)",
    "leaves_a_daemon": """
import subprocess
print(epochs())
nothing = {one: subprocess.DEVNULL for one in ("stdin", "stdout", "stderr")}
subprocess.Popen(["sleep", "8"], start_new_session=True, **nothing)
""",
}
