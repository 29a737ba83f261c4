"""The line of the program that is running: the innermost frame of the user's code."""

import os
import sys
import sysconfig
import time

START_FOLDER = os.getcwd()
_START_S = time.time()
_SHIM = os.path.dirname(os.path.abspath(__file__)) + os.sep
_LIBRARY_PARTS = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_COMPILERS = tuple(os.path.join(os.sep, "torch", part, "") for part in ("_dynamo", "_functorch", "_inductor"))
_TYPED = ("<stdin>", "<console>", "<ipython-input", "<string>")  # has no file, and is the user's
# By file name: checking folders takes milliseconds, and treatments need a place in every step.
_is_foreign, _is_user, _spelled = {}, {}, {}


def foreign_folders():
    """Path prefixes of code that is never the user's: folders of the shim, the standard library and torch."""
    folders = [_SHIM]
    if sys.argv[:1] != ["-c"]:  # otherwise the program itself; elsewhere, a library made this code
        folders.append("<string>")
    for name in ("stdlib", "platstdlib"):
        folder = sysconfig.get_path(name)
        if folder:
            folders.append(os.path.join(folder, ""))
    torch = sys.modules.get("torch")
    if torch is not None and torch.__file__:
        folders.append(os.path.join(os.path.dirname(torch.__file__), ""))
    folders.append(os.path.join(temporary_folder(), "torchinductor_"))  # of any user, from this start or an earlier one
    for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"):
        if os.environ.get(name):
            folders.append(os.path.join(os.environ[name], ""))
    return folders


def temporary_folder():
    """As tempfile finds it, but without a test write."""
    names = ("TMPDIR", "TEMP", "TMP")
    return os.path.abspath(next((os.environ[name] for name in names if os.environ.get(name)), "/tmp"))


def _is_generated(path):
    """A library has generated it since the program began, under a name that changes with each start. The place of its
    code is its caller's."""
    if not path.startswith(os.path.join(temporary_folder(), "")):
        return False
    try:
        return os.stat(path).st_mtime >= _START_S
    except OSError:
        return False


def _belongs_to_foreign_folder(path):
    known = _is_foreign.get(path)
    if known is None:
        known = _is_foreign[path] = path.startswith(tuple(foreign_folders())) or _is_generated(path)
    return known


def _belongs_to_user(path):
    known = _is_user.get(path)
    if known is None:
        known = not (
            (path.startswith("<") and not path.startswith(_TYPED))
            or any(part in path for part in _LIBRARY_PARTS)
            or _belongs_to_foreign_folder(path)
        )
        _is_user[path] = known
    return known


def user_frame():
    """The innermost frame of the user's code; of any code outside torch and the shim where there is none; or None."""
    return _users(sys._getframe(1))


def _users(frame):
    library = None
    while frame is not None:
        path = frame.f_code.co_filename
        if _belongs_to_user(path):
            return frame
        if library is None and not path.startswith("<") and not _belongs_to_foreign_folder(path):
            library = frame
        frame = frame.f_back
    return library


def in_compiler():
    """Whether torch's compilers called the running code, without code of the program in between."""
    frame = sys._getframe(1)
    while frame is not None and _belongs_to_foreign_folder(frame.f_code.co_filename):
        if any(part in frame.f_code.co_filename for part in _COMPILERS):
            return True
        frame = frame.f_back
    return False


def shown(path):
    """`path` normalised (a program started as ../train.py has other spellings), relative to the start folder if it lies
    below it."""
    known = _spelled.get(path)
    if known is None:
        known = path
        if not path.startswith("<") and (not os.path.isabs(path) or os.path.normpath(path) != path):
            known = os.path.realpath(os.path.join(START_FOLDER, path))
        inside = os.path.join(START_FOLDER, "")
        known = _spelled[path] = known[len(inside) :] if known.startswith(inside) else known
    return known


def place():
    """ "train.py:42" of the user's line that is running; "" when no such line is."""
    return _shown_line(user_frame())


def place_of(frame):
    """The same of the line that another thread is in; `frame` may be None."""
    return _shown_line(_users(frame))


def _shown_line(frame):
    return f"{shown(frame.f_code.co_filename)}:{frame.f_lineno}" if frame is not None else ""
