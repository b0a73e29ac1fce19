"""The interface over HTTP: paths, what they take and give, and their description."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from sublayer.errors import ConfigError, SublayerError
from sublayer.serve.api import Pair, Problems, Text, Texts, describe
from sublayer.serve.batcher import Fault, Full
from sublayer.serve.door import Event
from sublayer.serve.guard import Guard
from sublayer.serve.journal import Journal
from sublayer.serve.page import page_files
from sublayer.serve.replies import BUSY, RETRY, App, problem
from sublayer.serve.service import NoModel, Service, Wrong

if TYPE_CHECKING:
    from fastapi import FastAPI

WRONG = "The request cannot be answered as it is."
FAULT = "A fault of the server's. Its log tells more."
SAID = {
    400: "The body is not JSON that can be read.",
    404: "There is no such path. /openapi.json describes those that are.",
    405: "Not with this method.",
}


def application(service: Service, key: str | None = None) -> App:
    """ConfigError where FastAPI is missing."""
    app = _fastapi(service)
    _say_what_went_wrong(app)
    _ask(app, service)
    _watch(app, service)
    _show(app)
    describe(app.openapi(), service.doors.values())
    paths = {*app.openapi()["paths"], "/", "/page", "/openapi.json"}
    guarded = Guard(app, service.limits, key)
    return Journal(guarded, paths, service.meters)


def _fastapi(service: Service) -> "FastAPI":
    try:
        from fastapi import FastAPI
    except ImportError:
        raise ConfigError("Serving needs FastAPI: pip install 'sublayer[serve]'.") from None

    @asynccontextmanager
    async def life(_: Any) -> AsyncIterator[None]:
        service.start()
        yield
        await service.stop()

    return FastAPI(
        title="Sublayer",
        description="Answers of trained models.",
        version="1",
        lifespan=life,
        docs_url=None,  # that page asks other hosts for its scripts
        redoc_url=None,
        redirect_slashes=False,
    )


def _ask(app: "FastAPI", service: Service) -> None:
    from fastapi.responses import StreamingResponse

    refusals: dict[int | str, Any] = {code: {"model": Problems} for code in (400, 401, 404, 408, 413, 415, 422, 503)}
    shared: dict[str, Any] = {"responses": refusals, "tags": ["models"]}

    @app.get("/models", summary="What is served", tags=["models"], responses={401: refusals[401]})
    async def models() -> Any:
        return _json({"models": service.about()})

    @app.post("/predict", summary="An answer for each text", **shared)
    async def predict(asked: Texts) -> Any:
        model = service.named(asked.model)
        return _json({"model": model, "answers": await service.answers(model, asked.texts, asked.options)})

    event = {"type": "object", "properties": {"event": {"type": "string"}, "data": {"type": "string"}}}
    events: dict[int | str, Any] = {200: {"content": {"text/event-stream": {"schema": event}}}}

    @app.post(
        "/stream",
        summary="The pieces of an answer as they are found, as server-sent events",
        response_class=StreamingResponse,
        tags=["models"],
        responses={**refusals, **events},
    )
    async def stream(asked: Text) -> Any:
        found = await service.stream(service.named(asked.model), asked.text, asked.options)
        first = await anext(found)  # where this fails, the status can still say so
        unheld = {"x-accel-buffering": "no"}  # by a proxy that gathers what it passes on
        return StreamingResponse(_sent(first, found), headers=unheld, media_type="text/event-stream")

    @app.post("/attention", summary="What the model looks at", **shared)
    async def attention(asked: Pair) -> Any:
        model = service.named(asked.model)
        return _json({"model": model, "attention": await service.attention(model, asked.text, asked.target)})


async def _sent(first: Event, events: AsyncIterator[Event]) -> AsyncIterator[bytes]:
    yield _event(first)
    try:
        async for event in events:
            yield _event(event)
    except (SublayerError, Fault) as error:
        yield b"event: error\ndata: " + problem(str(error) or FAULT) + b"\n\n"


def _event(event: Event) -> bytes:
    kind = "answer" if "answer" in event else "piece"
    return f"event: {kind}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def _watch(app: "FastAPI", service: Service) -> None:
    from fastapi.responses import Response

    @app.get("/healthz", summary="Whether the server lives", tags=["operation"])
    async def healthz() -> Any:
        return _json({"status": "ok"})

    @app.get("/readyz", summary="Whether it takes requests", tags=["operation"], responses={503: {"model": Problems}})
    async def readyz() -> Any:
        return _json({"status": "ready"}) if service.ready else _error(503, "It is ending.", retry=True)

    text: dict[int | str, Any] = {
        200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
        401: {"model": Problems},
    }

    @app.get("/metrics", summary="Counters for Prometheus", response_class=Response, tags=["operation"], responses=text)
    async def metrics() -> Any:
        return Response(service.meters.text(), media_type=service.meters.media_type)


def _show(app: "FastAPI") -> None:
    from fastapi.responses import Response

    files = page_files()

    def file(name: str) -> Any:
        return Response(files[name][0], media_type=files[name][1])

    @app.get("/", include_in_schema=False)
    async def page() -> Any:
        return file("index.html")

    @app.get("/page/{name}", include_in_schema=False)
    async def part(name: str) -> Any:
        return file(name) if name in files else _error(404, "No such file.")


def _say_what_went_wrong(app: "FastAPI") -> None:
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Any, error: Any) -> Any:
        found = [(".".join(map(str, e["loc"][1:])), e["msg"].removeprefix("Value error, ")) for e in error.errors()]
        if error.errors()[0]["type"] == "json_invalid":
            return _error(400, SAID[400])
        return _error(422, WRONG, found)

    @app.exception_handler(HTTPException)
    async def http(_: Any, error: Any) -> Any:
        return _error(error.status_code, SAID.get(error.status_code, str(error.detail)), headers=error.headers)

    @app.exception_handler(Wrong)
    async def wrong(_: Any, error: Wrong) -> Any:
        return _error(422, WRONG, error.problems)

    @app.exception_handler(SublayerError)
    async def cannot(_: Any, error: SublayerError) -> Any:
        return _error(422, WRONG, [("", str(error))])

    @app.exception_handler(NoModel)
    async def no_model(_: Any, error: NoModel) -> Any:
        return _error(404, str(error))

    @app.exception_handler(Full)
    async def full(_: Any, error: Full) -> Any:
        return _error(503, BUSY, retry=True)

    @app.exception_handler(Fault)
    @app.exception_handler(Exception)
    async def fault(_: Any, error: Exception) -> Any:
        return _error(500, FAULT)


def _json(values: Any) -> Any:
    from fastapi.responses import Response

    return Response(json.dumps(values, ensure_ascii=False).encode(), media_type="application/json")


def _error(
    status: int,
    error: str,
    problems: Any = (),
    *,
    headers: Mapping[str, str] | None = None,
    retry: bool = False,
) -> Any:
    from fastapi.responses import Response

    given = {name.decode(): value.decode() for name, value in RETRY} if retry else {}
    return Response(problem(error, problems), status, {**(headers or {}), **given}, "application/json")
