"""The report: what came out, claim by claim, as a Markdown page a language, with a picture for each."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sublayer.lab.chart import draw
from sublayer.lab.claim import Claim, Measured, Prediction
from sublayer.lab.judge import Estimate, Finding, Verdict, judge
from sublayer.models.files import write_text
from sublayer.tasks.recipe_file import read_yaml

LANGUAGES = ("en", "zh")


class Entry(NamedTuple):
    """A claim with what its seeds gave; `seconds` of processor time a seed."""

    claim: Claim
    results: Sequence[Measured]
    seconds: float

    @property
    def verdict(self) -> Verdict:
        return judge(self.claim, self.results)


def write(entries: Sequence[Entry], folder: Path) -> None:
    """FOLDER/en/lab.md, FOLDER/zh/lab.md and a picture a claim in FOLDER/lab."""
    for part in (*LANGUAGES, "lab"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    for entry in entries:
        write_text(folder / "lab" / f"{entry.claim.id}.svg", draw(entry.claim.chart, entry.results))
    for language in LANGUAGES:
        write_text(folder / language / "lab.md", Page(language).text(entries))


class Page:
    """The report in one language."""

    def __init__(self, language: str) -> None:
        self.language = language
        said = read_yaml(Path(__file__).with_name("report.yaml"))
        self.introduction = said["introduction"][language].rstrip()
        self.words, self.verdicts, self.outcomes = (
            {name: text[language] for name, text in said[part].items()} for part in ("words", "verdicts", "outcomes")
        )
        self.notes = [note[language] for note in said["notes"]]

    def text(self, entries: Sequence[Entry]) -> str:
        words = self.words
        lines = [self.introduction, "", f"## {words['results']}", "", self._counts(entries), ""]
        lines += [f"| | {words['claim']} | {words['verdict']} | {words['effect']} |", "|---|---|---|---|"]
        lines += [self._line(number, entry) for number, entry in enumerate(entries, 1)]
        for number, entry in enumerate(entries, 1):
            lines += ["", *self._section(number, entry)]
        return "\n".join([*lines, "", f"## {words['notes']}", "", *(f"- {note}" for note in self.notes), ""])

    def _say(self, text: Any) -> str:
        said: str = getattr(text, self.language)
        return said

    def _counts(self, entries: Sequence[Entry]) -> str:
        came = [entry.verdict.word for entry in entries]
        return " · ".join(f"{told} {came.count(word)}" for word, told in self.verdicts.items() if word in came)

    def _line(self, number: int, entry: Entry) -> str:
        claim, verdict = entry.claim, entry.verdict
        effect = f"{self._say(verdict.effect.prediction.says)}: {spelled(verdict.effect.estimate)}"
        word = self.verdicts[verdict.word]
        return f"| {number} | [{self._say(claim.statement)}](#{claim.id}) | **{word}** | {effect} |"

    def _section(self, number: int, entry: Entry) -> list[str]:
        claim, verdict, words = entry.claim, entry.verdict, self.words
        statement = self._say(claim.statement)
        about = {"id": claim.id, "seeds": len(entry.results), "seconds": f"{entry.seconds:.1f}"}
        return [
            f"({claim.id})=",
            f"## {number}. {statement}",
            "",
            f"{words['judged']} **{self.verdicts[verdict.word]}** · {words['place']} {self._say(claim.place)}",
            "",
            f"![{statement}](../lab/{claim.id}.svg)",
            "",
            f"| {words['measured']} | {words['predicted']} | {words['found']} | |",
            "|---|---|---|---|",
            *map(self._row, verdict.findings),
            "",
            f"**{words['method']}** {self._say(claim.method)}",
            "",
            f"**{words['refuted_by']}** {self._say(claim.refuted_by)}",
            "",
            words["about"].format(**about),
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
