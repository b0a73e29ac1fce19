"""Which pairs are worth learning from."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from sublayer.data.reading import Judge


@dataclass(frozen=True)
class Worth:
    """What makes a judge of pairs. A rule that is 0, False or None lets all of them pass.

    longest   characters of either side
    ratio     of the longer side to the shorter, in characters
    repeated  whether a pair is left out that came before, to the letter
    scripts   of source and target, by the first word of its letters' Unicode names, such as LATIN or CJK: at least half
              of the letters are of it
    """

    longest: int = 0
    ratio: float = 0.0
    repeated: bool = False
    scripts: tuple[str, str] | None = None

    def __call__(self) -> Judge:
        seen: set[int] = set()

        def judge(source: str, target: str) -> str | None:
            short, long = sorted((len(source), len(target)))
            if 0 < self.longest < long:
                return f"{long:,} characters, and {self.longest:,} are the most"
            if self.ratio and long > self.ratio * short:
                return f"{long:,} characters beside {short:,}, more than {self.ratio:g} times as many"
            for side, text, script in zip(("source", "target"), (source, target), self.scripts or (), strict=False):
                if not _written_in(script, text):
                    return f"the {side} is not written in {script}"
            if self.repeated:
                key = hash((source, target))
                if key in seen:
                    return "the same pair came before"
                seen.add(key)
            return None

        return judge


def _written_in(script: str, text: str) -> bool:
    names = [unicodedata.name(letter, "") for letter in text if letter.isalpha()]
    return 2 * sum(name.startswith(f"{script} ") for name in names) >= len(names)
