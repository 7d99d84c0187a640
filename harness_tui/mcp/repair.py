"""Repair of results that an SDK would refuse as a whole for one bad part.

The SDK checks a result in one piece: a tool without a usable schema loses all tools of its server, a content block of
an unknown kind loses its neighbours. Here the parts are looked at one by one, before the SDK sees them: what has one
clear meaning is mended, a tool that has none is quarantined with its reason, a block that has none becomes text.

The one adaptation of the SDK's behaviour beside that: declared output schemas are withheld from it, because it throws a
result away that does not fit them. That a tool has one is remembered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, cast

from harness_tui.core.text import cut_end

Check: TypeAlias = Callable[[str, str, Mapping[str, Any]], None]
"""``(method, protocol, result)``: raises ``ValueError`` for a result that the protocol does not allow."""

MODERN_FROM: Final = "2026-07-28"
MAX_TOOLS: Final = 2_000
_SHOWN_CHARS: Final = 2_000
_CACHEABLE: Final = frozenset(
    {"tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"}
)
_BLOCK_FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("uri", "name"),
    "resource": (),
}


class Repairs:
    """The repairs of one connection. ``protocol`` is set when it is known; until then nothing is mended.

    Of the tools listed last: ``quarantined`` maps those left out to the reason, ``structured`` are those with an output
    schema, ``passed`` those handed on. With ``enabled`` false nothing is ever mended: what does not fit is an error.
    """

    def __init__(self, check: Check, *, enabled: bool = True) -> None:
        self._check = check
        self._enabled = enabled
        self.protocol: str | None = None
        self.quarantined: dict[str, str] = {}
        self.structured: set[str] = set()
        self.passed: list[str] = []

    def begin_listing(self) -> None:
        """Forget what the last listing of tools left behind."""
        self.quarantined.clear()
        self.structured.clear()
        self.passed.clear()

    def mend(self, method: str, result: dict[str, Any]) -> None:
        """Mend the ``result`` of a request for ``method``, in place."""
        if self.protocol is None:
            return
        if not self._enabled:
            self._note_structured(method, result)
            return
        if self.protocol >= MODERN_FROM:
            result.setdefault("resultType", "complete")
            if method in _CACHEABLE:
                result.setdefault("ttlMs", 0)
                result.setdefault("cacheScope", "private")
        match method:
            case "tools/list":
                self._mend_tools(result)
            case "tools/call" if result.get("resultType") in (None, "complete"):
                self._mend_content(result)
            case "tasks/get" if isinstance(result.get("result"), dict):
                self._mend_content(result["result"])
            case _:
                pass

    def _note_structured(self, method: str, result: dict[str, Any]) -> None:
        listed = result.get("tools") if method == "tools/list" else None
        for tool in cast(list[Any], listed) if isinstance(listed, list) else ():
            if isinstance(tool, dict) and isinstance(tool.get("name"), str) and tool.get("outputSchema") is not None:
                self.structured.add(tool["name"])

    # --- tools -----------------------------------------------------------------------------------

    def _mend_tools(self, result: dict[str, Any]) -> None:
        listed = result.get("tools")
        if not isinstance(listed, list):
            self.quarantined["tools/list"] = "the answer holds no list of tools"
            result["tools"] = []
            return
        kept: list[dict[str, Any]] = []
        for number, tool in enumerate(cast(list[Any], listed)):
            mended = self._mend_tool(tool, f"tool {number + 1}")
            if mended is not None:
                kept.append(mended)
        result["tools"] = kept

    def _mend_tool(self, tool: Any, label: str) -> dict[str, Any] | None:
        if not isinstance(tool, dict):
            self.quarantined[label] = "is not an object"
            return None
        fields = {key: value for key, value in cast(dict[str, Any], tool).items() if value is not None}
        name = fields.get("name")
        if not isinstance(name, str) or not name:
            self.quarantined[label] = "has no name"
            return None
        schema = fields.get("inputSchema")
        if not isinstance(schema, dict):
            kind = "none" if schema is None else type(schema).__name__
            self.quarantined[name] = f"its inputSchema must be an object, there is {kind}"
            return None
        if schema.get("type") is None:
            fields["inputSchema"] = {"type": "object", **{key: value for key, value in schema.items() if key != "type"}}
        elif schema["type"] != "object":
            self.quarantined[name] = f"its inputSchema is of type {schema['type']!r}, not object"
            return None
        if fields.pop("outputSchema", None) is not None:
            self.structured.add(name)
        reason = self._refusal("tools/list", {"tools": [fields]})
        if reason is not None:
            self.quarantined[name] = reason
            return None
        self.passed.append(name)
        return fields

    # --- content of results ----------------------------------------------------------------------

    def _mend_content(self, result: dict[str, Any]) -> None:
        content = result.get("content")
        if content is None:
            content = []
        if not isinstance(content, list):
            content = [content]
        blocks = [self._mend_block(block) for block in cast(list[Any], content)]
        result["content"] = blocks
        if not isinstance(result.get("isError", False), bool):
            result["isError"] = bool(result["isError"])
        if "structuredContent" in result and self._structured_must_be_object():
            structured = result["structuredContent"]
            if not isinstance(structured, dict):
                del result["structuredContent"]
                if not blocks and structured is not None:
                    result["content"] = [{"type": "text", "text": _shown(structured)}]

    def _structured_must_be_object(self) -> bool:
        return self.protocol is not None and self.protocol < MODERN_FROM

    def _mend_block(self, block: Any) -> dict[str, Any]:
        if isinstance(block, str):
            return {"type": "text", "text": block}
        if not isinstance(block, dict):
            return {"type": "text", "text": _shown(block)}
        fields = {key: value for key, value in cast(dict[str, Any], block).items() if value is not None}
        kind = fields.get("type")
        needed = _BLOCK_FIELDS.get(kind) if isinstance(kind, str) else None
        if needed is None or not all(isinstance(fields.get(key), str) for key in needed):
            return {"type": "text", "text": f"[content of unknown form: {_shown(block)}]"}
        if kind != "resource" and fields.keys() <= {"type", *needed}:
            return fields  # whole as it is: large blocks are not checked twice
        if self._refusal("tools/call", {"content": [fields]}) is None:
            return fields
        bare = {"type": kind} | {key: fields[key] for key in needed}
        if needed and self._refusal("tools/call", {"content": [bare]}) is None:
            return bare
        return {"type": "text", "text": f"[content of unknown form: {_shown(block)}]"}

    def _refusal(self, method: str, result: dict[str, Any]) -> str | None:
        """Return why the protocol does not allow ``result``, in one line; ``None`` when it does."""
        if self.protocol is None:
            return None
        envelope = {"resultType": "complete"} if self.protocol >= MODERN_FROM else {}
        if envelope and method in _CACHEABLE:
            envelope |= {"ttlMs": 0, "cacheScope": "private"}
        try:
            self._check(method, self.protocol, result | envelope)
        except ValueError as error:
            return refusal_in_one_line(error)
        except KeyError:  # a revision without this method has nothing to say of its results
            return None
        return None


def refusal_in_one_line(error: ValueError) -> str:
    """Return the first finding of a validation error: where, and what."""
    listed = getattr(error, "errors", None)
    findings = cast(list[dict[str, Any]], listed()) if callable(listed) else []
    if not findings:
        return cut_end(" ".join(str(error).split()), 200)
    where = ".".join(str(part) for part in findings[0].get("loc", ()))
    return cut_end(f"{where}: {findings[0].get('msg', 'is not valid')}", 200)


def _shown(value: Any) -> str:
    return cut_end(json.dumps(value, ensure_ascii=False, default=str), _SHOWN_CHARS)
