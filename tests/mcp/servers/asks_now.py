"""A server of the present revision that asks in the answer of a call, the second time about the first answer."""

from typing import Annotated

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve, Sample
from mcp_types import CreateMessageResult, SamplingMessage, TextContent
from pydantic import BaseModel, Field

server = MCPServer("asks", log_level="ERROR")


class Person(BaseModel):
    name: str
    age: int = Field(default=30, ge=0)


class Colour(BaseModel):
    colour: str


def who() -> Elicit[Person]:
    return Elicit("Who are you?", Person)


def which(person: Annotated[Person, Resolve(who)]) -> Elicit[Colour]:
    return Elicit(f"Which colour, {person.name}?", Colour)


@server.tool()
def paint(person: Annotated[Person, Resolve(who)], colour: Annotated[Colour, Resolve(which)]) -> str:
    """Paint for somebody."""
    return f"{colour.colour} for {person.name}, {person.age}"


def model() -> Sample:
    text = TextContent(type="text", text="Sum it up.")
    return Sample([SamplingMessage(role="user", content=text)], max_tokens=50, system_prompt="Be brief.")


@server.tool()
def summary(answer: Annotated[CreateMessageResult, Resolve(model)]) -> str:
    """Let the model sum something up."""
    return f"{answer.content.text} ({answer.model}, {answer.stop_reason})"


server.run()
