"""One report of ranks whose traces lie anywhere, summarised where a Dask cluster's workers are.

    python -m loopscope.dask_report 's3://bucket/run7/rank*.json.gz' --html report.html

Inputs are files, folders or patterns, by any URL that fsspec knows; what follows the first option goes to `loopscope
report --reduce`. The cluster is the one of DASK_SCHEDULER_ADDRESS, else processes on this machine. An input that cannot
be read, also on a second and third try, is named on standard error, and the others are reported; then the exit code is 2.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

RETRIES = 2  # a worker that dies counts as a try, too
LOCAL_WORKERS = 2


def program():
    """The `loopscope` beside this file, as the package has it; else that of LOOPSCOPE, else on the PATH."""
    packaged = pathlib.Path(__file__).resolve().parent / "bin" / "loopscope"
    return os.environ.get("LOOPSCOPE", str(packaged) if packaged.exists() else "loopscope")


def expand(url):
    """The files of a pattern, or in a folder, sorted; names as they are typed: with the URL's protocol, or as a path."""
    import fsspec

    files, path = fsspec.core.url_to_fs(url)
    found = files.glob(path) if any(sign in path for sign in "*?[") else [path]
    inside = []
    for one in found:
        if files.isdir(one):
            inside += [entry for entry in files.ls(one, detail=False) if files.isfile(entry)]
        else:
            inside.append(one)
    if "file" in files.protocol or "local" in files.protocol:
        return [shortest(url, one) for one in sorted(inside)]
    return sorted(files.unstrip_protocol(one) for one in inside)


def shortest(url, path):
    """A local file as the user would type it: below the folder that `url` names, which may be a relative one."""
    return os.path.relpath(path) if not os.path.isabs(url.removeprefix("file://")) else path


def summarize(url, command):
    """Runs on a worker: the summary of one input. Raises RuntimeError with what `loopscope` says of it."""
    import fsspec

    with tempfile.TemporaryDirectory(prefix="loopscope-") as scratch:
        summary = pathlib.Path(scratch) / "summary"
        source, folder = url, None
        if "://" in url:
            # The input keeps its name in the report.
            source, folder = url.split("://", 1)[1], scratch
            target = pathlib.Path(scratch) / source
            target.parent.mkdir(parents=True, exist_ok=True)
            with fsspec.open(url, "rb") as remote, open(target, "wb") as local:
                while block := remote.read(1 << 22):
                    local.write(block)
        done = subprocess.run(
            [command, "report", "--summary", summary, source], cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip() or f"{command} ended with status {done.returncode}")
        return summary.read_bytes()


def connect():
    from distributed import Client, LocalCluster

    address = os.environ.get("DASK_SCHEDULER_ADDRESS")
    return Client(address) if address else Client(LocalCluster(n_workers=LOCAL_WORKERS, threads_per_worker=1))


def gather(client, urls, folder):
    """Writes each summary into `folder`, in the order of `urls`. Returns what failed: [(url, why)]."""
    from distributed import as_completed

    place = {}
    for index, url in enumerate(urls):
        place[client.submit(summarize, url, program(), pure=False, retries=RETRIES)] = index
    failed = []
    for done, future in enumerate(as_completed(place), start=1):
        index = place[future]
        # Waits where the result died with its worker since: its state is then neither finished nor failed.
        try:
            summary = future.result()
        except Exception as error:
            failed.append((urls[index], str(error)))
        else:
            (folder / f"{index:08d}.summary").write_bytes(summary)
        future.release()
        show(f"\r{done} of {len(urls)} ranks summarised", sys.stderr.isatty() or done == len(urls))
    show("\n", True)
    return sorted(failed)


def show(text, wanted):
    if wanted:
        sys.stderr.write(text)
        sys.stderr.flush()


def main(arguments):
    options = next((i for i, one in enumerate(arguments) if one.startswith("-")), len(arguments))
    if options == 0 or "-h" in arguments or "--help" in arguments:
        sys.exit(__doc__.strip() if options else f"loopscope: no input\n  {__doc__.strip()}")
    urls = [one for argument in arguments[:options] for one in expand(argument)]
    if not urls:
        sys.exit(f"loopscope: {' '.join(arguments[:options])}: no such files")
    with tempfile.TemporaryDirectory(prefix="loopscope-") as folder, connect() as client:
        failed = gather(client, urls, pathlib.Path(folder))
        for url, why in failed:
            print(f"loopscope: {url} is left out: {why}", file=sys.stderr)
        if len(failed) == len(urls):
            return 2
        reduced = subprocess.run([program(), "report", "--reduce", folder, *arguments[options:]], check=False)
    return reduced.returncode or (2 if failed else 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
