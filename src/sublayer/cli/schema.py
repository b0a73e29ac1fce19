"""sublayer schema"""

import json


def schema() -> None:
    """The JSON Schema of recipes, for editors."""
    from sublayer.tasks.recipe import Recipe

    print(json.dumps(Recipe.model_json_schema(), indent=2, ensure_ascii=False))
