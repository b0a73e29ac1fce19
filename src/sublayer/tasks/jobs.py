"""The tasks by name. What a name stands for is imported when it is used."""

from importlib import import_module
from typing import cast

from sublayer.tasks.base import Job

JOBS = {
    "translate": "translating:Translating",
    "classify": "classifying:Classifying",
    "tag": "tagging:Tagging",
    "embed": "embedding:Embedding",
    "answer": "questioning:Questioning",
    "complete": "completing:Completing",
    "fill": "filling:Filling",
}


def job_of(task: str) -> Job:
    """The job of a task that a recipe or a run folder names."""
    module, _, name = JOBS[task].partition(":")
    return cast(Job, getattr(import_module(f"sublayer.tasks.{module}"), name)())
