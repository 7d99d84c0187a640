"""The floor: a Textual program with one line of text and one input."""

from textual.app import App, ComposeResult
from textual.widgets import Input, Static


class Floor(App[None]):
    """As little as a Textual program can be."""

    def compose(self) -> ComposeResult:
        """Yield the two widgets."""
        yield Static("floor")
        yield Input(placeholder="type here")


if __name__ == "__main__":
    Floor().run()
