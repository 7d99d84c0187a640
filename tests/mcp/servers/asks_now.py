"""A server of the present revision that asks in the answer of a call, the second time about the first answer."""

from typing import Annotated

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve, Sample
from mcp_types import CreateMessageResult, ElicitRequest, InputRequiredResult, SamplingMessage, TextContent
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


class Word(BaseModel):
    word: str


@server.tool()
async def forever(ctx: Context) -> InputRequiredResult:
    """Ask again whatever is answered."""
    form = {"mode": "form", "message": "And?", "requestedSchema": Word.model_json_schema()}
    asked = ElicitRequest.model_validate({"method": "elicitation/create", "params": form})
    return InputRequiredResult(input_requests={"again": asked}, request_state="more")


def model() -> Sample:
    text = TextContent(type="text", text="Sum it up.")
    return Sample([SamplingMessage(role="user", content=text)], max_tokens=50, system_prompt="Be brief.")


@server.tool()
def summary(answer: Annotated[CreateMessageResult, Resolve(model)]) -> str:
    """Let the model sum something up."""
    return f"{answer.content.text} ({answer.model}, {answer.stop_reason})"


server.run()
