"""Notebook kernels: cells under names that a reader recognises."""

from . import wrapping


def name_cells(compiler):
    """`compiler`: the module ipykernel.compiler, which names each cell after a temporary file that never exists."""
    try:
        wrapping.replace(compiler.XCachingCompiler, "get_code_name", _numbered)
    except AttributeError:
        pass  # another version of ipykernel: cells keep its names


def _numbered(original):
    def get_code_name(self, raw_code, code, number):
        return f"In[{number}]"

    return get_code_name
