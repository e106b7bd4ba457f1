"""Builds wheels that carry the `bo` binary. Needs Go and Python 3.11.

    python python/build_wheels.py                       wheels for all platforms, in dist/
    python python/build_wheels.py --platform native     the wheel for this machine

The module is also the build backend of `pip install ./python`.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import io
import os
import platform
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent
REPOSITORY = ROOT.parent
LIMIT = 20 << 20  # bytes of a wheel


@dataclass(frozen=True)
class Platform:
    """A system that Go compiles for, and the tags of its wheel."""

    system: str
    machine: str
    tags: tuple[str, ...]

    @property
    def binary(self) -> str:
        """The name of the executable."""
        return "bo.exe" if self.system == "windows" else "bo"


def linux(machine: str, tag: str) -> Platform:
    """Returns a Linux platform. The binary is static, so it runs with glibc and with musl."""
    names = ("manylinux_2_17", "manylinux2014", "musllinux_1_1")
    return Platform("linux", machine, tuple(f"{name}_{tag}" for name in names))


# The macOS versions are the oldest ones that Go supports.
PLATFORMS = {
    "linux-amd64": linux("amd64", "x86_64"),
    "linux-arm64": linux("arm64", "aarch64"),
    "macos-amd64": Platform("darwin", "amd64", ("macosx_12_0_x86_64",)),
    "macos-arm64": Platform("darwin", "arm64", ("macosx_12_0_arm64",)),
    "windows-amd64": Platform("windows", "amd64", ("win_amd64",)),
}


def main() -> None:
    """Builds the wheels that the command line names."""
    parser = argparse.ArgumentParser(description="Builds wheels that carry the bo binary.")
    parser.add_argument("--out", default=str(REPOSITORY / "dist"), help="folder of the wheels")
    parser.add_argument(
        "--platform", action="append", choices=["native", *PLATFORMS], help="default: all"
    )
    arguments = parser.parse_args()
    for name in arguments.platform or list(PLATFORMS):
        target = native() if name == "native" else PLATFORMS[name]
        path = write_wheel(target, Path(arguments.out))
        print(f"{path}  {path.stat().st_size / 1e6:.1f} MB")


def native() -> Platform:
    """Returns the platform of this machine."""
    system = {"darwin": "darwin", "win32": "windows"}.get(sys.platform, "linux")
    names = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
    machine = names.get(platform.machine().lower(), "")
    for p in PLATFORMS.values():
        if (p.system, p.machine) == (system, machine):
            return p
    raise SystemExit(f"there is no wheel for {sys.platform} on {platform.machine()}")


# The hooks of PEP 517 and PEP 660.


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """Builds the wheel for this machine."""
    return write_wheel(native(), Path(wheel_directory)).name


def build_editable(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """Builds a wheel that refers to the sources. The binary is written beside them."""
    target = native()
    binary = ROOT / "src" / "functionspace_bo" / "bin" / target.binary
    binary.parent.mkdir(exist_ok=True)
    binary.write_bytes(compile_binary(target))
    binary.chmod(0o755)
    files = {"_functionspace_bo.pth": f"{ROOT / 'src'}\n".encode()}
    return _write(target, Path(wheel_directory), files).name


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """There are no source distributions: the binary needs the whole repository."""
    raise NotImplementedError("build a wheel: the sources are in the repository")


def write_wheel(target: Platform, folder: Path) -> Path:
    """Builds the wheel of a platform."""
    source = ROOT / "src"
    files = {
        str(path.relative_to(source).as_posix()): path.read_bytes()
        for path in sorted((source / "functionspace_bo").iterdir())
        if path.suffix == ".py" or path.name == "py.typed"
    }
    files[f"functionspace_bo/bin/{target.binary}"] = compile_binary(target)
    path = _write(target, folder, files)
    if path.stat().st_size > LIMIT:
        raise SystemExit(f"{path} is larger than {LIMIT >> 20} MiB")
    return path


def compile_binary(target: Platform) -> bytes:
    """Returns the static, stripped executable of a platform."""
    cache = REPOSITORY / "build" / f"{target.system}-{target.machine}"
    cache.mkdir(parents=True, exist_ok=True)
    out = cache / target.binary
    _go(target, "build", "-trimpath", "-ldflags=-s -w", "-o", str(out), "./cmd/bo")
    return out.read_bytes()


def _write(target: Platform, folder: Path, files: dict[str, bytes]) -> Path:
    """Writes a wheel with the same bytes for the same files."""
    project = read_project()
    name = str(project["name"]).replace("-", "_")
    info = f"{name}-{project['version']}.dist-info"
    tag = ".".join(target.tags)
    scripts = "".join(f"{key} = {value}\n" for key, value in project["scripts"].items())
    legal = licenses(target)
    contents = {
        **files,
        f"{info}/METADATA": metadata(project, list(legal)).encode(),
        f"{info}/WHEEL": _wheel(target).encode(),
        f"{info}/entry_points.txt": f"[console_scripts]\n{scripts}".encode(),
    }
    for path, content in legal.items():
        contents[f"{info}/licenses/{path}"] = content
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    for path, content in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
        rows.writerow([path, f"sha256={digest.decode()}", len(content)])
    rows.writerow([f"{info}/RECORD", "", ""])
    contents[f"{info}/RECORD"] = record.getvalue().encode()
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{name}-{project['version']}-py3-none-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, content in contents.items():
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            executable = path.startswith("functionspace_bo/bin/")
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            archive.writestr(entry, content)
    return wheel


def _wheel(target: Platform) -> str:
    tags = "".join(f"Tag: py3-none-{tag}\n" for tag in target.tags)
    head = "Wheel-Version: 1.0\nGenerator: functionspace-bo build_wheels\nRoot-Is-Purelib: false\n"
    return head + tags


def licenses(target: Platform) -> dict[str, bytes]:
    """Returns the licences of this project, and of the modules in the binary in one file."""
    files = {name: (REPOSITORY / name).read_bytes() for name in ("LICENSE", "NOTICE")}
    texts = [f"space/sobol.bin\n\n{(REPOSITORY / 'space' / 'sobol.LICENSE').read_text('utf-8')}"]
    form = "{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}"
    listed = _go(target, "list", "-deps", "-f", form, "./cmd/bo")
    for line in sorted(set(listed.splitlines()) - {""}):
        module, folder = line.split(" ", 1)
        for path in sorted(Path(folder).iterdir()):
            if path.name.startswith(("LICEN", "COPYING", "NOTICE", "PATENTS")):
                texts.append(f"{module} {path.name}\n\n{path.read_text(encoding='utf-8')}")
    rule = "\n" + "-" * 80 + "\n\n"
    files["THIRD_PARTY_LICENSES"] = rule.join(texts).encode()
    return files


def _go(target: Platform, *arguments: str) -> str:
    """Returns the output of a command of Go for a platform."""
    go = shutil.which("go")
    if go is None:
        raise SystemExit(
            "functionspace-bo is built with Go, and there is no command go: install Go from "
            "https://go.dev/dl, or install a wheel"
        )
    done = subprocess.run(
        [go, *arguments],
        cwd=REPOSITORY,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "CGO_ENABLED": "0", "GOOS": target.system, "GOARCH": target.machine},
    )
    return str(done.stdout)


def metadata(project: dict[str, Any], legal: list[str]) -> str:
    """Returns the core metadata of the project."""
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"Keywords: {','.join(project['keywords'])}",
        f"License-Expression: {project['license']}",
        *(f"License-File: {path}" for path in legal),
        *(f"Classifier: {c}" for c in project["classifiers"]),
        *(f"Project-URL: {key}, {url}" for key, url in project["urls"].items()),
        f"Requires-Python: {project['requires-python']}",
    ]
    for extra, requirements in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {r}; extra == "{extra}"' for r in requirements]
    lines.append("Description-Content-Type: text/markdown")
    return "\n".join(lines) + "\n\n" + (ROOT / str(project["readme"])).read_text(encoding="utf-8")


def read_project() -> dict[str, Any]:
    """Returns the table [project] of pyproject.toml."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project: dict[str, Any] = tomllib.loads(text)["project"]
    return project


if __name__ == "__main__":
    main()
