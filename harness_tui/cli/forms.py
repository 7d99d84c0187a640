"""Questions, forms and pages at a terminal, line by line: numbered choices, one thing at a time, nothing drawn over."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from harness_tui.cli.common import warn
from harness_tui.cli.streams import write_notice
from harness_tui.core.events import QuestionAsked
from harness_tui.core.forms import FormError, FormRun, Step, read_answer
from harness_tui.core.intents import Answer
from harness_tui.core.text import clean_for_display

ReadLine = Callable[[str], Awaitable[str]]
"""Writes a prompt and returns the line with its end; empty at the end of the input."""


async def answer_at_terminal(asked: QuestionAsked, read_line: ReadLine) -> Answer:
    """Go through the steps of a request; the end of the input cancels it, a lone ``-`` leaves a step out."""
    form = FormRun(asked)
    warn(f"{clean_for_display(asked.source, one_line=True)} asks: {clean_for_display(asked.title, one_line=True)}")
    if asked.url:
        return await _page(form, asked.url, read_line)
    while (step := form.step) is not None:
        _show(step, form)
        line = await read_line("> ")
        if not line:
            return form.answer("cancel")
        try:
            form.give(_read(step, line.strip()))
        except FormError as error:
            warn(str(error))
    if asked.schema is None:
        return form.answer("accept")
    for name, value in form.content.items():
        write_notice(f"  {clean_for_display(f'{name}: {json.dumps(value, ensure_ascii=False)}', one_line=True)}\n")
    sure = (await read_line("send this? (y/n): ")).strip().casefold()
    return form.answer("accept" if sure in ("y", "yes") else "decline" if sure else "cancel")


async def _page(form: FormRun, url: str, read_line: ReadLine) -> Answer:
    write_notice(f"  {clean_for_display(url, one_line=True, show_invisible=True)}\n")
    line = await read_line("open this page yourself; y when it is done, n to decline: ")
    word = line.strip().casefold()
    return form.answer("accept" if word in ("y", "yes") else "decline" if word in ("n", "no") else "cancel")


def _show(step: Step, form: FormRun) -> None:
    place = f" ({form.place + 1} of {len(form.steps)})" if len(form.steps) > 1 else ""
    write_notice(f"{step.text}{place}\n")
    for number, option in enumerate(step.options, 1):
        about = f"  {option.description}" if option.description else ""
        write_notice(f"  {number} {option.label}{about}\n")
    hints = [
        "several: 1, 2" if step.multiple and step.options else "",
        f"empty: {json.dumps(step.default, ensure_ascii=False)}" if step.default is not None else "",
        "- leaves it out" if not step.required else "",
    ]
    if any(hints):
        write_notice(f"  ({clean_for_display('; '.join(hint for hint in hints if hint), one_line=True)})\n")


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
        raise FormError(f"{clean_for_display(text, one_line=True)!r} is none of them; write a number")
    return text
