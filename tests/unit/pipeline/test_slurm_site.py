"""What a site sets for Slurm, and the batch script that comes of it: neither needs a Slurm."""

import ssl
import sys
from pathlib import Path

import pytest

from iomine.errors import UsageError
from iomine.pipeline.workers import slurm
from iomine.pipeline.workers.slurm import SlurmSite, batch_script, check_choice, site_of

SITE = SlurmSite(partition="night", account="ops", cores=8, memory_gib=32, walltime_minutes=120, interface="lo")


def script_of(site: SlurmSite) -> list[str]:
    pytest.importorskip("dask_jobqueue")
    return batch_script(site, "tls://10.0.0.1:8786").splitlines()


def worker_of(site: SlurmSite) -> str:
    return script_of(site)[-1]


def directives(site: SlurmSite) -> list[str]:
    return [line.removeprefix("#SBATCH ") for line in script_of(site) if line.startswith("#SBATCH ")]


def test_a_job_asks_for_what_the_site_sets():
    """Partition, account, cores, memory and time stand in the script as the site gives them."""
    asked = directives(SITE)

    assert {"-J iomine", "-p night", "-A ops", "-n 1", "--cpus-per-task=8", "--mem=32G", "-t 120", "--no-requeue"} <= set(asked)


def test_what_a_site_leaves_open_is_slurms_to_choose():
    """Empty text is no partition, no account and no interface."""
    asked = directives(SlurmSite())

    assert [] == [line for line in asked if line.startswith(("-p", "-A"))]
    assert "--interface" not in worker_of(SlurmSite())


def test_a_job_is_one_worker_with_a_thread_for_each_core():
    """It runs this very Python, reaches the scheduler by the site's interface and gives up when that is gone."""
    worker = worker_of(SITE)

    assert worker.startswith(f"{sys.executable} -m distributed.cli.dask_worker tls://10.0.0.1:8786 ")
    for option in ("--nthreads 8", "--memory-limit 32.00GiB", "--interface lo", "--death-timeout 60"):
        assert f" {option} " in f"{worker} "
    assert "--nworkers" not in worker


def test_no_dashboard_is_open_to_others():
    """Whatever a worker still serves over HTTP, it serves on loopback."""
    assert " --no-dashboard --dashboard-address 127.0.0.1:0 " in worker_of(SITE)


def test_a_worker_leaves_before_slurm_ends_its_job():
    """Its longest life, lifetime and stagger together, ends before the time limit."""
    words = worker_of(SITE).split()
    lifetime, stagger = (int(words[words.index(option) + 1].rstrip("s")) for option in ("--lifetime", "--lifetime-stagger"))

    assert 0.7 * 7200 < lifetime - stagger < lifetime + stagger < 7200


def test_what_jobs_print_lies_nowhere_or_where_the_site_says(tmp_path):
    """Never in the folder that somebody happened to stand in."""
    assert {"--output=/dev/null", "--error=/dev/null"} <= set(directives(SITE))

    kept = directives(SITE.changed(log_directory=str(tmp_path)))
    assert {f"-o {tmp_path}/iomine-%J.out", f"-e {tmp_path}/iomine-%J.err"} <= set(kept)


def test_more_options_and_lines_of_shell_stand_where_they_count():
    """Options of sbatch among the directives, lines of shell before the worker."""
    script = script_of(SITE.changed(directives=("--qos=night",), prologue=("module load python",), local_directory="/my tmp"))

    assert script.index("#SBATCH --qos=night") < script.index("module load python") < len(script) - 1
    assert "umask 0027" in script
    assert " --local-directory '/my tmp' " in script[-1]


def test_settings_are_read_from_the_warehouse(tmp_path):
    """What the file does not say is as it ships."""
    (tmp_path / "slurm.toml").write_text('partition = "night"\ncores = 8\ndirectives = ["--qos=night"]\n')

    assert SlurmSite(partition="night", cores=8, directives=("--qos=night",)) == site_of(tmp_path)


def test_a_warehouse_without_the_file_says_where_to_get_one(tmp_path):
    """Nothing is asked of Slurm that nobody has set."""
    with pytest.raises(UsageError, match=rf"^There is no {tmp_path}/slurm.toml: copy deploy/slurm/slurm.toml there"):
        site_of(tmp_path)


def test_the_template_says_what_ships():
    """It sets nothing as it is, and with every value uncommented what would hold anyway."""
    template = (Path(__file__).parents[3] / "deploy" / "slurm" / "slurm.toml").read_text(encoding="utf-8")
    values = [line.removeprefix("#") for line in template.splitlines() if line.startswith("#") and not line.startswith("# ")]

    assert SlurmSite() == SlurmSite.parse(template) == SlurmSite.parse("\n".join(line for line in values if line))
    assert len(values) - values.count("") == len(SlurmSite.model_fields)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("partitions = 'night'", "There is no Slurm setting partitions: did you mean partition?"),
        ("xyzzy = 1", "There is no Slurm setting xyzzy: there are partition, account, cores, "),
        ("cores = 0", "cores must be greater than or equal to 1, not 0."),
        ("cores = true", "cores must be a whole number, not True."),
        ("cores = 2.5", "cores must be a whole number, not 2.5."),
        ("minimum_jobs = -1", "minimum_jobs must be greater than or equal to 0, not -1."),
        ("partition = 7", "partition must be text, not 7."),
        ('partition = "a\\n#SBATCH -A x"', "partition must be one line of text, not "),
        ("prologue = 'module load python'", "prologue must be a list of lines of text, not 'module load python'."),
        ("prologue = ['a', 1]", "prologue.1 must be text, not 1."),
        ("minimum_jobs = 5\nmaximum_jobs = 4", "minimum_jobs, 5, is more than maximum_jobs, 4: make it less."),
        ("cores =", "This is not TOML: "),
    ],
)
def test_a_setting_that_is_not_fit_is_reported(tmp_path, text, reported):
    """One sentence with the file, the setting and what it should be."""
    (tmp_path / "slurm.toml").write_text(text)

    with pytest.raises(UsageError) as error:
        site_of(tmp_path)
    assert str(error.value).startswith(f"{tmp_path}/slurm.toml: {reported}")
    assert "\n" not in str(error.value)


def test_a_minimum_of_none_is_fit():
    """A site need not keep jobs that have nothing to do."""
    assert 0 == SlurmSite.parse("minimum_jobs = 0").minimum_jobs


@pytest.mark.parametrize(("other", "named"), [({"scheduler": "tcp://head:1"}, "--scheduler"), ({"workers": 2}, "--workers")])
def test_workers_are_asked_for_in_one_way(other, named):
    """Two ways at once are misuse; each alone is none."""
    with pytest.raises(UsageError, match=rf"^With --slurm the workers are jobs .*: leave {named} out\.$"):
        check_choice(**({"slurm": True, "scheduler": None, "workers": None} | other))
    check_choice(**({"slurm": False, "scheduler": None, "workers": None} | other))


@pytest.fixture
def sbatch(tmp_path, monkeypatch):
    """Puts commands in the place of Slurm's, which write down how they were called."""

    def put(*lines: str) -> None:
        for name in ("sbatch", "scancel"):
            command = tmp_path / name
            command.write_text("\n".join(("#!/bin/sh", f'echo {name} "$@" >> {tmp_path}/called', *lines)))
            command.chmod(0o755)

    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    pytest.importorskip("dask_jobqueue")
    return put


def called(tmp_path) -> list[str]:
    return (tmp_path / "called").read_text().splitlines()


def test_a_host_without_slurm_is_reported(monkeypatch, tmp_path):
    """Before anything is begun."""
    pytest.importorskip("dask_jobqueue")
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(UsageError, match=r"^There is no sbatch here: sweep on a host that can submit jobs"):
        slurm.check(SITE)


def test_a_missing_package_is_reported(monkeypatch):
    """It is an extra, so it may well be missing."""
    monkeypatch.setattr(slurm, "find_spec", lambda _name: None)

    with pytest.raises(UsageError, match=r"^The package dask-jobqueue is missing: pip install 'iomine\[slurm\]'\.$"):
        slurm.check(SITE)


def test_an_interface_that_is_not_there_is_reported(sbatch):
    """With those that are there."""
    sbatch("exit 0")

    with pytest.raises(UsageError, match=r"^This host has no network interface ib7: it has .*\blo\b"):
        slurm.check(SITE.changed(interface="ib7"))
    slurm.check(SITE.changed(interface="ib7", scheduler_interface="lo"))


def test_a_job_that_slurm_would_take_is_tried_only(sbatch, tmp_path):
    """Nothing is handed in."""
    sbatch("exit 0")
    slurm.check(SITE)

    assert ["sbatch --test-only"] == called(tmp_path)


def test_a_job_that_slurm_refuses_is_reported_in_its_words(sbatch):
    """One sentence, however many lines sbatch takes."""
    sbatch('echo "sbatch: error: invalid account" >&2', 'echo "no such" >&2', "exit 1")

    with pytest.raises(UsageError, match=r"^Slurm does not take the jobs .*: sbatch: error: invalid account no such$"):
        slurm.check(SITE)


def test_a_job_that_would_have_to_wait_is_no_refusal(sbatch, tmp_path):
    """While all nodes are down a trial fails although Slurm takes the job, so one is held, and cancelled."""
    sbatch('[ "$1" = --test-only ] && exit 1', 'echo "77;cluster"')
    slurm.check(SITE)

    assert ["sbatch --test-only", "sbatch --hold --parsable", "scancel 77"] == called(tmp_path)


def test_a_silent_slurm_is_not_waited_for(sbatch, monkeypatch):
    """Its controller may be down."""
    sbatch("exec sleep 20")
    monkeypatch.setattr(slurm, "_ANSWER_SECONDS", 0.2)

    with pytest.raises(UsageError, match=r"sbatch does not answer within 0\.2 s\.$"):
        slurm.check(SITE)


def test_no_file_of_a_key_is_for_others_to_read(tmp_path):
    """Keys lie in a folder of their owner's alone, and are gone afterwards."""
    with slurm._certificates(tmp_path) as security:
        (folder,) = tmp_path.iterdir()
        assert 0o700 == folder.stat().st_mode & 0o777
        files = security.get_tls_config_for_role("worker")
        # Refuses a key that is not the certificate's.
        ssl.create_default_context(cafile=files["ca_file"]).load_cert_chain(files["cert"], files["key"])
        assert {folder} == {Path(file).parent for file in files.values() if file}
        assert {0o600} == {file.stat().st_mode & 0o777 for file in folder.iterdir()}

    assert [] == list(tmp_path.iterdir())
