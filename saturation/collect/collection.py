"""From an items table to a running form: the route of ``saturation elicit``."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from saturation import files
from saturation.collect.answers import Store
from saturation.collect.app import IMAGES, Form, Question, links, make_app, serve
from saturation.collect.people import tokens
from saturation.errors import DataError, Problem, UsageError
from saturation.tables import io
from saturation.tables.labels import option
from saturation.tables.validate import validate

if TYPE_CHECKING:
    import polars as pl

_NOT_SHOWN = ("item_id", "majority_label", "source")


def collect(
    items: Path,
    out: Path,
    *,
    labels: Sequence[str],
    text: Sequence[str] | None,
    image: str | None,
    soft: bool,
    annotators: Sequence[str],
    repeats: int,
    port: int,
    seed: int,
    title: str,
    say: Callable[[str], None],
) -> None:
    """Serve the form until it is interrupted.

    Parameters
    ----------
    items, text, image
        The items table; its text columns (None: all but ids, majorities and sources); its column of image files.
    out
        File of the answers.
    labels, soft, repeats, seed, title
        See :class:`~saturation.collect.app.Form`.
    annotators
        Names, or one number of them.
    port
        On 127.0.0.1.
    say
        Where the links go.

    Raises
    ------
    UsageError
        When another process collects into ``out``, the port is taken, or options do not fit the table.
    DataError
        With every item that has nothing to show.
    """
    if importlib.util.find_spec("flask") is None:
        raise UsageError("the form needs flask: pip install 'annotation-saturation[collect]'")
    ids, questions = read_questions(items, text, image)
    if out.suffix != ".jsonl":
        raise UsageError(f"--out {out}: answers are kept as JSON lines, name a .jsonl file")
    files.make_folder(out.parent)
    with files.claimed(out.with_name(f".{out.name}.lock"), wait=False) as mine:
        if not mine:
            raise UsageError(f"another process collects into {out}: stop it, or choose another --out")
        people = tokens(out.with_name(f"{out.name}.people.json"), names_of(annotators))
        form = Form(questions, option(list(labels)) or (), people, soft=soft, repeats=repeats, seed=seed, title=title)
        app = make_app(form, Store(out, ids, form.labels, soft=soft))
        try:
            server = serve(app, port)
        except SystemExit as error:  # what the server does when the port is taken
            raise UsageError(f"port {port} is taken: choose another --port") from error
        for name, link in links(people, port):
            say(f"{name}: {link}")
        say(f"answers go to {out}; stop with Ctrl-C")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            say(f"stopped; every answer is in {out}")
        finally:
            server.server_close()


def names_of(annotators: Sequence[str]) -> tuple[str, ...]:
    """Names as given, or ``annotator-1`` ... for a single number.

    Examples
    --------
    >>> names_of(["2"]), names_of(["ann", "ben"])
    (('annotator-1', 'annotator-2'), ('ann', 'ben'))
    """
    if len(annotators) == 1 and annotators[0].isascii() and annotators[0].isdigit():
        count = int(annotators[0])
        if not 1 <= count <= 1000:
            raise UsageError(f"--annotators {count}: from 1 to 1,000")
        return tuple(f"annotator-{rank}" for rank in range(1, count + 1))
    return tuple(annotators)


def read_questions(
    items: Path, text: Sequence[str] | None, image: str | None
) -> tuple[tuple[str, ...], tuple[Question, ...]]:
    """Ids and what is shown of every item.

    Images lie beside the items file or below; nothing else is ever sent.
    """
    loaded = io.load(items, "items")
    frame = validate(loaded, "items")
    columns = _text_columns(loaded.columns, frame, text, image, loaded.name)
    folder = Path(items).resolve().parent
    ids, made, problems = [], [], []
    for row, record in enumerate(frame.to_dicts(), 1):
        texts = tuple((name, str(record[name])) for name in columns if record[name] not in (None, ""))
        path = _image(folder, record[image]) if image is not None else None
        if isinstance(path, str) or not (texts or path):
            why = path if isinstance(path, str) else "there is no text to show"
            problems.append(Problem("I01", why, loaded.name, row, record["item_id"]))
            continue
        ids.append(record["item_id"])
        made.append(Question(texts, path))
    if problems:
        raise DataError(problems)
    return tuple(ids), tuple(made)


def _text_columns(
    present: Sequence[str], frame: pl.DataFrame, text: Sequence[str] | None, image: str | None, name: str
) -> tuple[str, ...]:
    import polars as pl

    missing = [column for column in (*(text or ()), *([image] if image else [])) if column not in present]
    if missing:
        raise UsageError(f"{name} has no column {', '.join(missing)}; its columns are {', '.join(present)}")
    if text is not None:
        return tuple(text)
    return tuple(
        column
        for column in present
        if column not in (*_NOT_SHOWN, image) and frame.schema[column] == pl.String and image is None
    )


def _image(folder: Path, name: object) -> Path | str:
    """An image below the folder, or what is wrong with it."""
    path = (folder / str(name)).resolve()
    if name in (None, "") or not path.is_file():
        return f"there is no image {name!r} beside the items"
    if not path.is_relative_to(folder):
        return f"the image {name!r} does not lie beside the items or below"
    if path.suffix.lower() not in IMAGES:
        return f"the image {name!r} is none of {', '.join(IMAGES)}"
    return path
