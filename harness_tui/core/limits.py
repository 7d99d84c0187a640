"""Limits at entry, in one place: design values that every package obeys.

Sizes are bytes, times are seconds, unless the name says otherwise; those of compaction are tokens.
"""

from __future__ import annotations

from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB

TOOL_OUTPUT_BYTES: Final = 50 * KIB
TOOL_OUTPUT_LINES: Final = 2_000
SHELL_PART_CHARS: Final = 30_000
MCP_MESSAGE_BYTES: Final = 16 * MIB
STDERR_RING_BYTES: Final = 64 * KIB
STDERR_TAIL_LINES: Final = 20

CONFIG_BYTES: Final = MIB
FRONT_MATTER_BYTES: Final = 16 * KIB
TEMPLATE_BYTES: Final = 256 * KIB
AGENTS_MD_BYTES: Final = 64 * KIB
ATTACHMENT_BYTES: Final = 256 * KIB
ATTACHMENT_LINES: Final = 2_000
DIRECTORY_ENTRIES: Final = 200
READ_BYTES: Final = 20 * MIB
LINE_CHARS: Final = 2_000

EVENT_MERGE_S: Final = 0.25
RAW_SUBSCRIPTION_EVENTS: Final = 4_096
MERGED_SUBSCRIPTION_EVENTS: Final = 65_536

WEBFETCH_BYTES: Final = 5 * MIB
WEBFETCH_S: Final = 30.0

BASH_TIMEOUT_S: Final = 120.0
BASH_DRAIN_S: Final = 0.25
STOP_GRACE_S: Final = 2.0
MODEL_SILENCE_S: Final = 20.0

STEP_LIMIT: Final = 100
DOOM_LOOP_REPEATS: Final = 3
TOOL_NAME_CHARS: Final = 64
TOOL_DESCRIPTION_CHARS: Final = 4_000

SUBAGENTS_AT_ONCE: Final = 4
HOOK_S: Final = 30.0
COMPACTION_RESERVE: Final = 20_000
COMPACTION_KEPT: Final = 8_000
