"""Every task is known by one name: its recipe, its job, its recipe file, its page."""

from pathlib import Path

import pytest
from tests.runs import command

from sublayer.tasks.base import Job
from sublayer.tasks.jobs import JOBS, job_of
from sublayer.tasks.recipe_file import make_recipe, read_recipe
from sublayer.tasks.recipes import RECIPES

ROOT = Path(__file__).parents[2]


def test_recipes_and_jobs_have_the_same_names():
    assert list(JOBS) == list(RECIPES)


@pytest.mark.parametrize("task", JOBS)
def test_a_job_and_its_recipe_agree(task):
    job, recipe = job_of(task), make_recipe({"task": task}, origin="o")
    assert isinstance(job, Job) and type(recipe) is RECIPES[task]
    assert recipe.task == task and recipe.architecture == job.architecture
    assert type(make_recipe({"task": task, "model": {"d_model": 8}}, origin="o").model).__name__ == "ModelConfig"
    assert make_recipe({"task": task, "model": {}}, origin="o").model.architecture == job.architecture


@pytest.mark.parametrize("task", JOBS)
def test_what_a_task_measures_has_a_direction(task):
    train = RECIPES[task].model_fields["train"].annotation.__args__[0]
    assert {train().metric, *train.always, *train().validate_metrics} <= train.measures.keys()


@pytest.mark.parametrize("task", JOBS)
def test_the_schema_of_a_task_is_closed(task):
    schema = RECIPES[task].model_json_schema()
    assert schema["additionalProperties"] is False and {"data", "model", "train"} <= schema["properties"].keys()


@pytest.mark.parametrize("path", sorted((ROOT / "recipes").glob("*.yaml")), ids=lambda path: path.stem)
def test_the_recipes_that_come_along_can_be_read(path):
    recipe = read_recipe(path)
    assert recipe.train is not None and recipe.model is not None


def test_the_schema_of_a_task_is_printed_and_of_none_refused():
    assert '"const": "tag"' in command("schema", "--task", "tag").out
    said = command("schema", "--task", "tga")
    assert (said.code, said.out) == (2, "") and "there is no task 'tga'. Did you mean 'tag'?" in said.err


@pytest.mark.parametrize("task", JOBS)
def test_a_recipe_without_data_says_what_to_name(task, tmp_path):
    said = command("train", "--task", task, "--train", tmp_path / "nowhere", "--out", tmp_path / "run")
    assert said.code == 2 and "nowhere cannot be read: No such file" in said.err
    (tmp_path / "r.yaml").write_text(f"task: {task}\n", encoding="utf-8")
    said = command("train", tmp_path / "r.yaml", "--out", tmp_path / "run")
    assert said.code == 2 and f"data.train is not set: {job_of(task).wanted}, in the recipe or" in said.err
