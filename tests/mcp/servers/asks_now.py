"""A server of the present revision that asks in the answer of a call, the second time about the first answer."""

from typing import Annotated

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
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


server.run()
