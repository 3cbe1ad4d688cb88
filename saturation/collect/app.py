"""The form: one question a page, nothing loaded from elsewhere, everything from the client mistrusted."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saturation.collect.answers import BadAnswerError, Store, read_answer
from saturation.collect.tasks import Sheet, sheet

if TYPE_CHECKING:
    from flask import Flask, Response

_NONCE = 12
MAX_BYTES = 16_384
"""Bytes of a request; an answer has a few hundred."""
IMAGES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}
_SLACK = 0.5
"""Seconds by which a time measured in the page may exceed that between two requests."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is shown of one item: texts by heading, or an image."""

    texts: tuple[tuple[str, str], ...]
    image: Path | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """Everything about a collection but its answers.

    Attributes
    ----------
    questions
        One an item.
    labels
        Names, in the order of the tables.
    people
        Token -> name of an annotator.
    soft
        Whether whole distributions are asked for.
    repeats, seed
        See ``tasks.sheet``.
    title
        What the page is called.
    """

    questions: tuple[Question, ...]
    labels: tuple[str, ...]
    people: Mapping[str, str]
    soft: bool
    repeats: int = 0
    seed: int = 0
    title: str = "Annotation"

    def sheets(self) -> dict[str, Sheet]:
        """Questions of every annotator, by name."""
        size, n_labels = len(self.questions), len(self.labels)
        return {
            name: sheet(size, n_labels, rank, repeats=self.repeats, seed=self.seed)
            for rank, name in enumerate(self.people.values())
        }


def make_app(form: Form, store: Store) -> Flask:
    """The web application.

    Routes: ``/a/TOKEN`` shows the next question and takes its answer, ``/a/TOKEN/image/NUMBER`` shows an image of the
    annotator's questions. Anything else is 404; a request of more than 16 kB is 413.
    """
    import flask

    app = flask.Flask(__name__, static_folder=None)
    app.jinja_env.autoescape = True  # whatever a template is called
    app.config["MAX_CONTENT_LENGTH"] = MAX_BYTES
    app.config["MAX_FORM_MEMORY_SIZE"] = MAX_BYTES
    app.config["MAX_FORM_PARTS"] = len(form.labels) + 20
    sheets = form.sheets()
    shown: dict[tuple[str, int], float] = {}

    def person(token: str) -> str:
        found = [name for known, name in form.people.items() if secrets.compare_digest(known.encode(), token.encode())]
        return found[0] if found else flask.abort(404)

    def page(name: str, token: str, error: str = "", given: Mapping[str, Any] | None = None) -> Any:
        own = sheets[name]
        number = next((n for n, task in enumerate(own.tasks) if not store.done(name, task)), None)
        nonce = secrets.token_urlsafe(_NONCE)
        if number is not None:
            shown.setdefault((name, number), time.monotonic())
        body = flask.render_template(
            "question.html",
            form=form,
            token=token,
            number=number,
            total=len(own.tasks),
            done=store.number(name),
            question=None if number is None else form.questions[own.tasks[number].item],
            labels=[(k, form.labels[k]) for k in own.labels],
            error=error,
            given=given or {},
            nonce=nonce,
        )
        return _guarded(flask.make_response(body, 422 if error else 200), nonce)

    @app.get("/a/<token>")
    def ask(token: str) -> Any:
        return page(person(token), token)

    @app.post("/a/<token>")
    def take(token: str) -> Any:
        name = person(token)
        own, sent = sheets[name], flask.request.form
        number = _whole(sent.get("number"))
        if number is None or number >= len(own.tasks):
            return page(name, token, "That was not a question of yours; here is the next one.")
        task = own.tasks[number]
        if not store.done(name, task):
            try:
                answer = read_answer(sent, sent.getlist("impossible"), len(form.labels), soft=form.soft)
            except BadAnswerError as error:
                return page(name, token, str(error), sent)
            store.add(name, task, answer, _seconds(sent.get("seconds"), shown.get((name, number))))
        return flask.redirect(f"/a/{token}", code=303)  # a reload asks again, and sends nothing twice

    @app.get("/a/<token>/image/<int:number>")
    def image(token: str, number: int) -> Any:
        own = sheets[person(token)]
        path = form.questions[own.tasks[number].item].image if number < len(own.tasks) else None
        if path is None:
            flask.abort(404)
        return flask.send_file(path, mimetype=IMAGES[path.suffix.lower()], max_age=0)

    return app


def _seconds(text: str | None, since: float | None) -> float | None:
    """Time as the page measured it, where that fits between the requests; else the time between them.

    The page measures from when it was drawn; the server knows when it was sent. A page that was open before the server
    was started again is believed.
    """
    between = None if since is None else time.monotonic() - since
    try:
        measured = float(text or "nan")
    except ValueError:
        return between
    fits = measured >= 0 and (between is None or measured <= between + _SLACK)
    return measured if fits else between


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 8 else None


def _guarded(response: Response, nonce: str) -> Response:
    """Nothing from elsewhere, nothing kept, no frame around it."""
    response.headers["Content-Security-Policy"] = (
        f"default-src 'none'; img-src 'self'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


def serve(app: Flask, port: int) -> Any:
    """A server on this machine alone, a thread a request; ``serve_forever`` runs it."""
    from werkzeug.serving import make_server

    return make_server("127.0.0.1", port, app, threaded=True)


def links(people: Mapping[str, str], port: int) -> Sequence[tuple[str, str]]:
    """(annotator, link) in order."""
    return [(name, f"http://127.0.0.1:{port}/a/{token}") for token, name in people.items()]
