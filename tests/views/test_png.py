"""A PNG has its text, whatever fonts are installed; where there is none, the picture is refused."""

from __future__ import annotations

import pytest

from possibly.errors import UsageError
from possibly.views.export import png

pytest.importorskip("resvg_py")
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="20">'
    "<style>text{{font:12px monospace}}</style>"
    '<text x="2" y="16">{}</text></svg>'
)


@pytest.mark.skipif(png.font_there() is None, reason="no font is installed")
def test_the_text_is_in_the_picture() -> None:
    pictures = {png.painted(SVG.format(text), 90, 20) for text in ("", "Hello", "World")}
    assert len(pictures) == 3


def test_a_font_that_is_there_is_taken() -> None:
    assert png.found_font(lambda family: family == "Menlo") == "Menlo"
    assert png.found_font(lambda family: False) is None


def test_a_picture_with_text_is_refused_where_there_is_no_font(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(png, "font_there", lambda: None)
    with pytest.raises(UsageError, match="needs a font"):
        png.painted(SVG.format("Hello"), 90, 20)
    assert png.painted(SVG.replace("<text", "<g").replace("</text", "</g").format(""), 90, 20)
