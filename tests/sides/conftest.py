"""Git repositories, wheels and environments made on the spot, all without a network."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from envdyno.sides.cache_home import CacheHome
from envdyno.sides.prepare import prepared_sides
from envdyno.sides.prepared import PreparedSide
from envdyno.sides.request import GitRef, SideRequest

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = (
    "user.name=Somebody",
    "user.email=somebody@example.org",
    "commit.gpgsign=false",
    "protocol.file.allow=always",
    "init.defaultBranch=main",
)


class Repo:
    """A git repository that a test writes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def git(self, *arguments: str) -> str:
        settings = [word for setting in SETTINGS for word in ("-c", setting)]
        command = ["git", "-C", str(self.path), *settings, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"git {arguments}: {done.stderr}"
        return done.stdout.rstrip("\n")

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, files: Mapping[str, str | bytes], message: str = "change") -> str:
        self.write(files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")


class Workshop:
    """Makes what tests need below one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.wheels = folder / "wheels"

    def repo(self, name: str, *options: str) -> Repo:
        path = self.folder / name
        path.mkdir(parents=True)
        repo = Repo(path)
        repo.git("init", "--quiet", *options)
        return repo

    @staticmethod
    def at(path: Path) -> Repo:
        return Repo(path)

    def clone(self, source: Path, name: str, *options: str) -> Repo:
        here = Repo(self.folder)
        here.git("clone", "--quiet", *options, f"file://{source}", name)
        return Repo(self.folder / name)

    def wheel(
        self, name: str, version: str, *, requires: tuple[str, ...] = (), source: str | None = None
    ) -> Path:
        """Write a wheel with one package of the name of the distribution."""
        self.wheels.mkdir(exist_ok=True)
        module = name.replace("-", "_")
        info = f"{module}-{version}.dist-info"
        files = {
            f"{module}/__init__.py": source or f"VERSION = {version!r}\n",
            f"{info}/METADATA": _metadata(name, version, requires),
            f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
        wheel = self.wheels / f"{module}-{version}-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for path, content in files.items():
                archive.writestr(path, content)
        return wheel

    def environment(self, name: str) -> Path:
        """Make a virtual environment without pip and return its interpreter."""
        venv.EnvBuilder(with_pip=False, symlinks=True).create(self.folder / name)
        return self.folder / name / "bin" / "python"

    def install(
        self, python: Path, name: str, version: str, *, requires: tuple[str, ...] = (), source: str = ""
    ) -> Path:
        """Put a distribution into an environment, as an installer would, and return site-packages."""
        site = next((python.parent.parent / "lib").glob("python3*")) / "site-packages"
        package = site / name.replace("-", "_")
        package.mkdir(exist_ok=True)
        (package / "__init__.py").write_text(source or f"VERSION = {version!r}\n")
        info = site / f"{package.name}-{version}.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(_metadata(name, version, requires))
        return site

    @staticmethod
    def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
        """Return time and content of every file, the index of git included."""
        return {
            str(path.relative_to(folder)): (path.lstat().st_mtime_ns, path.read_bytes())
            for path in sorted(folder.rglob("*"))
            if path.is_file() and not path.is_symlink()
        }

    @staticmethod
    def run(side: PreparedSide, code: str) -> str:
        """Run Python code as a launcher would start the side."""
        script = f"import sys; sys.path[:0] = {[str(path) for path in side.sys_path]!r}\n{code}"
        done = subprocess.run(
            [side.python, "-c", script],
            env=side.child_environ(os.environ),
            cwd=side.cwd,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    @staticmethod
    def side(name: str, repo: Repo, ref: str = "HEAD", **more: object) -> SideRequest:
        """Ask for a commit of a repository."""
        return SideRequest(name, repo.path, GitRef(ref, repo.path), **more)  # type: ignore[arg-type]


class Notices(list[str]):
    """What a user was told."""

    def __call__(self, notice: str) -> None:
        self.append(str(notice))

    def text(self) -> str:
        return "\n".join(self)


def _metadata(name: str, version: str, requires: tuple[str, ...]) -> str:
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    return "\n".join([*lines, *(f"Requires-Dist: {one}" for one in requires)]) + "\n"


@pytest.fixture(autouse=True)
def plain_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the developer's own settings out of the tests."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    prefixes = ("GIT_", "PYTHON", "XDG_", "UV_", "PIP_", "ENVDYNO_")
    for name in list(os.environ):
        if name.startswith(prefixes) or name in ("UV", "VIRTUAL_ENV"):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def workshops() -> type[Workshop]:
    """For fixtures that outlive a test."""
    return Workshop


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


@pytest.fixture
def repo(workshop: Workshop) -> Repo:
    """A repository without a commit."""
    return workshop.repo("project")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache folder that is not there yet."""
    return tmp_path / "cache"


@pytest.fixture
def notices() -> Notices:
    return Notices()


@pytest.fixture
def prepare(cache: Path, notices: Notices) -> object:
    """Prepare sides with a cache of the test's own."""

    @contextmanager
    def prepare_all(
        *requests: SideRequest, caller: Mapping[str, str] | None = None
    ) -> Iterator[tuple[PreparedSide, ...]]:
        with prepared_sides(requests, home=CacheHome(cache), caller=caller, notify=notices) as sides:
            yield sides

    return prepare_all


@pytest.fixture
def uv(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The program uv, without a network and with a cache of its own."""
    beside = [Path(sys.executable).with_name("uv"), ROOT / ".venv-uv" / "bin" / "uv"]
    on_path = [Path(folder) / "uv" for folder in os.environ["PATH"].split(os.pathsep)]
    program = next((path for path in (*beside, *on_path) if os.access(path, os.X_OK)), None)
    if program is None:
        pytest.skip("uv is not installed")
    monkeypatch.setenv("UV", str(program))
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    return program
