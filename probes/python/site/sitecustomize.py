"""Starts Loopscope's shim in a Python process that was launched to be measured, then the sitecustomize it hides."""

import importlib.machinery
import importlib.util
import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def _leave_path():
    # Nothing else in this folder may be importable by the program's names.
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.getcwd()) != _FOLDER]


def _start_shim():
    package = os.path.dirname(_FOLDER)
    spec = importlib.util.spec_from_file_location(
        "_loopscope", os.path.join(package, "__init__.py"), submodule_search_locations=[package]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["_loopscope"] = module
    spec.loader.exec_module(module)
    module.start()


def _run_hidden_sitecustomize():
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize")
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_leave_path()
if os.environ.get("LOOPSCOPE_RUN_DIR"):
    try:
        _start_shim()
    except Exception as error:
        sys.stderr.write(f"loopscope: the Python shim is off: {type(error).__name__}: {error}\n")
_run_hidden_sitecustomize()
