"""sublayer schema"""

import json
from typing import Annotated

import typer


def schema(
    task: Annotated[str, typer.Option(help="whose recipes")] = "translate",
) -> None:
    """The JSON Schema of recipes, for editors."""
    from sublayer.tasks.recipe_file import recipe_of

    print(json.dumps(recipe_of(task, "--task").model_json_schema(), indent=2, ensure_ascii=False))
