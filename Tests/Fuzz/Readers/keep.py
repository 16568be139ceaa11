# SPDX-License-Identifier: Apache-2.0
"""Keeps the smallest inputs that reach all branches the fuzzer has reached, as the corpus that the tests replay.

   keep.py WORK KEPT

WORK is the fuzzer's folder, with the program, the corpus and the seeds. libFuzzer merges them; of the result each reader
keeps its shortest inputs, up to a share of the room. Inputs that broke a promise once have names that end in -found, and stay.
"""
import hashlib
import pathlib
import shutil
import subprocess
import sys

work, kept = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
ROOM = 200_000
merged = work / "merged"
shutil.rmtree(merged, ignore_errors=True)
merged.mkdir()
kept.mkdir(parents=True, exist_ok=True)
subprocess.run([work / "fuzz", "-merge=1", "-max_len=4096", "-timeout=5", merged, kept, work / "corpus", work / "seeds"],
               check=True, stderr=subprocess.DEVNULL)
inputs = {}
for file in merged.iterdir():
    content = file.read_bytes()
    if content:
        inputs.setdefault(content[0], []).append(content)
for file in kept.iterdir():
    if not file.name.endswith("-found"):
        file.unlink()
count = size = 0
for number, contents in sorted(inputs.items()):
    room = ROOM // len(inputs)
    for content in sorted(contents, key=lambda content: (len(content), content)):
        room -= len(content)
        if room < 0:
            break
        (kept / f"{number:x}-{hashlib.sha256(content).hexdigest()[:12]}").write_bytes(content)
        count += 1
        size += len(content)
print(f"keep: {count} inputs of {len(inputs)} readers, {size} bytes")
