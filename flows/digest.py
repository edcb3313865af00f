"""The digest as a Prefect flow of one task: what it has sent is in its ledger, so that it may be tried again."""

from datetime import date
from pathlib import Path

from prefect import flow, task
from prefect.artifacts import create_table_artifact
from prefect.cache_policies import NO_CACHE

from iomine.pipeline.digest import Done, Order
from iomine.pipeline.digest import digest as digest_once

_sent = task(cache_policy=NO_CACHE, persist_result=False, retries=1, retry_delay_seconds=60)


@_sent
def send(order: Order) -> Done:
    """Write mails, and send them."""
    return digest_once(order)


@flow(name="digest", flow_run_name="mails", persist_result=False)
def digest(warehouse: Path, since: date | None = None, outbox: Path | None = None) -> Done:
    """Mail users, projects and operators what is new.

    Args:
        warehouse: root of the warehouse; its `digest.toml` says how mails leave.
        since: the first night to report, None for what is new to each recipient.
        outbox: a folder that gets the mails instead.
    """
    done = send(Order(warehouse, since=since, outbox=outbox))
    _publish_summary(done)
    return done


def _publish_summary(done: Done) -> None:
    create_table_artifact(
        key="digest-summary",
        table=[
            {"what": what, "how many": len(names)}
            for what, names in (
                ("sent", done.post.sent),
                ("to be tried again", [*done.post.deferred, *done.post.in_doubt]),
                ("held", done.post.held),
                ("refused", done.post.refused),
                ("without an address", done.post.unknown),
            )
        ],
        description=f"{len(done.post.sent):,} mails sent, about nights up to {done.last_night}",
    )
