"""`iomine mcp`: the warehouse for an assistant, by the Model Context Protocol over stdin and stdout."""
# ruff: noqa: PLC0415

from typing import Final

from iomine.cli.options import DEFAULT_WAREHOUSE, Memory, Timeout, Warehouse, limits_of

_TIMEOUT_SECONDS: Final = 60
_MEMORY: Final = "1GiB"


def command(*, timeout: Timeout = _TIMEOUT_SECONDS, memory: Memory = _MEMORY, warehouse: Warehouse = DEFAULT_WAREHOUSE) -> None:
    """Answer an assistant that speaks the Model Context Protocol.

    An assistant starts it and asks it over stdin and stdout, with the tools sql, show, explain, worst and dictionary. It
    reads what its user can read of the warehouse, and changes nothing. It needs the extra mcp: pip install 'iomine[mcp]'.
    """
    from iomine.cli.terminal.assistant import server

    server(warehouse, limits_of(timeout, memory)).run()
