"""How far long work has come, drawn on stderr."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from iomine.cli.terminal.text import is_json, write_event
from iomine.pipeline import progress


@contextmanager
def progress_shown() -> Iterator[None]:
    """Draws the progress of every stage for as long as the context lasts; event logs get only begin and end of each stage."""
    if is_json():
        with _written():
            yield
        return
    columns = (TextColumn("{task.description:<19}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    drawing = Progress(*columns, console=Console(stderr=True))
    tasks: dict[str, TaskID] = {}
    with ExitStack() as stack:
        stack.callback(progress.listen, None)

        def show(stage: str, done: int, total: int) -> None:
            if not tasks:
                # Without a task, the display would print an empty line before the sentence about a failure.
                stack.enter_context(drawing)
            if stage == progress.WAITING and stage not in tasks and not drawing.console.is_terminal:
                # A file gets the drawing only when all is over.
                drawing.console.print(stage)
            if stage not in tasks:
                tasks[stage] = drawing.add_task(stage, total=total)
            drawing.update(tasks[stage], completed=done, total=total)

        progress.listen(show)
        yield


@contextmanager
def _written() -> Iterator[None]:
    begun: set[str] = set()

    def write(stage: str, done: int, total: int) -> None:
        if stage not in begun or done == total:
            begun.add(stage)
            write_event("stage", stage=stage, done=done, total=total)

    progress.listen(write)
    try:
        yield
    finally:
        progress.listen(None)
