"""TOML read strictly: the first fault in one line, unknown keys with the nearest known one."""

from __future__ import annotations

from typing import Literal

import pytest
from pydantic import Field, field_validator

from dyno.config import strict
from dyno.errors import UsageError


class Leaf(strict.Strict):
    size: int = Field(ge=1)
    kind: Literal["big", "small"] = "big"

    @field_validator("size")
    @classmethod
    def _even(cls, size: int) -> int:
        if size % 2:
            raise ValueError("Use an even number")
        return size


class Sized(strict.Strict):
    size: int


class Deeper(Sized):
    depth: int


class Root(strict.Strict):
    one: Leaf | None = None
    either: list[str | Deeper] = Field(default_factory=list[str | Deeper])
    many: list[Leaf] = Field(default_factory=list[Leaf])
    named: dict[str, Leaf] = Field(default_factory=dict[str, Leaf])


def test_what_is_right_is_read() -> None:
    read = strict.parse(Root, "File x", "[[many]]\nsize = 2\n[named.a]\nsize = 4\nkind = 'small'")
    assert read == Root(many=[Leaf(size=2)], named={"a": Leaf(size=4, kind="small")})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x =", r"^File x is not valid TOML"),
        ("on = 1", r"^File x: unknown key 'on'. Did you mean 'one'"),
        ("[one]\nsiz = 2", r"unknown key 'one.siz'. Did you mean 'size'"),
        ("[[many]]\nsize = 2\n[[many]]\nknd = 2", r"unknown key 'many\[1\].knd'. Did you mean"),
        ("[named.a]\nsizes = 2", r"unknown key 'named.a.sizes'. Did you mean 'size'"),
        ("[[either]]\nsize = 1\ndepht = 2", r"'either\[0\].depht'. Did you mean 'depth'"),
        ("[one]", r"one.size is missing"),
        ("[one]\nsize = 3", r"one.size is 3; use an even number"),
        ("[one]\nsize = 0", r"one.size is 0; input should be greater than"),
        ("[one]\nsize = 2\nkind = 'huge'", r"one.kind is 'huge'; it must be 'big' or 'small'"),
        ("[one]\nsize = '2'", r"one.size is '2'; input should be a valid integer"),
    ],
)
def test_a_fault_is_one_line(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        strict.parse(Root, "File x", text)
    assert "\n" not in str(caught.value)
