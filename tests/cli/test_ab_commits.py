"""Real experiments on commits of a small repository, from the command line to the verdict."""

from __future__ import annotations

import json
import shutil
import venv
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from ab_process import NO_REPEATS, QUICK, Ab, Finished, head_of, records_of, settled
from walker_repository import FAST_MS, SLOW_MS, Repository, environment

from envdyno.agent.job import Timing
from envdyno.experiment.judging import judge_experiment, plan_of
from envdyno.judge.verdicts import Verdict
from envdyno.record.bundle import Bundle
from envdyno.record.status import Status

CALM_CANARY = "[gate]\nmin_ratio = 0.90\ncanary_limit = 10.0\n"
"""Other tests may load the machine while these run, and a moved canary voids a pair. Here it may move."""


@pytest.fixture
def copied(walker: Repository, tmp_path: Path) -> Repository:
    """A repository that a test may write into."""
    shutil.copytree(walker.path, tmp_path / "repository")
    return Repository(tmp_path / "repository", dict(walker.commits))


class Slower:
    """An experiment against a slower commit, run once for several tests."""

    def __init__(self, finished: Finished, bundle: Bundle) -> None:
        self.finished = finished
        self.bundle = bundle


@pytest.fixture(scope="module")
def slower(
    walker: Repository, envdyno_cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Slower]:
    folder = tmp_path_factory.mktemp("slower")
    ab = Ab(envdyno_cache, folder)
    plan = folder / "plan.toml"
    plan.write_text(
        f'[experiment]\ncases = ["walker:make"]\nattribution_pairs = 2\n{CALM_CANARY}'
        f'[sides.base]\nref = "base"\nrepo = "{walker.path}"\n'
        f'[sides.head]\nref = "slower"\nrepo = "{walker.path}"\n'
    )
    short = ("-n", "4", "--numa", "off", "--warmup", "3", "--duration", "0.4s", "--pairs", "3")
    finished = ab.run(str(plan), *short, "--disturbed-repeats", "0", "--json", "--out", str(folder / "out"))
    return Slower(finished, ab.bundle())


def test_a_slower_commit_fails_the_gate_with_exit_code_1(slower: Slower) -> None:
    assert slower.finished.code == 1, slower.finished.err
    assert "walker:make: FAIL (UPPER_BOUND_BELOW_GATE)" in slower.finished.err


def test_both_sides_ran_the_same_number_of_runs_in_counterbalanced_order(slower: Slower) -> None:
    head = head_of(slower.bundle)
    records = records_of(slower.bundle)
    assert settled(records) == list(head.planned)
    entries = [record.experiment for record in records if record.experiment is not None]
    order = [entry.side for entry in entries[:6]]
    assert order == ["base", "head", "head", "base", "base", "head"]
    assert head.orders == {"walker:make": "AB BA AB"}


def test_each_side_ran_the_code_of_its_own_commit(slower: Slower, walker: Repository) -> None:
    head = head_of(slower.bundle)
    commits = [side.identity["code"]["commit"] for side in head.sides]
    assert commits == [walker.commits["base"], walker.commits["slower"]]
    hashes = {}
    for record in records_of(slower.bundle):
        assert record.software is not None
        assert record.experiment is not None
        (origin,) = record.software.origins
        assert origin["module"] == "walker"
        assert str(walker.path) not in origin["file"], "a worktree in the cache, not the user's own"
        hashes.setdefault(record.experiment.side, set()).add(origin["sha256"])
    assert len(hashes["base"]) == len(hashes["head"]) == 1
    assert hashes["base"] != hashes["head"]


def test_the_change_is_attributed_to_the_phase_that_got_slower(slower: Slower) -> None:
    head = head_of(slower.bundle)
    gate = plan_of(head).gate
    (judgement,) = judge_experiment(head, records_of(slower.bundle), gate, today=date(2026, 7, 1))
    wall = judgement.attributions[0]
    changes = {change.node.path: change.delta_ms for change in wall.phases}
    assert changes["physics"] is not None
    assert changes["physics"] > 0.5 * (SLOW_MS - FAST_MS)
    assert abs(changes["update_state"] or 0.0) < 0.5 * changes["physics"]
    assert wall.ranked[0].node.path == "physics"
    assert "physics" in slower.finished.err
    assert "update_state" in slower.finished.err


def test_the_records_on_stdout_are_those_of_the_bundle(slower: Slower) -> None:
    lines = [json.loads(line) for line in slower.finished.out.splitlines()]
    assert [line["run_id"] for line in lines] == [record.run_id for record in records_of(slower.bundle)]


def test_every_run_has_its_logs_and_samples_where_its_record_says(slower: Slower) -> None:
    for record in records_of(slower.bundle):
        assert record.experiment is not None
        assert record.experiment.folder is not None
        folder = slower.bundle.path_of(record.experiment.folder)
        assert (folder / "worker-0.log").is_file()
        for worker in record.workers:
            assert worker.raw_samples is not None
            assert slower.bundle.path_of(worker.raw_samples).is_file()


def test_the_bundle_is_judged_again_to_the_same_verdict_without_measuring(
    slower: Slower, ab: Ab, tmp_path: Path
) -> None:
    again = ab.run(str(slower.bundle.folder), verb="gate", cwd=tmp_path)
    assert again.code == 1
    table = [line for line in slower.finished.err.splitlines() if line.startswith("walker:make")]
    assert [line for line in again.out.splitlines() if line.startswith("walker:make")] == table
    softer = ab.run(str(slower.bundle.folder), "--min-ratio", "0.01", verb="gate", cwd=tmp_path)
    assert softer.code == 0, softer.out


def test_the_report_is_ascii_where_the_output_can_write_nothing_else(slower: Slower, ab: Ab) -> None:
    plain = ab.run(str(slower.bundle.folder), verb="gate", environ={"PYTHONIOENCODING": "ascii"})
    assert plain.code == 1
    assert plain.out.isascii()
    assert "->" in plain.out


def test_the_report_fits_a_screen_of_80_columns(slower: Slower, ab: Ab) -> None:
    narrow = ab.run(str(slower.bundle.folder), verb="gate", environ={"COLUMNS": "80"})
    assert max(map(len, narrow.out.splitlines())) <= 80 + len(str(slower.bundle.folder))


def test_other_work_is_incomparable_and_not_measured_at_all(walker: Repository, ab: Ab) -> None:
    refs = ("--base", "base", "--head", "other-work", "walker:make", "-n", "4")
    done = ab.run(*refs, *QUICK, *NO_REPEATS, "--gate", "0.9", "--out", ab.out, cwd=walker.path)
    assert done.code == 4
    assert "substeps is 4 on base and 2 on head" in done.said
    records = records_of(ab.bundle())
    assert {record.status for record in records} == {Status.SKIPPED}
    assert settled(records) == list(head_of(ab.bundle()).planned)


@pytest.mark.parametrize("head", ["base", "documented"])
def test_sides_with_the_same_code_stop_before_anything_is_measured(
    head: str, walker: Repository, ab: Ab
) -> None:
    refs = ("--base", "base", "--head", head, "walker:make", "-n", "4")
    done = ab.run(*refs, *QUICK, "--out", ab.out, cwd=walker.path)
    assert done.code == 4
    assert "--aa" in done.said
    assert not (ab.folder / "out").exists(), "nothing was begun, so nothing is left"


def test_an_unknown_ref_is_a_sentence_and_leaves_no_folder(walker: Repository, ab: Ab) -> None:
    done = ab.run("--base", "base", "--head", "nowhere", "walker:make", "--out", ab.out, cwd=walker.path)
    assert done.code == 2
    assert "nowhere" in done.said
    assert "Traceback" not in done.said
    assert not (ab.folder / "out").exists()


@pytest.fixture
def editable(ab: Ab, walker: Repository) -> Path:
    """An interpreter with an editable install of the user's own checkout."""
    venv.EnvBuilder(with_pip=False, symlinks=True).create(ab.folder / "env")
    site = next((ab.folder / "env" / "lib").glob("python3*")) / "site-packages"
    (site / "walker.pth").write_text(f"{walker.path / 'src'}\n")
    return ab.folder / "env" / "bin" / "python"


def test_neither_an_editable_install_nor_the_working_directory_stands_in_for_the_code_of_a_commit(
    editable: Path, walker: Repository, ab: Ab
) -> None:
    """Two commits that do the same work, on an interpreter and in a folder that both offer other code."""
    decoy = ab.folder / "walker"
    decoy.mkdir()
    (decoy / "__init__.py").write_text("raise RuntimeError('the one in the working directory')\n")
    sides = [
        word
        for name, ref in (("base", "base"), ("head", "equal"))
        for part in (ref, f"repo:{walker.path}", f"python:{editable}")
        for word in ("--side", f"{name}={part}")
    ]
    done = ab.run(*sides, "walker:make", "-n", "4", *QUICK, *NO_REPEATS, "--out", ab.out)
    assert done.code == 0, done.err
    head = head_of(ab.bundle())
    files = [side.origins[0]["file"] for side in head.sides]
    assert len(set(files)) == 2
    assert not any(file.startswith((str(walker.path), str(decoy))) for file in files)
    assert head.differences == {"head": ("code",)}
    assert {record.status for record in records_of(ab.bundle())} == {Status.OK}
    (judgement,) = judge_experiment(head, records_of(ab.bundle()), None, today=date(2026, 7, 1))
    assert judgement.report.verdict not in (Verdict.INCOMPARABLE, Verdict.NOT_MEASURED)


def test_a_side_that_would_load_an_editable_install_stops_before_anything_is_measured(
    editable: Path, copied: Repository, ab: Ab
) -> None:
    """The commit has no walker any more, so the environment's own would be imported unnoticed."""
    copied.git("rm", "-r", "--quiet", "src/walker")
    copied.commit("moved", {"src/stroller/__init__.py": environment()})
    sides = ["--side", "base=base", "--side", f"base=python:{editable}"]
    sides += ["--side", "head=moved", "--side", f"head=python:{editable}"]
    done = ab.run(*sides, "walker:make", "-n", "4", *QUICK, "--out", ab.out, cwd=copied.path)
    assert done.code == 4
    assert "did not run its own code" in done.said
    assert not (ab.folder / "out").exists()


def test_a_working_tree_that_is_edited_meanwhile_ends_the_experiment_and_resumes_when_it_is_put_back(
    copied: Repository, ab: Ab
) -> None:
    """Uncommitted changes are measured and said; the gate judges them only if that is allowed."""
    source = copied.path / "src" / "walker" / "__init__.py"
    before = environment(extra="# not committed\n")
    source.write_text(before)
    flags = ("--base", "base", "walker:make", "-n", "4", *QUICK, *NO_REPEATS, "--out", "bundle")
    process = ab.start(*flags, "--json", cwd=copied.path)
    assert process.stdout is not None
    process.stdout.readline()
    source.write_text(environment(extra="# edited in the middle\n"))
    _, err = process.communicate(timeout=170)
    assert process.returncode == 4, err
    assert "when the experiment began" in err or "since the experiment began" in err
    bundle = Bundle(copied.path / "bundle")
    kept = records_of(bundle)
    assert len(settled(kept)) < len(kept), "the run that met the edit is not settled"

    source.write_text(before)
    done = ab.run("--resume", str(bundle.folder), cwd=ab.folder)
    assert done.code == 0, done.err
    assert "differs from" in done.said
    head = head_of(bundle)
    assert settled(records_of(bundle)) == list(head.planned)
    assert [side.label.endswith("-dirty") for side in head.sides] == [False, True]
    code = head.sides[1].identity["code"]
    assert code["changed_files"] == ["src/walker/__init__.py"], "and not the files of the bundle itself"
    refused = ab.run(str(bundle.folder), verb="gate")
    assert (refused.code, "DIRTY_TREE" in refused.out) == (4, True)
    allowed = ab.run(str(bundle.folder), "--allow-dirty", verb="gate")
    assert allowed.code in (0, 1, 3)


def test_an_experiment_cannot_be_resumed_with_another_commit(copied: Repository, ab: Ab) -> None:
    refs = ("--base", "base", "--head", "other-work", "walker:make", "-n", "4")
    ab.run(*refs, *QUICK, *NO_REPEATS, "--out", ab.out, cwd=copied.path)
    copied.git("branch", "--force", "other-work", copied.commits["slower"])
    again = ab.run("--resume", ab.out, cwd=copied.path)
    assert again.code == 2
    assert "side head, code.commit" in again.said
    assert copied.commits["other-work"] in again.said
    assert copied.commits["slower"] in again.said


def test_the_users_tree_and_index_are_left_as_they_were(copied: Repository, ab: Ab) -> None:
    """Also to git's eyes, though the bundle is in the middle of the checkout."""
    before = copied.git("status", "--porcelain=v2", "--branch")
    refs = ("--base", "base", "--head", "other-work", "walker:make", "-n", "4")
    done = ab.run(*refs, *QUICK, cwd=copied.path)
    assert done.code == 4, done.err
    assert copied.git("status", "--porcelain=v2", "--branch") == before
    (bundle,) = copied.path.glob("envdyno-*")
    assert {path.name for path in copied.path.iterdir()} == {".git", "README.md", "src", bundle.name}


def test_phases_come_from_attribution_runs_only(slower: Slower) -> None:
    for record in records_of(slower.bundle):
        assert (record.phases is not None) == (record.case.timing == Timing.ATTRIBUTION.value)
