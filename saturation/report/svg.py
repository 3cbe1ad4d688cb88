"""Figures as files, and as SVG that can stand inside a page: own ids, no style sheet, named for screen readers."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from saturation import files
from saturation.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LINK = "{http://www.w3.org/1999/xlink}href"
_NO_METADATA = {"svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None, "Creator": None}}


def save(figure: Figure, path: Path) -> None:
    """Write a figure as ``.svg`` or ``.pdf``: the same bytes whenever it is made from the same numbers."""
    files.write_bytes(path, _bytes(figure, path.suffix.removeprefix(".")))


def inline(figure: Figure, *, prefix: str, title: str, description: str) -> str:
    """A figure as an ``<svg>`` element for a page that holds several.

    Parameters
    ----------
    figure
        What to draw.
    prefix
        Put before every id, so that figures of one page cannot clash.
    title, description
        Read out in place of the picture.
    """
    root = ElementTree.fromstring(_bytes(figure, "svg"))
    _plain_names(root)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in ("metadata", "style"):
                parent.remove(child)
    _own_ids(root, prefix)
    return _named(root, prefix, title, description)


def _bytes(figure: Figure, kind: str) -> bytes:
    stream = io.BytesIO()
    with style.drawing():
        _place(figure)
        figure.savefig(stream, format=kind, metadata=_NO_METADATA[kind])
    return stream.getvalue()


def _place(figure: Figure) -> None:
    """Lay the figure out once and for all its formats; drawing would otherwise do it again each time."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)


def _plain_names(root: ElementTree.Element) -> None:
    """Tags and links without name spaces, as HTML has them."""
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        if _LINK in element.attrib:
            element.set("href", element.attrib.pop(_LINK))


def _own_ids(root: ElementTree.Element, prefix: str) -> None:
    """Keep the ids that something refers to, prefixed; drop the others."""
    values = [value for element in root.iter() for value in element.attrib.values()]
    for element in root.iter():
        name = element.attrib.pop("id", None)
        if name is not None and any(f"#{name}" == value or f"url(#{name})" in value for value in values):
            element.set("id", f"{prefix}-{name}")
        for key, value in element.attrib.items():
            if value.startswith("#"):
                element.set(key, f"#{prefix}-{value[1:]}")
            elif "url(#" in value:
                element.set(key, value.replace("url(#", f"url(#{prefix}-"))


def _named(root: ElementTree.Element, prefix: str, title: str, description: str) -> str:
    width = root.attrib.pop("width").removesuffix("pt")
    root.attrib.pop("height")
    root.attrib |= {
        "role": "img",
        "aria-labelledby": f"{prefix}-title {prefix}-desc",
        "style": f"--natural: {width}",
    }
    for tag, text, place in (("title", title, 0), ("desc", description, 1)):
        element = ElementTree.Element(tag, {"id": f"{prefix}-{tag}"})
        element.text = text
        root.insert(place, element)
    return ElementTree.tostring(root, encoding="unicode")
