"""Reads what schedulers account of jobs: Slurm in four forms, PBS, LSF and Grid Engine."""

from typing import Final

from iomine.sources.accounting.lsf import LSF
from iomine.sources.accounting.pbs import PBS
from iomine.sources.accounting.sacct import SACCT
from iomine.sources.accounting.scontrol import SCONTROL
from iomine.sources.accounting.setups import SETUP
from iomine.sources.accounting.slurm_json import SLURM_JSON
from iomine.sources.accounting.uge import UGE
from iomine.sources.model import Source

__all__ = ["SOURCES"]

# In the order in which shapes are tried.
SOURCES: Final[tuple[Source, ...]] = (SACCT, SLURM_JSON, SCONTROL, PBS, LSF, UGE, SETUP)
