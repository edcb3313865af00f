"""Scripts that people run, written into a folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from iomine.errors import OutputError

_RUNNABLE: Final = 0o755


def write_scripts(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    """Writes scripts that can be run into the folder that `--replay` names, which need not exist, and says where they are.

    Args:
        folder: where.
        texts: their texts by their names, without suffix.

    Raises:
        OutputError: the folder cannot be written.
    """
    scripts = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            script = folder / f"{name}.sh"
            script.write_text(text, encoding="utf-8")
            script.chmod(_RUNNABLE)
            scripts.append(script)
    except OSError as error:
        raise OutputError(
            f"{error.filename or folder} cannot be written ({error.strerror}): name another folder with --replay."
        ) from error
    return scripts
