"""The recipes by task. Reading one needs no torch."""

from sublayer.tasks.recipe import Recipe
from sublayer.tasks.sections import AnyRecipe

RECIPES: dict[str, type[AnyRecipe]] = {
    "translate": Recipe,
}
