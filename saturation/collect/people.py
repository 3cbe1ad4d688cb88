"""Who may answer: a name and an unguessable token each, kept beside the answers so that links go on working."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from saturation import files
from saturation.errors import UsageError

_BYTES = 16


def tokens(path: Path, names: Sequence[str]) -> Mapping[str, str]:
    """Token -> name for these annotators; made once, read again later.

    Parameters
    ----------
    path
        Where tokens are kept, readable by the user alone.
    names
        Annotators, in order; later runs may name more.

    Raises
    ------
    UsageError
        When names repeat, or somebody who has a token is left out.
    """
    if len(set(names)) < len(names) or not all(name.strip() for name in names):
        raise UsageError("annotators need different names")
    known: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    missing = [name for name in known if name not in names]
    if missing:
        raise UsageError(f"{path} knows {', '.join(missing)} too: name all annotators again")
    made = {name: known.get(name) or secrets.token_urlsafe(_BYTES) for name in names}
    if made != known:
        files.write_text(path, json.dumps(made, ensure_ascii=False, indent=1) + "\n")
        path.chmod(0o600)
    return {token: name for name, token in made.items()}
