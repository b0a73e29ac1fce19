"""The report: what came out, claim by claim, as a Markdown page a language, with a picture for each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sublayer.lab.chart import draw
from sublayer.lab.claim import Claim, Measured, Prediction
from sublayer.lab.judge import Estimate, Finding, Verdict, judge
from sublayer.models.files import write_text
from sublayer.tasks.recipe_file import read_yaml

LANGUAGES = {"en": "", "zh": ".zh"}  # and how the names of its pictures end


class Entry(NamedTuple):
    """A claim with what its seeds gave; `seconds` of processor time a seed.

    full  the same of the full form, where that has been measured too
    """

    claim: Claim
    results: Sequence[Measured]
    seconds: float
    full: Entry | None = None

    @property
    def verdict(self) -> Verdict:
        return judge(self.claim, self.results)


def write(entries: Sequence[Entry], folder: Path) -> None:
    """FOLDER/en/lab.md, FOLDER/zh/lab.md and, for each, a picture a claim in FOLDER/lab."""
    for part in (*LANGUAGES, "lab"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    for language, ending in LANGUAGES.items():
        page = Page(language)
        for entry in entries:
            picture = draw(entry.claim.chart, entry.results, page.label)
            write_text(folder / "lab" / f"{entry.claim.id}{ending}.svg", picture)
        write_text(folder / language / "lab.md", page.text(entries))


class Page:
    """The report in one language."""

    def __init__(self, language: str) -> None:
        self.language = language
        said = read_yaml(Path(__file__).with_name("report.yaml"))
        self.labels = read_yaml(Path(__file__).with_name("labels.yaml")) if language == "zh" else {}
        self.introduction, self.judging = (said[part][language].rstrip() for part in ("introduction", "judging"))
        self.words, self.verdicts, self.outcomes = (
            {name: text[language] for name, text in said[part].items()} for part in ("words", "verdicts", "outcomes")
        )
        self.notes = [note[language] for note in said["notes"]]

    def text(self, entries: Sequence[Entry]) -> str:
        words = self.words
        lines = [self.introduction, "", f"## {words['results']}", "", self._counts(entries), ""]
        if longer := [entry.full for entry in entries if entry.full]:
            lines += [f"{self._counts(longer)} ({words['longer']})", ""]
        header = ("", *(words[name] for name in ("claim", "verdict", "longer", "effect")))
        lines += [f"| {' | '.join(header)} |", "|---" * len(header) + "|"]
        lines += [self._line(number, entry) for number, entry in enumerate(entries, 1)]
        for number, entry in enumerate(entries, 1):
            lines += ["", *self._section(number, entry)]
        lines += ["", f"## {words['judging']}", "", self.judging, "", f"## {words['notes']}", ""]
        return "\n".join([*lines, *(f"- {note}" for note in self.notes), ""])

    def label(self, name: str) -> str:
        """What stands in a picture, in this language. Numbers stand in `labels.yaml` as {}; what it lacks stays."""
        digits = re.findall(r"\d+", name)
        return self.labels.get(name) or self.labels.get(re.sub(r"\d+", "{}", name), name).format(*digits)

    def _say(self, text: Any) -> str:
        said: str = getattr(text, self.language)
        return said

    def _counts(self, entries: Sequence[Entry]) -> str:
        came = [entry.verdict.word for entry in entries]
        return " · ".join(f"{told} {came.count(word)}" for word, told in self.verdicts.items() if word in came)

    def _line(self, number: int, entry: Entry) -> str:
        told = self.words["line"].format(**self._told(entry))
        return f"| {number} | [{self._say(entry.claim.statement)}](#{entry.claim.id}) | {told} |"

    def _told(self, entry: Entry) -> dict[str, Any]:
        """What may be said of an entry in a sentence."""
        claim, seeds, (word, findings) = entry.claim, len(entry.results), entry.verdict
        about = {"id": claim.id, "seeds": seeds, "first": claim.first, "last": claim.first + seeds - 1}
        about |= {"seconds": f"{entry.seconds:.1f}", "place": self._say(claim.place), "verdict": self.verdicts[word]}
        about["longer"] = self.verdicts[entry.full.verdict.word] if entry.full else "—"
        return about | {"says": self._say(findings[0].prediction.says), "effect": spelled(findings[0].estimate)}

    def _section(self, number: int, entry: Entry) -> list[str]:
        claim, words = entry.claim, self.words
        statement, told = self._say(claim.statement), self._told(entry)
        full = ["", words["full"].format(**self._told(entry.full))] if entry.full else []
        fresh = [words["fresh"]] if claim.first else []
        return [
            f"({claim.id})=",
            f"## {number}. {statement}",
            "",
            words["judged"].format(**told),
            *full,
            "",
            f"![{statement}](../lab/{claim.id}{LANGUAGES[self.language]}.svg)",
            "",
            f"| {words['measured']} | {words['predicted']} | {words['found']} | |",
            "|---|---|---|---|",
            *map(self._row, entry.verdict.findings),
            "",
            f"**{words['method']}** {self._say(claim.method)}",
            "",
            f"**{words['refuted_by']}** {self._say(claim.refuted_by)}",
            "",
            " ".join([words["about"].format(**told), *fresh]),
        ]

    def _row(self, finding: Finding) -> str:
        prediction = finding.prediction
        limit = f" *({self.words['limit']})*" if prediction.limit else ""
        says = f"{self._say(prediction.says)}{limit}"
        return f"| {says} | {asked(prediction)} | {spelled(finding.estimate)} | {self.outcomes[finding.outcome]} |"


def asked(prediction: Prediction) -> str:
    """The range as it is read: ≥ least, ≤ most, or both."""
    least, most = prediction.least, prediction.most
    if least == most:
        return f"= {number(least)}"
    bounds = [f"≥ {number(least)}"] * (least > float("-inf")) + [f"≤ {number(most)}"] * (most < float("inf"))
    return ", ".join(bounds)


def spelled(found: Estimate) -> str:
    """The mean, and its interval where it has a width."""
    if found.low == found.high:
        return number(found.mean)
    return f"{number(found.mean)} [{number(found.low)}, {number(found.high)}]"


def number(value: float) -> str:
    """Three digits that count."""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        text = f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    else:
        text = f"{value:.1e}"
    return text.replace("-", "−").replace("inf", "∞")
