"""A file answered in 16 parts by the workers of a Ray cluster, which see the same folders as Slurm's do:

    python deploy/ray_predict.py runs/mine lines.txt answers 16

Stopped, or a worker of it, the same command goes on: parts that are whole stay, others go on where they were. It prints
the files of the parts in their order, so it may end in:  | xargs cat > answers.txt
"""

import subprocess
import sys
from pathlib import Path

import ray


def main(run: Path, lines: Path, answers: Path, parts: int) -> None:
    def answer(row: dict[str, int]) -> dict[str, str]:
        part = row["id"] + 1
        out = answers.with_name(f"{answers.name}.{part:0{len(str(parts))}d}-of-{parts}")
        if not out.exists():
            asked = ["predict", run, lines, "--shard", f"{part}/{parts}", "--out", out]
            subprocess.run([sys.executable, "-m", "sublayer", *asked], check=True)
        return {"file": str(out)}

    done = ray.data.range(parts, override_num_blocks=parts).map(answer, num_cpus=4)  # or num_gpus=1
    print(*sorted(row["file"] for row in done.take_all()), sep="\n")


if __name__ == "__main__":
    main(*(Path(word).resolve() for word in sys.argv[1:4]), parts=int(sys.argv[4]))
