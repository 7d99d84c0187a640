"""Questions, forms and pages at a terminal, line by line: numbered choices, one thing at a time, nothing drawn over."""

from __future__ import annotations

import json
from typing import Any

from harness_tui.core.events import QuestionAsked
from harness_tui.core.forms import FormError, FormRun, Step, read_answer
from harness_tui.core.intents import Answer
from harness_tui.core.text import clean_for_display
from harness_tui.plain.terminal import Lines


async def answer_question(asked: QuestionAsked, lines: Lines) -> Answer:
    """Go through the steps of a request; the end of the input cancels it, a lone ``-`` leaves a step out."""
    form = FormRun(asked)
    lines.write(f"{_line(asked.source)} asks: {_line(asked.title)}")
    if asked.url:
        return await _page(form, asked.url, lines)
    while (step := form.step) is not None:
        _show(step, form, lines)
        line = await lines.read_line("> ")
        if line is None:
            return form.answer("cancel")
        try:
            form.give(_read(step, line.strip()))
        except FormError as error:
            lines.write(str(error))
    if asked.schema is None:
        return form.answer("accept")
    for name, value in form.content.items():
        lines.write(f"  {_line(f'{name}: {json.dumps(value, ensure_ascii=False)}')}")
    sure = (await lines.read_line("send this? (y/n): ") or "").strip().casefold()
    return form.answer("accept" if sure in ("y", "yes") else "decline" if sure else "cancel")


async def _page(form: FormRun, url: str, lines: Lines) -> Answer:
    lines.write(f"  {clean_for_display(url, one_line=True, show_invisible=True)}")
    line = await lines.read_line("open this page yourself; y when it is done, n to decline: ")
    word = (line or "").strip().casefold()
    return form.answer("accept" if word in ("y", "yes") else "decline" if word in ("n", "no") else "cancel")


def _show(step: Step, form: FormRun, lines: Lines) -> None:
    place = f" ({form.place + 1} of {len(form.steps)})" if len(form.steps) > 1 else ""
    lines.write(f"{step.text}{place}")
    for number, option in enumerate(step.options, 1):
        about = f"  {option.description}" if option.description else ""
        lines.write(f"  {number} {option.label}{about}")
    hints = [
        "several: 1, 2" if step.multiple and step.options else "",
        f"empty: {json.dumps(step.default, ensure_ascii=False)}" if step.default is not None else "",
        "- leaves it out" if not step.required else "",
    ]
    if any(hints):
        lines.write(f"  ({_line('; '.join(hint for hint in hints if hint))})")


def _read(step: Step, text: str) -> Any:
    """Read a line as the answer of a step. Raises ``FormError``."""
    if text == "-" and not step.required:
        return None
    if not step.options or not text:
        return read_answer(step, text)
    if step.multiple:
        return [_chosen(step, part.strip()) for part in text.split(",") if part.strip()]
    return _chosen(step, text)


def _chosen(step: Step, text: str) -> Any:
    if text.isdecimal() and 1 <= int(text) <= len(step.options):
        return step.options[int(text) - 1].value
    for option in step.options:
        if text.casefold() == option.label.casefold():
            return option.value
    if step.kind == "boolean" and text.casefold() in ("y", "n"):
        return text.casefold() == "y"
    if not step.free:
        raise FormError(f"{_line(text)!r} is none of them; write a number")
    return text


def _line(text: str) -> str:
    return clean_for_display(text, one_line=True)
