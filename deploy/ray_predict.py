"""Answers by Ray Data, a model a worker:  python deploy/ray_predict.py runs/mine lines.txt answers/"""

import sys

import numpy as np
import ray

import sublayer


class Answer:
    def __init__(self, run: str) -> None:
        self.task = sublayer.load(run).for_inference()

    def __call__(self, batch: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        answers = [found[0].text for found in self.task.predict(batch["text"].tolist())]
        return {**batch, "answer": np.array(answers)}


if __name__ == "__main__":
    run, lines, out = sys.argv[1:]
    answered = ray.data.read_text(lines).map_batches(Answer, fn_constructor_args=[run], batch_size=1024, concurrency=4)
    answered.write_json(out)
