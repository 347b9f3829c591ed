"""Markup built from parts: whatever goes in as text stays text."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from possibly.views.text.words import plain
from possibly.views.web.markup import Markup, element, lines, raw


class Reader(HTMLParser):
    """Collects what a browser would see."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_elements_nest() -> None:
    inner = element("b", "x < y")
    assert element("p", "a & b ", inner, None, [inner, "!"]) == (
        "<p>a &amp; b <b>x &lt; y</b><b>x &lt; y</b>!</p>"
    )


def test_attributes() -> None:
    made = element("line", x1=1.0, y1=2.5, class_="lane", marker_end="url(#head)", title=None)
    assert made == '<line x1="1" y1="2.5" class="lane" marker-end="url(#head)"/>'
    assert element("meta", charset="utf-8") == '<meta charset="utf-8">'
    assert element("p", title='"><script>') == '<p title="&quot;&gt;&lt;script&gt;"></p>'


def test_raw_text_and_lines() -> None:
    assert element("style", raw("a > b {}")) == "<style>a > b {}</style>"
    assert lines(["a\nb", "<c>"]) == "a\\nb\n&lt;c&gt;"
    assert isinstance(lines([]), Markup)


@given(st.text(), st.text())
def test_no_text_becomes_a_tag(text: str, attribute: str) -> None:
    reader = Reader(element("p", text, title=attribute))
    assert reader.tags == ["p"]
    assert reader.attributes == [("title", plain(attribute))]
    assert "".join(reader.texts) == plain(text)
