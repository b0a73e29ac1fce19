"""How answers to questions are learned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sublayer.data import Corpus
from sublayer.data.questions import Question, Stretch, read_questions
from sublayer.data.texts import TextBatch
from sublayer.errors import CheckpointError, DataError
from sublayer.models.config import ModelConfig
from sublayer.models.heads import EncoderWithHead, Span
from sublayer.tasks.answer import Answer, Rules
from sublayer.tasks.asked import Passage, cost
from sublayer.tasks.base import Job
from sublayer.tasks.folder import write_sample
from sublayer.tasks.pair_recipes import AnswerRecipe, AnswerTrain
from sublayer.tasks.sections import Published
from sublayer.tasks.sizes import Choices, filled
from sublayer.tasks.starting import read, with_head
from sublayer.tasks.text_sizes import few_texts, text_model, tuned_texts, words_kind
from sublayer.tasks.texts import Drawn, empty, start, vocabulary_of
from sublayer.text import load_vocabulary
from sublayer.train.loss import Loss

Example = tuple[Passage, Stretch]
Batch = tuple[TextBatch, list[Example]]


class Questioning(Job):
    architecture = "encoder"
    wanted = "name a file of questions, texts and answers"

    def read(self, files: list[str], recipe: AnswerRecipe, *, skip_bad: bool) -> Corpus[Question]:
        return read_questions(files[0], columns=recipe.data.columns, skip_bad=skip_bad)

    def fill_in(self, recipe: AnswerRecipe, items: Sequence[Question]) -> Choices:
        told: list[str] = []
        if isinstance(recipe.model, Published):
            settings = tuned_texts(len(items), recipe.train)
        else:
            recipe = recipe.model_copy(update={"text": words_kind(recipe.text, _texts(items), told)})
            settings = few_texts(len(items), recipe.train)
        settings["batch_tokens"] = 1024
        return filled(recipe, AnswerTrain, text_model(len(items)), settings, told, f"{len(items):,} questions")

    def fresh(self, recipe: AnswerRecipe, items: Sequence[Question]) -> Answer:
        assert recipe.train is not None and recipe.model is not None
        if not any(item.answers for item in items):
            raise DataError("There is nothing to learn: no question has an answer.")
        rules = Rules(**recipe.answer.model_dump())
        if isinstance(recipe.model, Published):
            model, config, own, options = with_head(read(recipe.model, "encoder"), recipe.model, "span", recipe.train)
            return Answer(model, config, own, rules, options.get("transform"))
        body, config, words = start(recipe.model, recipe.train, partial(vocabulary_of, recipe.text, _texts(items)))
        return Answer(EncoderWithHead(body, Span(config.d_model)), config, words, rules)

    def load(self, folder: Path, about: dict[str, Any], config: ModelConfig) -> Answer:
        try:
            rules = Rules(**about["rules"])
        except (KeyError, TypeError) as error:
            raise CheckpointError(f"{folder / 'task.json'} does not say what an answer is: {error!r}.") from None
        transform = about.get("transform")
        model = empty(config, "span", transform=transform)
        return Answer(model, config, load_vocabulary(folder / "tokenizer.json"), rules, transform)

    def encode(self, task: Answer, items: Sequence[Question]) -> list[Example]:
        return task.examples(items)

    def batches(self, task: Answer, examples: Sequence[Example], train: AnswerTrain) -> Drawn:
        def make(rows: list[int]) -> Batch:
            chosen = [examples[row] for row in rows]
            return task.batch([passage.ids for passage, _ in chosen]), chosen

        return Drawn([len(passage.ids) for passage, _ in examples], make, train)

    def loss(self, task: Answer, train: AnswerTrain) -> Callable[[Any, Any], Loss]:
        def loss(model: EncoderWithHead, batch: Batch) -> Loss:
            texts, chosen = batch
            return cost(model(*texts.inputs), chosen)

        return loss

    def validate(self, task: Answer, items: Sequence[Question], recipe: Any, out: Path) -> dict[str, float]:
        """samples/valid.tsv: question, text, answer, right answer."""
        said = (found[0].text for found in task.predict((item.question, item.context) for item in items))
        rows = ([i.question, i.context, text, (i.texts or [""])[0]] for i, text in zip(items, said, strict=True))
        write_sample(out, ([" ".join(cell.split()) for cell in row] for row in rows))
        return {score.name: score.value for score in task.evaluate(items, ["loss", *recipe.train.validate_metrics])}


def _texts(items: Sequence[Question]) -> list[str]:
    """Each text and each question once: a text may have many questions."""
    return list(dict.fromkeys(text for item in items for text in (item.question, item.context)))
