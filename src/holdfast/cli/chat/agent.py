"""The agent: a model, the tools of a memory, and the loop between them.

Messages are stored as a session, so that later sessions can find them. A failing store never ends the chat,
and a failing or interrupted chat loses no memory. Knows no vendor.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from holdfast.agents.tools import call as call_tool
from holdfast.engine.memories import Memories
from holdfast.engine.sessions import NewMessage
from holdfast.errors import HoldfastError, Unavailable
from holdfast.language.model_call import ModelTrouble
from holdfast.models.chat import Talk, ToolCall, ToolResult

if TYPE_CHECKING:
    from holdfast.cli.chat import StandardTerminal

_MOST_ROUNDS = 25  # tool rounds per user message; a model that wants more is stuck


class ChatAgent:
    """One session. `record` false: messages are not stored."""

    def __init__(
        self, memories: Memories, talk: Talk, screen: "StandardTerminal", *, session: str, record: bool = True
    ) -> None:
        self._memories = memories.speaking_as("assistant", session=session)
        self._talk = talk
        self._screen = screen
        self._session = session
        self._record = record
        self.tokens = {"input_tokens": 0, "output_tokens": 0}

    def turn(self, text: str) -> ModelTrouble | None:
        """Answers a message; whatever happens, the next turn can begin.

        Returns the error of the model, if it did not finish its answer. A KeyboardInterrupt ends the answer,
        not the chat.
        """
        failed: ModelTrouble | None = None
        answers: list[str] = []  # one a round; the last may be unfinished
        self._talk.hear(text)
        try:
            self._answer(answers)
        except KeyboardInterrupt:
            self._screen.note("stopped")
            self._talk.break_off(answers[-1])
        except ModelTrouble as trouble:
            failed = trouble
            if len(answers) == 1 and not answers[0]:  # nothing came of it: it can be said again
                self._talk.take_back()
                return failed
            self._talk.break_off(answers[-1])
        self._keep(text, "\n\n".join(filter(None, map(str.strip, answers))))
        return failed

    def close(
        self,
        capture: Callable[[str], object] = lambda session: None,
        end_later: Callable[[], None] = lambda: None,
    ) -> None:
        """Ends the session, or notes its end; `capture` reads it if messages are stored."""

        def end() -> None:
            try:
                self._memories.close_session(self._session, usage=self.tokens)
            except Unavailable:
                end_later()
                raise
            if self._record:
                capture(self._session)

        self._unharmed("the session was not closed", end)

    def _answer(self, answers: list[str]) -> None:
        """Asks the model, runs its tool calls, and asks again until there are none."""

        def show(piece: str) -> None:
            answers[-1] += piece
            self._screen.show(piece)

        for _ in range(_MOST_ROUNDS):
            answers.append("")
            spoken = self._talk.answer(show)
            self.tokens["input_tokens"] += spoken.input_tokens
            self.tokens["output_tokens"] += spoken.output_tokens
            if spoken.cut_short:
                self._screen.note(spoken.cut_short)
            if not spoken.calls:
                return
            self._talk.hand_back([self._called(call) for call in spoken.calls])
        self._screen.note(f"stopped after {_MOST_ROUNDS} rounds of tool calls")
        self._talk.break_off()

    def _called(self, call: ToolCall) -> ToolResult:
        if call.arguments is None:
            self._screen.note(f"{call.name}: the model sent invalid arguments")
            return ToolResult(call, "The arguments are not a JSON object: send them again.", failed=True)
        answer = call_tool(self._memories, call.name, call.arguments)
        about = call.arguments.get("filename") or call.arguments.get("query") or ""
        self._screen.note(f"{call.name} {about}".strip() + (f": {answer.text}" if answer.failed else ""))
        return ToolResult(call, answer.text, answer.failed)

    def _keep(self, asked: str, answered: str) -> None:
        if not self._record:
            return
        both = [NewMessage(role="user", content=asked), NewMessage(role="assistant", content=answered)]

        def keep() -> None:
            self._memories.say_all(self._session, [each for each in both if each.content])

        self._unharmed("the messages were not stored", keep)

    def _unharmed(self, otherwise: str, work: Callable[[], object]) -> None:
        try:
            work()
        except HoldfastError as trouble:
            self._screen.note(f"{otherwise}: {trouble}")
