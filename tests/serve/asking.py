"""An application without a socket, and a toy door."""

import asyncio
import json
from contextlib import asynccontextmanager

import httpx
from pydantic import BaseModel

from sublayer.errors import ConfigError, DataError
from sublayer.serve.door import Size
from sublayer.serve.http import application
from sublayer.serve.limits import Limits
from sublayer.serve.metrics import Meters
from sublayer.serve.service import Service


class Loud(BaseModel):
    times: int = 1


class Shout:
    """Answers with the text in capitals. `batches` holds what came together; `boom` breaks it."""

    task, options, answers = "shout", Loud, list[str]

    def __init__(self):
        self.batches = []
        self.gate = None

    def about(self):
        return {"engine": "toy"}

    def settings(self, options):
        return Loud.model_validate(options)

    def size(self, text, settings):
        if "long" in text:
            raise DataError("too long")
        if settings.times > 9:
            raise ConfigError("too loud")
        return Size(len(text), 1)

    def answer(self, texts, settings):
        if self.gate is not None:
            self.gate.wait()
        self.batches.append(list(texts))
        if "boom" in texts:
            raise RuntimeError("secret text")
        if "mend" in texts:
            raise DataError("cannot be shouted")
        for number, text in enumerate(texts):
            yield number, {"answer": text.upper() * settings.times}

    def stream(self, texts, settings):
        for number, text in enumerate(texts):
            yield from ((number, {"piece": letter.upper()}) for letter in text)
        yield from self.answer(texts, settings)

    def aim(self, text, target):
        return target

    def attention(self, texts, settings):
        yield 0, {"answer": [texts[0], settings]}


@asynccontextmanager
async def asking(doors, key=None, headers=None, **limits):
    """A client of a service that runs. Its replies: status and JSON."""
    service = Service(doors, Limits(**limits), Meters())
    app = application(service, key)
    service.start()
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://here", headers=headers, timeout=60
    ) as client:
        client.service = service
        yield client
    await service.stop()


def run(doors, questions, **given):
    """What `await questions(client)` gives."""

    async def within():
        async with asking(doors, **given) as client:
            return await questions(client)

    return asyncio.run(within())


def post(path, asked, doors, **given):
    """(status, JSON) of one question."""

    async def once(client):
        body = asked if isinstance(asked, bytes | str) else json.dumps(asked)
        reply = await client.post(path, content=body, headers={"Content-Type": "application/json"})
        return reply.status_code, reply.json()

    return run(doors, once, **given)


def events(text):
    """[(kind, data)] of server-sent events."""
    found = [event.split("\n") for event in text.split("\n\n") if event]
    return [(kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for kind, data in found]
