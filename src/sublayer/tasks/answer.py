"""Questions to the stretch of a text that answers them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from heapq import nlargest
from itertools import islice
from pathlib import Path
from typing import Any

from sublayer.data.questions import Question, Stretch
from sublayer.errors import DataError, listing
from sublayer.evaluate import Score, evaluate_answers
from sublayer.evaluate.answers import Found
from sublayer.models.config import ModelConfig
from sublayer.models.heads import EncoderWithHead
from sublayer.tasks.asked import Candidate, Passage, best, cost
from sublayer.tasks.base import Written
from sublayer.tasks.folder import write_task
from sublayer.tasks.texts import TextTask, Vocabulary
from sublayer.train.loss import no_loss


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, and where it stands in the text; empty and 0 to 0 for none.

    score  log p(answer) - log p(no answer), less the threshold: what is above 0 is answered, and no answer has 0
    """

    text: str
    start: int
    end: int
    score: float


NONE = Answered("", 0, 0, 0.0)


@dataclass(frozen=True)
class Rules:
    """longest    how many tokens an answer may have
    threshold  how much likelier than none it must be, in nats
    """

    longest: int = 30
    threshold: float = 0.0


class Answer(TextTask):
    """An encoder with a head for where an answer begins and where it ends; none begins and ends at the first token.
    Devlin et al. 2019, sections 4.2 and 4.3."""

    per_token = True
    metrics = ("exact", "f1", "span_f1", "loss")

    def __init__(
        self,
        model: EncoderWithHead,
        config: ModelConfig,
        tokenizer: Vocabulary,
        rules: Rules,
        transform: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(model, config, tokenizer, transform)
        self.rules = rules

    def describe(self, folder: Path) -> None:
        write_task(folder, "answer", self.config, {"rules": asdict(self.rules), "transform": self.transform})
        self.tokenizer.save(folder / "tokenizer.json")

    def passages(self, pairs: Sequence[tuple[str, str]], lines: Sequence[int]) -> list[list[Passage]]:
        """Of each question and its text the windows, so that every stretch of the text is in one. DataError naming each
        question that leaves no room for its text."""
        (before, behind), between = self.around(), self.between()
        texts = {context: self.tokenizer.located(context) for _, context in pairs}
        found, long = [], []
        for (question, context), line in zip(pairs, lines, strict=True):
            head = [*before, *self.tokenizer.encode(question), *between]
            room = self.limit - len(head) - len(behind)
            if room < 1:
                long.append(f"line {line}: {len(head)} tokens with specials")
                continue
            ids, places = texts[context]
            found.append(Passage.of(head, ids, behind, [Stretch(*place) for place in places], room))
        if long:
            raise DataError(listing(f"Questions that leave no room for a text in {self.limit:.0f} positions:", long))
        return found

    # -- answers ---------------------------------------------------------------------------------------------

    def predict(
        self, inputs: Iterable[str | tuple[str, str]], *, n: int = 1, window: int = 1024, first: int = 1
    ) -> Iterator[list[Answered]]:
        """For each question and text, in order, its `n` best answers, the best first; no answer is one of them. A pair
        is given as such, or with a tab between; an empty line has one empty answer. A text of any length may come.
        Streams, `window` pairs at a time; what a pair gets does not depend on its neighbours. Errors count lines from
        `first`."""
        stream = enumerate(inputs, first)
        while given := list(islice(stream, window)):
            pairs = [tuple(each.split("\t")) if isinstance(each, str) else tuple(each) for _, each in given]
            full = [i for i, pair in enumerate(pairs) if any(part.strip() for part in pair)]
            if wrong := [f"line {given[i][0]}: {len(pairs[i])}" for i in full if len(pairs[i]) != 2]:
                raise DataError(listing("Needed: a question and its text a line, a tab between them. Came:", wrong))
            asked = [(pairs[i][0], pairs[i][1]) for i in full]
            found = dict(zip(full, self._answers(asked, [given[i][0] for i in full], n), strict=True))
            yield from (found.get(i, [NONE]) for i in range(len(given)))

    def _answers(self, pairs: Sequence[tuple[str, str]], lines: Sequence[int], n: int) -> list[list[Answered]]:
        passages = self.passages(pairs, lines)
        parts = [(i, part) for i, each in enumerate(passages) for part in each]
        found: list[list[Candidate]] = [[] for _ in pairs]
        for row, logits in self.outputs([part.ids for _, part in parts]):
            i, part = parts[row]
            found[i] += best(logits, part, self.rules.longest, n)
        return [self._read(context, each, n) for (_, context), each in zip(pairs, found, strict=True)]

    def _read(self, context: str, candidates: Sequence[Candidate], n: int) -> list[Answered]:
        answers = [NONE]
        for start, end, score in candidates:
            text = context[start:end]
            start += len(text) - len(text.lstrip())
            text = text.strip()
            if text:
                answers.append(Answered(text, start, start + len(text), score - self.rules.threshold))
        return nlargest(n, answers, key=lambda answer: answer.score)

    def write(self, lines: Iterable[str], how: Written, *, window: int = 1024) -> Iterator[str]:
        """The best answer a line, empty where there is none."""
        answers = self.predict(lines, n=how.nbest, window=window, first=how.first)
        for number, found in enumerate(answers, how.first):
            if how.as_json:
                yield json.dumps({"line": number, "answers": [asdict(each) for each in found]}, ensure_ascii=False)
                continue
            for answer in found:
                before = [str(number)] if how.nbest > 1 else []
                before += [f"{answer.score:.6f}"] if how.nbest > 1 or how.scores else []
                yield "\t".join([*before, " ".join(answer.text.split())])

    def long(self, items: Sequence[Question]) -> list[str]:
        if math.isinf(self.limit):
            return []
        passages = self.passages([(i.question, i.context) for i in items], [i.line for i in items])
        return [
            f"line {item.line}: {len(self.tokenizer.encode(item.context))} tokens, read in {len(parts)} windows"
            for item, parts in zip(items, passages, strict=True)
            if len(parts) > 1
        ]

    # -- right answers ---------------------------------------------------------------------------------------

    def evaluate(self, items: Sequence[Question], metrics: Sequence[str], *, bootstrap: int = 0) -> list[Score]:
        """`loss` is a window of a text."""
        if not items:
            raise DataError("There is nothing to evaluate: 0 questions.")
        answers = self._answers([(i.question, i.context) for i in items], [i.line for i in items], 1)
        given = [Found(a.text, (a.start, a.end) if a.text else None) for (a,) in answers]
        right = [[Found(text, place) for text, place in zip(i.texts, i.answers, strict=True)] for i in items]
        scores: list[Score] = []
        for name in metrics:
            if name == "loss":
                scores.append(self._loss(items))
            else:
                scores += evaluate_answers([name], given, right, bootstrap=bootstrap)
        return scores

    def examples(self, items: Sequence[Question]) -> list[tuple[Passage, Stretch]]:
        """Of each window where the first of the right answers begins and ends in it, as `cost` counts."""
        passages = self.passages([(i.question, i.context) for i in items], [i.line for i in items])
        return [(part, part.target(item.answers)) for item, each in zip(items, passages, strict=True) for part in each]

    def _loss(self, items: Sequence[Question]) -> Score:
        examples = self.examples(items)
        total = no_loss()
        for row, logits in self.outputs([part.ids for part, _ in examples]):
            total += cost(logits.cpu(), [examples[row]])
        return Score("loss", float(total.mean), total.count, "windows", False, "loss|begin and end")
