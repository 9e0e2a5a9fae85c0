"""Checkpoints: outsiders sign which entries a commit of the ladder has, so that nobody can rewrite them alone."""

import hashlib
import re

from msgspec import Struct

from referee.addons.ladder import records
from referee.addons.ladder.keys import SigningKey, signature_is_right
from referee.addons.ladder.reading import MOST_SMALL, Ladder
from referee.addons.ladder.records import CHECKPOINTS, FORMAT, WITNESSES
from referee.harness.common.errors import UsageError

SIGNED = tuple(f"{each}/" for each in (records.CLAIMS, records.SEALS, records.GAMES, records.STRIKES))
"""The folders of what a checkpoint covers."""
ENOUGH = 2
"""How many keys sign a checkpoint that counts."""
PATH = re.compile(f"{CHECKPOINTS}/({records.OBJECT.pattern})/({records.NAME.pattern})[.]json")


class Checkpoint(Struct, frozen=True, forbid_unknown_fields=True):
    """A witness's statement about a commit."""

    checkpoint: int
    """The version of the format."""
    witness: str
    commit: str
    count: int
    """The number of its claims, seals, batches and strikes."""
    head: str
    """See `head_of`."""


def witnesses(ladder: Ladder) -> dict[str, str]:
    """Returns the keys of the ladder's witnesses by name. UsageError for a wrong file."""
    id = ladder.repository.id_of(ladder.commit, WITNESSES)
    if not id:
        return {}
    found = records.toml_of(next(ladder.repository.read([id], MOST_SMALL)), dict[str, str], WITNESSES)
    if wrong := [name for name, key in found.items() if not records.NAME.fullmatch(name) or not records.is_key(key)]:
        raise UsageError(f"{WITNESSES}: {wrong[0][:40]!a} has no key; expected NAME = an ed25519 public key in base64")
    return found


def head_of(ladder: Ladder) -> tuple[int, str]:
    """Returns the number of entries of a commit, and the SHA-256 of their paths and the SHA-256 of their contents."""
    files = sorted(
        (each for each in ladder.entries if each.path.startswith(SIGNED)),
        key=lambda each: each.path,
    )
    total = hashlib.sha256()
    for file, content in zip(files, ladder.repository.read(each.id for each in files), strict=True):
        total.update(f"{file.path} {hashlib.sha256(content).hexdigest()}\n".encode())
    return len(files), total.hexdigest()


def checkpoint_file(ladder: Ladder, witness: str, key: SigningKey) -> tuple[str, bytes]:
    """Returns the path and the content of a checkpoint of a ladder's commit."""
    count, head = head_of(ladder)
    signed = records.line_of(Checkpoint(FORMAT, witness, ladder.commit, count, head)) + b"\n"
    return f"{CHECKPOINTS}/{ladder.commit}/{witness}.json", records.signed_file(signed, key.sign(signed))


def read_checkpoint(content: bytes, path: str) -> tuple[Checkpoint, bytes, bytes]:
    """Returns a checkpoint, what is signed of it, and the signature. UsageError if it is none."""
    signed, signature = records.parted(content, path)
    checkpoint, place = records.record_of(signed[:-1], Checkpoint, path), PATH.fullmatch(path)
    is_named = place is not None and place.group(1, 2) == (checkpoint.commit, checkpoint.witness)
    if not is_named or checkpoint.checkpoint != FORMAT or not records.HASH.fullmatch(checkpoint.head):
        raise UsageError(f"{path}: expected {CHECKPOINTS}/COMMIT/NAME.json, as `referee ladder witness` writes it")
    return checkpoint, signed, signature


def check_checkpoint(ladder: Ladder, checkpoint: Checkpoint, signed: bytes, signature: bytes) -> None:
    """UsageError for a checkpoint that no witness has signed, or that says something else than the history."""
    key, name = witnesses(ladder).get(checkpoint.witness), f"the checkpoint of {checkpoint.witness}"
    if key is None or not signature_is_right(key, signed, signature):
        raise UsageError(f"{name} is not signed by a key of {WITNESSES}; a maintainer adds witnesses")
    if checkpoint.commit not in ladder.history:
        raise UsageError(
            f"{name} is of commit {checkpoint.commit[:12]}, which the history has not: it was rewritten; keep your "
            "clone, and tell others"
        )
    if head_of(Ladder(ladder.repository, checkpoint.commit, ladder.fields)) != (checkpoint.count, checkpoint.head):
        raise UsageError(f"{name} says something else of commit {checkpoint.commit[:12]} than that has; tell others")


def last_witnessed(ladder: Ladder) -> tuple[str, list[str]]:
    """Returns the newest commit that two witnesses have signed, with their names. UsageError if there is none."""
    found: dict[str, dict[str, str]] = {}
    keys = witnesses(ladder)
    for file, content in ladder.files(CHECKPOINTS):
        checkpoint, signed, signature = read_checkpoint(content, file.path)
        check_checkpoint(ladder, checkpoint, signed, signature)
        found.setdefault(checkpoint.commit, {})[keys[checkpoint.witness]] = checkpoint.witness
    enough = {commit: sorted(names.values()) for commit, names in found.items() if len(names) >= ENOUGH}
    if not enough:
        raise UsageError(f"no commit is signed by {ENOUGH} keys of {WITNESSES}; `referee ladder witness` signs one")
    newest = next(each for each in ladder.history if each in enough)
    return newest, enough[newest]
