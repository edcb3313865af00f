"""What was run, of command lines as people write them and as nobody should."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from iomine.sources.darshan.application import application_of

# Words that mean something to the function, and some that do not.
_WORDS = st.sampled_from(
    "srun mpirun env time numactl singularity exec run python3 -m -c -e bash -n 4 -- - / // a/b/ x-1.2.3 A=1 "
    "torchrun mpi4py ./a.out R CMD BATCH 'q\" <b> \x1b[31m ; -1.0 v2 -v2 lmp-2024.08".split()
)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("/sw/lammps/lmp-2024.08 -in in.lj", "lmp"),
        ("lmp_2Aug2023", "lmp"),
        ("vasp_std-6.4.2", "vasp_std"),
        ("/opt/ior-4.0.0rc1/bin/ior -a POSIX", "ior"),
        ("ior-4.0.0rc1", "ior"),
        ("./gmx_mpi-2024.1-gpu mdrun", "gmx_mpi-gpu"),
        ("gromacs_2024", "gromacs"),
        ("model-3f2a9bc7", "model"),
        ("solver.20240801.x", "solver.x"),
        ("solver-2024-08-01", "solver"),
        ("h5tool-ycbghmgvq7z34ridg4nntzus2jsgkcos", "h5tool"),
        ("/var/run/palsd/bbe31285-d74e-4914-b648-79140e7c5f81/files/fidgetspinnerA /eagle", "fidgetspinnerA"),
        ("step_bbe31285-d74e-4914-b648-79140e7c5f81", "step"),
        ("train_v2.py", "train.py"),
        # Numbers that belong to the name.
        ("ft.C", "ft.C"),
        ("bt.A.16", "bt.A.16"),
        ("mcnp6", "mcnp6"),
        ("8_benchmark_parallel", "8_benchmark_parallel"),
        ("3-master /lus/x", "3-master"),
        ("warpx.3d.MPI.CUDA.DP.OPMD in", "warpx.3d.MPI.CUDA.DP.OPMD"),
        ("bench_2048", "bench_2048"),
        ("x-deadbeef", "x-deadbeef"),
    ],
)
def test_names_keep_what_a_rebuild_does_not_change(command: str, expected: str) -> None:
    """Folder, version, date, hash and id go; other characters stay."""
    assert expected == application_of(command)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("srun -n 4 -A acct --partition debug -t 1:00:00 ./lmp -in x", "lmp"),
        ("srun --mpi=pmix ./lmp", "lmp"),
        ("mpirun -np 8 --hostfile hosts -mca btl tcp -x PATH ./lmp", "lmp"),
        ("mpiexec.hydra -genv A b -ppn 4 /x/lmp", "lmp"),
        ("mpiexec -n 4 --ppn 4 -d 8 --hosts x1,x2 --exclusive --cpu-bind depth ./lmp", "lmp"),
        ("aprun -n 24 -cc depth ./lmp", "lmp"),
        ("flux run -N 2 -n 8 ./lmp", "lmp"),
        ("env -u HOME A=1 B=2 ./lmp", "lmp"),
        ("/usr/bin/time -v -o times ./lmp", "lmp"),
        ("nice -n 10 numactl --membind 0 -C 0-3,8 ./lmp", "lmp"),
        ("taskset 0xff timeout -k 5 10m ./lmp", "lmp"),
        ("singularity exec -B /a:/b image.sif ./lmp -in x", "lmp"),
        ("apptainer run --nv lmp-2024.sif", "lmp.sif"),
        ("shifter --image docker:x/y ./lmp", "lmp"),
        ("docker run -v /a:/b image lmp", "lmp"),
        ("ch-run -b /a /img -- lmp", "lmp"),
        ("conda run -n ml python train.py", "train.py"),
        ("nsys profile -o out python3 train.py", "train.py"),
        ("srun singularity exec i.sif time python3.11 -u train.py", "train.py"),
        ("singularity", "singularity"),
        ("srun -n 4", "srun"),
        ("env", "env"),
    ],
)
def test_what_starts_a_program_is_not_the_application(command: str, expected: str) -> None:
    """Launchers, containers and timers go with their options; where nothing follows them, they are what was run."""
    assert expected == application_of(command)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python train.py --epochs 3", "train.py"),
        ("/venv/bin/python3.11 -W ignore -u /x/train.py", "train.py"),
        ("python3 /venv/bin/dlio_benchmark --config-dir x", "dlio_benchmark"),
        ("python3 -m analysis", "analysis"),
        ("python -m mpi4py ./solve.py", "solve.py"),
        ("python -m torch.distributed.run --nproc_per_node 4 train.py", "train.py"),
        ("torchrun --rdzv_backend c10d --nproc_per_node 4 finetune.py", "finetune.py"),
        ("python3 -c from multiprocessing.resource_tracker import main;main(33)", "multiprocessing.resource_tracker"),
        ("python3 -c import os, sys; print(1)", "os"),
        ("python3 -c print(1)", "python"),
        ("python3.11", "python"),
        ("bash -e run.sh", "run.sh"),
        ("sh -lc ./lmp -in x", "lmp"),
        ("Rscript --vanilla fit.R", "fit.R"),
        ("R CMD BATCH --no-save fit.R", "fit.R"),
        ("perl -I lib munge.pl", "munge.pl"),
        ("perl -e print", "perl"),
        ("julia -t 8 --project=. run.jl", "run.jl"),
        ("java -Xms1g Main", "Main"),
        ("java -Xmx4g -cp a.jar:b.jar -jar tool-1.2.jar", "tool.jar"),
    ],
)
def test_of_an_interpreter_it_is_what_is_interpreted(command: str, expected: str) -> None:
    """A script or module stands for itself; code on the command line for the first module that it imports."""
    assert expected == application_of(command)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("", ""),
        (" \t\n", ""),
        ("/", "/"),
        ("a/b/", "b"),
        ("'; DROP TABLE x; --", "';"),
        ("./a\nb", "a"),
        ("<b>", "<b>"),
        ("1234567890", "1234567890"),
    ],
)
def test_odd_commands(command: str, expected: str) -> None:
    """What looks like no command gives its first word, whatever that holds."""
    assert expected == application_of(command)


@given(st.lists(_WORDS | st.text(max_size=8), max_size=8).map(" ".join))
@example("x" * 4096)
@example("-1.1" * 1024)
@example("python -m " * 400)
@example("bash -c " * 500)
@example("a" + "-1111111" * 500 + "-")
def test_application_is_one_word_of_the_command_and_its_own_application(command: str) -> None:
    """The answer is a word, made of what is in the command, empty only where that is; asked of the answer, it is the same."""
    name = application_of(command)
    assert bool(command.split()) == bool(name)
    assert name.split() == ([name] if name else [])
    assert len(name) <= max(map(len, command.split()), default=0)
    assert name == application_of(name)
