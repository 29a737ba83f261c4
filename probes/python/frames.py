"""Which line of the program is running: the innermost frame that belongs to the user."""

import os
import sys
import sysconfig

_START_FOLDER = os.getcwd()
_SHIM = os.path.dirname(os.path.abspath(__file__)) + os.sep
_LIBRARY_PARTS = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_COMPILERS = tuple(os.path.join(os.sep, "torch", part, "") for part in ("_dynamo", "_functorch", "_inductor"))
_TYPED = ("<stdin>", "<console>", "<ipython-input", "<string>")  # has no file, and is the user's
# By file name: looking up the folders takes milliseconds, and treatments need a place in every step.
_is_foreign, _is_user = {}, {}


def foreign_folders():
    """What the paths of code begin with that is never the user's: folders of the shim, the standard library and torch."""
    folders = [_SHIM]
    if sys.argv[:1] != ["-c"]:  # else the program itself; in another, a library made this code
        folders.append("<string>")
    for name in ("stdlib", "platstdlib"):
        folder = sysconfig.get_path(name)
        if folder:
            folders.append(os.path.join(folder, ""))
    torch = sys.modules.get("torch")
    if torch is not None and torch.__file__:
        folders.append(os.path.join(os.path.dirname(torch.__file__), ""))
    return folders


def _belongs_to_foreign_folder(path):
    known = _is_foreign.get(path)
    if known is None:
        known = _is_foreign[path] = path.startswith(tuple(foreign_folders()))
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
    """Whether torch's compilers call what runs, and no code of the program is called by them in turn."""
    frame = sys._getframe(1)
    while frame is not None and _belongs_to_foreign_folder(frame.f_code.co_filename):
        if any(part in frame.f_code.co_filename for part in _COMPILERS):
            return True
        frame = frame.f_back
    return False


def shown(path):
    """`path` relative to the folder the program was started in, where it lies below it."""
    inside = os.path.join(_START_FOLDER, "")
    return path[len(inside) :] if path.startswith(inside) else path


def place():
    """ "train.py:42" of the user's line that is running; "" when no such line is."""
    return _shown_line(user_frame())


def place_of(frame):
    """The same of the line that another thread is in; `frame` may be None."""
    return _shown_line(_users(frame))


def _shown_line(frame):
    return f"{shown(frame.f_code.co_filename)}:{frame.f_lineno}" if frame is not None else ""
