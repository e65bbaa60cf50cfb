"""A page taken apart with the standard parser, for tests on its structure."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"meta", "link", "br", "img", "input", "hr"})


@dataclass
class Element:
    """An element with its attributes, all text inside it, and its parent."""

    tag: str
    attributes: dict[str, str]
    parent: Element | None = None
    text: str = ""
    children: list[Element] = field(default_factory=list["Element"])

    def all(self, tag: str | None = None, **attributes: str) -> list[Element]:
        """Elements below with this tag and these attributes (``class_`` for one of the classes)."""
        found: list[Element] = []
        for child in self.children:
            if (tag is None or child.tag == tag) and child.has(attributes):
                found.append(child)
            found += child.all(tag, **attributes)
        return found

    def has(self, attributes: dict[str, str]) -> bool:
        for name, value in attributes.items():
            if name == "class_":
                if value not in self.attributes.get("class", "").split():
                    return False
            elif self.attributes.get(name.replace("_", "-")) != value:
                return False
        return True


class Page(HTMLParser):
    """The tree of a page. Complains of elements that are not closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self.open = [self.root]
        self.feed(html)
        self.close()
        assert len(self.open) == 1, f"not closed: {[item.tag for item in self.open[1:]]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        parent = self.open[-1]
        element = Element(tag, {name: value or "" for name, value in attrs}, parent)
        parent.children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data.replace("\N{NO-BREAK SPACE}", " ")

    def section(self, ident: str) -> Element:
        """The section with this anchor."""
        found = self.root.all("section", id=ident)
        assert len(found) == 1, f"{len(found)} sections {ident}"
        return found[0]

    def sections(self) -> list[str]:
        return [element.attributes["id"] for element in self.root.all("section")]

    def table(self, caption: str) -> list[list[str]]:
        """The rows of the table with this caption, its head first."""
        for scroll in self.root.all("div", class_="scroll"):
            if scroll.attributes["aria-label"] == caption:
                return [[cell.text.strip() for cell in row.children] for row in scroll.all("tr")]
        raise AssertionError(f"no table {caption!r}")
