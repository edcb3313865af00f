"""Finds the application that a command line runs, whatever starts it, wherever it is and however new it is.

Darshan keeps the words of a command with a space between them, cut at about 3 KB. What is in front of the program goes:
launchers, containers, timers, interpreters. The name of the program stays, without versions, dates and hashes, which are
what a rebuild changes.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple


class _Starter(NamedTuple):
    """A program that starts another: its options with values, how many each, and words before the other's name."""

    options: Mapping[str, int]
    skipped: int


def _starters(text: str) -> dict[str, _Starter]:
    """One a line, each with the options that other words than numbers follow: `+` skips a word, `:2` is two values."""
    found: dict[str, _Starter] = {}
    for line in text.strip().splitlines():
        names, _, rest = line.partition("|")
        options = {name: int(count or 1) for name, _, count in (word.partition(":") for word in rest.split() if word != "+")}
        found |= dict.fromkeys((name.strip() for name in names.split(",")), _Starter(options, rest.split().count("+")))
    return found


_WRAPPERS: Final = _starters("""
    srun | -A --account -p --partition -w --nodelist -x --exclude -J --job-name -o --output -e --error -i --input -D --chdir \
 -C --constraint -q --qos -m --distribution -d --dependency --mpi --export --gres --cpu-bind --gpu-bind --mem-bind --reservation
    mpirun, mpiexec, mpiexec.hydra, mpiexec.mpich, orterun, prun, mpiexec_mpt | -host --host -H -hosts --hosts -hostfile \
 --hostfile -machinefile --machinefile -f -x -genv:2 -env:2 -genvlist -envlist -mca:2 --mca:2 -wd -wdir --wdir --map-by \
 -map-by --bind-to -bind-to --rank-by -rank-by --cpu-bind --mem-bind --env -launcher -bootstrap -iface -outfile-pattern
    aprun | -cc -e -L -q -r
    jsrun | -b --bind -d --launch_distribution -E --env -o -e -l
    flux run, flux submit, flux mini run | --env --output -o --setopt --job-name
    env | -u --unset -C --chdir -S
    time | -f --format -o --output
    timeout | -s --signal
    numactl | -m -N -C -i --membind --cpunodebind --physcpubind --interleave
    nice, nohup, ionice, chrt, taskset, stdbuf, setsid, exec, command, catchsegv, unbuffer, xvfb-run |
    sudo | -u -g
    strace, ltrace | -e -o
    valgrind, gdb, cuda-gdb, ddt, hpcrun |
    perf stat, perf record | -e -o
    nsys profile | -o --output -t --trace -s
    ncu | -o --set --section
    vtune, amplxe-cl | -collect -r -result-dir
    likwid-perfctr, likwid-mpirun, likwid-pin | -C -c -g
    tau_exec | -T
    singularity exec, apptainer exec | -B --bind -H --home -W --workdir --env --pwd -S --scratch -o --overlay +
    singularity run, apptainer run | -B --bind -H --home -W --workdir --env --pwd -S --scratch -o --overlay
    docker run, podman run, podman-hpc run | -v --volume -e --env -w --workdir -u --user --name --network +
    shifter | --image -V --volume -m --module -e --env -w --workdir
    ch-run | -b --bind -c --cd --set-env +
    conda run, mamba run, micromamba run | -n --name -p --prefix --cwd
    poetry run, pipenv run, uv run, coverage run, mprof run, kernprof |
    torchrun | --rdzv_backend --rdzv-backend --rdzv_endpoint --rdzv-endpoint --rdzv_id --rdzv-id --master_addr --master-addr
    accelerate launch | --config_file --mixed_precision --main_process_ip
    deepspeed | -H --hostfile -i --include -e --exclude --master_addr --launcher
    horovodrun | -H --hosts -hostfile --hostfile
""")
# Modules of Python that run the script named after them.
_RUNNERS: Final = frozenset(
    "torch.distributed.run torch.distributed.launch mpi4py mpi4py.run mpi4py.futures cProfile profile pdb trace scalene "
    "memory_profiler line_profiler accelerate.commands.launch deepspeed.launcher.runner".split()
)
_INTERPRETERS: Final = _starters("""
    python, pypy, ipython | -W -X -Q
    perl | -I
    ruby | -I -r
    lua, luajit | -l
    R, Rscript, octave, tclsh, wish, node, expect, php |
    julia | -p -t -C -J -L
    bash, sh, dash, ksh, zsh, csh, tcsh | -o -O --rcfile --init-file
    java | -cp -classpath --class-path -p --module-path
""")
_SHELLS: Final = frozenset("bash sh dash ksh zsh csh tcsh".split())
# How an interpreter takes code from the command line; a shell takes commands.
_CODE: Final = {"python": "-c", "pypy": "-c", "ipython": "-c"} | dict.fromkeys(
    "perl ruby lua luajit node R Rscript julia".split(), "-e"
)
_VERSIONED: Final = re.compile(r"(?P<name>python|pypy|ipython|perl|ruby|lua|luajit|tclsh|wish|octave|php|julia)-?\d[\d.]*")
_COMMANDS: Final = re.compile(r"-[a-z]*c")
_MODULE: Final = frozenset(("-m", "-jar"))
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=.*")
_NUMBER: Final = re.compile(r"(0x[\da-fA-F]+|\d[\d.,:/x+-]*)[a-zA-Z]?")
_IMPORT: Final = re.compile(r"(?:from|import)\s+(?P<module>[A-Za-z_][\w.]*)")
_SEPARATORS: Final = r"[-_.+@]"
# What a rebuild or another day changes in a name; each begins with a separator and ends where the next does.
_FOLDED: Final = re.compile(
    rf"""(?<=.){_SEPARATORS}(?:
        v?\d+(?:\.\d+)+(?:[-_.]?(?:a|b|p|rc|pre|dev|alpha|beta)\d*)?   # 6.4.2, v1.0, 4.0.0rc1, 2024.08
      | v\d{{1,2}}                                                     # v2
      | 20[0-2]\d(?:[-_.]?\d\d[-_.]?\d\d)?                             # 2024, 2024-08-01
      | \d{{1,2}}[A-Z][a-z]{{2}}20\d\d                                 # 2Aug2023
      | [\da-f]{{8}}(?:-[\da-f]{{4}}){{3}}-[\da-f]{{12}}               # a UUID
      | (?=[a-f]*\d)(?=\d*[a-f])[\da-f]{{7,40}}                        # 3f2a9bc
      | (?=[a-z]*\d)[a-z\d]{{32}}                                      # Spack's
      | \d{{6,}}                                                       # a job, or seconds since the epoch
    )(?={_SEPARATORS}|$)""",
    re.VERBOSE,
)


def application_of(command: str) -> str:
    """Name of the application that a command runs: `lmp` of `srun -n 4 /sw/lammps/lmp-2024.08 -in x`.

    For an interpreter it is the script or module, for code on the command line the first module that it imports.

    Args:
        command: words with spaces between them.

    Returns:
        One word, empty where there is none in the command.
    """
    words = command.split()
    name = ""
    while words:
        name, *words = words
        program = _base(name)
        if (words and (known := f"{program} {words[0]}") in _WRAPPERS) or (known := program) in _WRAPPERS:
            words = _after(words[known.count(" ") :], _WRAPPERS[known])
        elif program in _INTERPRETERS:
            name, words = _script(program, words)
        else:
            break
    return _folded(_base(name))


def _base(word: str) -> str:
    """Last part of a path; of an interpreter without its version."""
    base = word.rstrip("/").rpartition("/")[2] or word
    versioned = _VERSIONED.fullmatch(base)
    return versioned["name"] if versioned else base


def _folded(name: str) -> str:
    while (shorter := _FOLDED.sub("", name)) != name:
        name = shorter
    return name


def _after(words: list[str], starter: _Starter) -> list[str]:
    """What follows a starter's own words."""
    place = 0
    while place < len(words):
        word = words[place]
        if word.startswith("-"):
            place += starter.options.get(word, 0)
        elif not (_ASSIGNMENT.fullmatch(word) or _NUMBER.fullmatch(word)):
            break
        place += 1
    left = words[place + starter.skipped :]
    return left[1:] if left[:1] == ["--"] else left


def _script(program: str, words: list[str]) -> tuple[str, list[str]]:
    """What an interpreter runs where that is one word, and otherwise the words that say it."""
    place = 0
    while place < len(words) and words[place].startswith("-"):
        word, rest = words[place], words[place + 1 :]
        if program in _SHELLS and _COMMANDS.fullmatch(word):
            return program, rest
        if word == _CODE.get(program):
            found = _IMPORT.search(" ".join(rest))
            return (found["module"] if found else program), []
        if word in _MODULE and rest:
            return rest[0], _after(rest[1:], _Starter({}, 0)) if rest[0] in _RUNNERS else []
        place += 1 + _INTERPRETERS[program].options.get(word, 0)
    left = words[place:]
    return _script(program, left[2:]) if left[:2] == ["CMD", "BATCH"] else (program, left)
