"""The main job, shown: learn to pronounce English, and say what it is worth."""

from importlib.resources import files
from pathlib import Path

import typer

from sublayer.cli.console import Terminal
from sublayer.data import group, read_pairs
from sublayer.errors import ConfigError
from sublayer.tasks.attend import picture
from sublayer.tasks.fit import fit
from sublayer.tasks.recipe_file import make_recipe, read_yaml
from sublayer.tasks.translate import Translate

NEW_WORDS = "sublayer softmax tokenizer brexit blockchain chatbot emoji doomscrolling cryptocurrency paywall".split()
PICTURED = "brexit"


def demonstrate(out: Path) -> None:
    """Train, score on the test words, say new words, draw attention, and tell what to type next."""
    recipes = _recipes()
    values = read_yaml(recipes / "g2p-en.yaml")
    values["data"] = {name: str(recipes / "cmudict" / f"{name}.tsv.gz") for name in ("train", "valid")}
    with Terminal() as terminal:
        terminal.message("Learning to pronounce English from CMUdict: letters in, phonemes out.")
        task = fit(make_recipe(values, origin="g2p-en.yaml"), out, terminal).for_inference()
    _report(task, recipes)
    _say(task, known=set(line.source for line in read_pairs(recipes / "cmudict" / "train.tsv.gz")))
    drawn = picture(task, PICTURED)
    for suffix in ("html", "png"):
        drawn.save(out / f"attention.{suffix}")
    typer.echo(
        f"\nWhat each phoneme of {PICTURED!r} looked at: {out}/attention.html and .png"
        f"\n\nNext:"
        f"\n  echo hello | sublayer predict {out} --nbest 3    say any word"
        f"\n  sublayer show {out}                               shapes through the model"
        f"\n  sublayer attend {out} thought --out thought.html   what it looks at"
        f"\n  sublayer train --task translate --train your.tsv --valid other.tsv --out runs/mine"
    )


def _recipes() -> Path:
    """Beside the package where it is installed, at the top of the repository where it is not."""
    for folder in (Path(str(files("sublayer"))) / "recipes", Path(__file__).parents[3] / "recipes"):
        if folder.is_dir():
            return folder
    raise ConfigError("The recipes that come with sublayer are missing: install it anew.")


def _report(task: Translate, recipes: Path) -> None:
    test = read_pairs(recipes / "cmudict" / "test.tsv.gz").items
    typer.echo(f"\nOn {len(group(test)):,} words that it has not seen (any listed pronunciation is right):")
    per, wer = task.evaluate(test, ["per", "sequence_error"], bootstrap=1000)
    for name, score in (("phoneme error rate", per), ("word error rate   ", wer)):
        low, high = score.interval or (score.value, score.value)
        typer.echo(f"  {name}  {score.value:.2f} %   (95 %: {low:.2f} to {high:.2f}; {score.count:,} {score.unit})")


def _say(task: Translate, known: set[str]) -> None:
    words = [word for word in NEW_WORDS if word not in known]
    typer.echo("\nWords that are not in its dictionary:")
    for word, answers in zip(words, task.predict(words), strict=True):
        typer.echo(f"  {word:<16}{answers[0].text}")
