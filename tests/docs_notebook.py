"""Runs docs/notebook.ipynb, and writes what comes of it into it: `python tests/docs_notebook.py`.

Its warehouse is that of the README: the logs that come with PyDarshan. What a person changes in a cell stays.
"""

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import nbformat
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

from iomine.pipeline.sweep import Settings, run

PAGE: Final = Path(__file__).parents[1] / "docs" / "notebook.ipynb"
_PATIENCE_SECONDS: Final = 300
# What a run leaves in cells that is no answer, such as times.
_OF_A_RUN: Final = ("execution", "scrolled")
_METADATA: Final = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def sweep(root: Path) -> None:
    """Fills a warehouse with the logs that the notebook is about."""
    run(Settings((Path(find_spec("darshan").submodule_search_locations[0]),), root, workers=1))


def executed() -> Any:
    """The notebook with the outputs of a run of its own, on the warehouse that IOMINE_WAREHOUSE names.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell fails.
    """
    notebook = nbformat.read(PAGE, as_version=4)
    NotebookClient(notebook, km=_manager(), timeout=_PATIENCE_SECONDS).execute()
    notebook.metadata = nbformat.from_dict(_METADATA)
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
        for name in _OF_A_RUN:
            cell.metadata.pop(name, None)
    return notebook


def _manager() -> AsyncKernelManager:
    """Of this Python, whatever others the machine has kernels of."""
    manager = AsyncKernelManager()
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    manager._kernel_spec = KernelSpec(argv=command, display_name="Python 3", language="python")
    return manager


def main() -> None:
    """Runs it and writes it."""
    with TemporaryDirectory() as folder:
        sweep(Path(folder))
        os.environ["IOMINE_WAREHOUSE"] = folder
        nbformat.write(executed(), PAGE)


if __name__ == "__main__":
    main()
