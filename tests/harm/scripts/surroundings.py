"""What a program finds around it: descriptors, devices, the environment, threads, git, what it starts and leaves."""

SCRIPTS = {
    "descriptors": """
print(sorted(os.listdir("/proc/self/fd"))[:3], [os.isatty(one) for one in range(3)])
print([os.readlink(f"/proc/self/fd/{one}").split(":")[0] for one in (0,)])
epochs(1)
""",
    "descriptor_numbers": """
before = os.open("/dev/null", os.O_RDONLY)
epochs(1)
after = os.open("/dev/null", os.O_RDONLY)
os.close(before)
print(os.get_inheritable(after), os.open("/dev/null", os.O_RDONLY) == before)
""",
    "standard_input": "print(repr(sys.stdin.read()), sys.stdin.isatty()); epochs(1)",
    "streams_are_what_they_were": """
import stat
print([stat.S_ISFIFO(os.fstat(one).st_mode) for one in (1, 2)])
epochs(1)
""",
    "group_and_session": """
parent = os.getppid()
print(os.getpgid(0) == os.getpgid(parent), os.getsid(0) == os.getsid(parent), os.getpgid(0) == os.getpid())
epochs(1)
""",
    "closes_all_descriptors": """
epochs(1)
os.closerange(3, 64)
print(epochs(1))
""",
    "closes_standard_input": "os.close(0); print(epochs(2))",
    "redirects_its_output": """
saved = os.dup(1)
log = os.open("log", os.O_CREAT | os.O_WRONLY)
os.dup2(log, 1)
print("into the log", flush=True)
epochs(1)
os.dup2(saved, 1)
print(open("log").read())
""",
    "non_blocking_output": """
import fcntl
flags = fcntl.fcntl(1, fcntl.F_GETFL)
print(bool(flags & os.O_NONBLOCK), flags & os.O_ACCMODE)
epochs(1)
""",
    "environment": """
mine = {key: value for key, value in os.environ.items() if not key.startswith(("LOOPSCOPE_", "HARM_"))}
for key in ("LD_PRELOAD", "PYTHONPATH", "NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH"): mine.pop(key, None)
print(sorted(mine.items()))
epochs(1)
""",
    "environment_cleared": """
import subprocess
print(subprocess.run([sys.executable, "-c", "print(1)"], env={}, capture_output=True))
epochs(1)
""",
    "environment_replaced": """
os.environ.clear()
os.environ["PATH"] = "/usr/bin:/bin"
print(epochs(2), os.popen("echo child").read())
""",
    "setproctitle": """
import ctypes
libc = ctypes.CDLL(None)
epochs(1)
libc.prctl(15, b"renamed", 0, 0, 0)
print(open("/proc/self/comm").read(), epochs(2))
""",
    "limits": """
import resource
print([resource.getrlimit(one) for one in (resource.RLIMIT_NOFILE, resource.RLIMIT_CORE, resource.RLIMIT_FSIZE)])
epochs(1)
""",
    "umask": """
print(oct(os.umask(0o027)))
epochs(1)
open("made", "w").close()
print(oct(os.stat("made").st_mode))
""",
    "few_descriptors_left": """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))
print(epochs(2))
""",
    "working_folder_changes": """
os.makedirs("elsewhere")
epochs(1)
os.chdir("elsewhere")
print(epochs(2), os.getcwd().endswith("elsewhere"), os.listdir("."))
""",
    "working_folder_goes": """
os.makedirs("gone"); os.chdir("gone"); os.rmdir("../gone")
print(epochs(2))
""",
    "temporary_folder": """
import tempfile
with tempfile.TemporaryDirectory() as folder:
    print(os.listdir(folder), epochs(2))
print(sorted(os.listdir(tempfile.gettempdir())) == [] or "not empty")
""",
    "git_in_the_program": """
import subprocess
def git(*words): return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], capture_output=True, text=True)
git("init", "-q"); open("file", "w").write("x"); git("add", "file"); git("commit", "-qm", "one")
epochs(1)
print(git("status", "--porcelain", "--untracked-files=no").stdout, git("log", "--format=%s").stdout)
import shutil; shutil.rmtree(".git")
""",
    "device_null": """
epochs(1)
with open("/dev/null", "w") as null: null.write("x")
print(os.stat("/dev/null").st_rdev, epochs(1))
""",
    "fifo_between_processes": """
import subprocess
os.mkfifo("pipe")
reader = subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE)
with open("pipe", "w") as pipe: pipe.write(f"{epochs(2)}")
print(reader.communicate())
""",
    "socket_pair": """
import socket
one, other = socket.socketpair()
one.sendall(str(epochs(2)).encode())
print(other.recv(100))
""",
    "memory_map": """
import mmap
with open("map", "wb") as file: file.write(bytes(8192))
with open("map", "r+b") as file: area = mmap.mmap(file.fileno(), 0)
area[:4] = b"here"
epochs(1)
area.flush(); print(open("map", "rb").read(4))
""",
    "file_locks": """
import fcntl
one = open("lock", "w"); fcntl.flock(one, fcntl.LOCK_EX)
epochs(1)
try:
    fcntl.flock(open("lock", "w"), fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError as error:
    print(type(error).__name__)
""",
    "leaves_a_worker_that_writes": """
import subprocess
subprocess.Popen("sleep 0.7; echo late > late.txt; mv late.txt ../tmp/late.txt", shell=True)
print(epochs(1))
""",
    "leaves_a_session": """
import subprocess
subprocess.Popen("sleep 0.7; echo late > ../tmp/session.txt", shell=True, start_new_session=True)
print(epochs(1))
""",
    "leaves_one_that_prints": """
import subprocess, time
subprocess.Popen("sleep 0.2; echo from a child", shell=True)
print(epochs(1), flush=True)
time.sleep(0.6)
""",
    "double_fork": """
if os.fork() == 0:
    if os.fork() == 0:
        import time; time.sleep(0.7); open("../tmp/daemon", "w").write("done"); os._exit(0)
    os._exit(0)
print(os.wait()[1], epochs(1))
""",
    "threads_before_training": """
print(len(os.listdir("/proc/self/task")))
""",
    "threads_at_a_fork": """
import threading
def tasks(): return sorted(open(f"/proc/self/task/{one}/comm").read().strip() for one in os.listdir("/proc/self/task"))
epochs(2)
child = os.fork()
if child == 0: os._exit(0)
print("loopscope" in tasks(), os.waitpid(child, 0)[1])
""",
    "own_namespace": """
import ctypes
print(ctypes.CDLL(None, use_errno=True).unshare(0x10000000 if len(os.listdir("/proc/self/task")) == 1 else 0))
epochs(1)
""",
    "sanitized_child": """
import subprocess
open("a.c", "w").write('#include <stdio.h>\\nint main() { puts("sanitized"); return 5; }')
if subprocess.run(["gcc", "-fsanitize=address", "a.c", "-o", "a"], capture_output=True).returncode == 0:
    for way in (["./a"], ["sh", "-c", "./a"], ["env", "./a"]):
        done = subprocess.run(way, capture_output=True, text=True)
        print(done.returncode, done.stdout, done.stderr[:200])
    print(os.system("./a") >> 8, os.spawnv(os.P_WAIT, "./a", ["./a"]), os.popen("./a").read())
os.path.exists("a") and os.remove("a")
epochs(1)
""",
    "static_child": """
import subprocess
open("a.c", "w").write('#include <stdio.h>\\nint main() { puts("static"); return 5; }')
subprocess.run(["gcc", "-static", "a.c", "-o", "a"], capture_output=True)
print(subprocess.run(["./a"], capture_output=True) if os.path.exists("a") else "")
os.path.exists("a") and os.remove("a")
epochs(1)
""",
    "child_with_its_own_preload": """
import subprocess
open("a.c", "w").write('#include <stdio.h>\\nint mine(void) { return 4; }')
open("b.c", "w").write('#include <stdio.h>\\nint mine(void) __attribute__((weak));\\nint main() { printf("%d", mine ? mine() : 0); }')
subprocess.run("gcc -shared -fPIC a.c -o a.so && gcc b.c -o b", shell=True, capture_output=True)
print(subprocess.run(["./b"], env={**os.environ, "LD_PRELOAD": "./a.so"}, capture_output=True).stdout)
for one in ("a.so", "b"): os.path.exists(one) and os.remove(one)
epochs(1)
""",
    "ways_to_start": """
import subprocess
print(os.spawnlp(os.P_WAIT, "sh", "sh", "-c", "exit 6"), os.system("exit 7") >> 8)
print(os.waitstatus_to_exitcode(os.waitpid(os.posix_spawnp("sh", ["sh", "-c", "exit 8"], os.environ), 0)[1]))
print(subprocess.run(["no such program"], capture_output=True).returncode if False else "")
try:
    os.execv("/no/such/program", ["x"])
except OSError as error:
    print(error.errno)
try:
    subprocess.run(["/no/such/program"])
except OSError as error:
    print(error.errno)
epochs(1)
""",
    "becomes_another": "epochs(1); sys.stdout.flush(); os.execvp('sh', ['sh', '-c', 'echo became; exit 9'])",
    "becomes_itself": """
if "again" not in sys.argv:
    epochs(1)
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, *sys.argv, "again"])
print("again", epochs(1))
""",
    "python_2_path": """
import subprocess
where = [one for one in os.environ.get("PYTHONPATH", "").split(":") if one.endswith("site")]
for one in where:
    text = open(os.path.join(one, "sitecustomize.py")).read()
    assert "f\\"" not in text.split("def ")[0] and "f'" not in text, "a Python 2 cannot read it"
print(epochs(1))
""",
}
