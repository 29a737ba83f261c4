"""Starts Loopscope's shim in a Python process that was launched to be measured, then the sitecustomize it hides."""

import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def _leave_path():
    # Nothing else in this folder may shadow the program's modules.
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.getcwd()) != _FOLDER]


def _start_shim():
    import importlib.util

    package = os.path.dirname(_FOLDER)
    spec = importlib.util.spec_from_file_location(
        "_loopscope", os.path.join(package, "__init__.py"), submodule_search_locations=[package]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["_loopscope"] = module
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = before or sys.pycache_prefix is not None  # the user's folder
    try:
        spec.loader.exec_module(module)
        module.start()
    finally:
        sys.dont_write_bytecode = before


def _run_hidden_sitecustomize():
    if sys.version_info < (3,):  # noqa: UP036, a child that needs one
        del sys.modules["sitecustomize"]
        import sitecustomize  # noqa: F401, PLW0406

        return
    import importlib.machinery
    import importlib.util

    spec = importlib.machinery.PathFinder.find_spec("sitecustomize")
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_leave_path()
if os.environ.get("LOOPSCOPE_RUN_DIR") and sys.version_info >= (3,):
    try:
        _start_shim()
    except Exception as error:
        sys.stderr.write("loopscope: the Python shim is off: " + type(error).__name__ + ": " + str(error) + "\n")
_run_hidden_sitecustomize()
