"""What an agent's code imports: an ``Agent`` runs one turn of a task and reports through its ``TaskContext``.

Example:
    >>> class Greeter(Agent):
    ...     async def run(self, task: TaskContext) -> None:
    ...         await task.working("Looking for the right words")
    ...         await task.artifact(f"Hello, {task.text}!", name="greeting")
    ...         await task.complete()
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import RLock
from typing import Any, Protocol

from herald.ports import Ids
from herald.protocol import codec, media_types
from herald.protocol.codec import JsonObject
from herald.protocol.errors import A2AError
from herald.protocol.model import Artifact, Message, Part, Role, Task, TaskArtifactUpdateEvent
from herald.protocol.states import ENDS_TURN, TaskState

__all__ = [
    "Agent",
    "AgentError",
    "Artifact",
    "Checkpoint",
    "Content",
    "Incoming",
    "Message",
    "Part",
    "Task",
    "TaskContext",
    "TaskEnded",
    "checkpoint",
    "data",
    "raw",
    "text",
    "url",
]

Content = str | Part | Sequence[str | Part]
"""What a report says: a string, a part, or several of them.

Example:
    >>> said: Content = ["The numbers are in:", data({"revenue": 12})]
"""

MAX_CHECKPOINT_BYTES = 1_000_000


class AgentError(Exception):
    """A mistake in the agent's code, such as a report after ``complete()``; the message names it and the way out.

    Left uncaught, it ends the task as FAILED with a message that tells the client nothing of the code.

    Example:
        >>> try:
        ...     task.artifact([])
        ... except AgentError as error:
        ...     print(error)
        artifact(): parts must not be empty
    """


class TaskEnded(Exception):
    """The task was ended from outside (canceled, past its deadline), or another run took this one's place.

    Any report raises it then. Let it pass: the run stops quietly and nothing more is stored.

    Example:
        >>> class Careful(Agent):
        ...     def run(self, task: TaskContext) -> None:
        ...         try:
        ...             task.complete("Done")
        ...         except TaskEnded:
        ...             print("free what the run holds")
        ...             raise
    """


def text(content: str, *, media_type: str | None = None, metadata: Mapping[str, Any] | None = None) -> Part:
    """A text part.

    Example:
        >>> text("# Report", media_type="text/markdown").text
        '# Report'
    """
    return _part({"text": content}, media_type=media_type, metadata=metadata)


def data(content: Any, *, media_type: str | None = None, metadata: Mapping[str, Any] | None = None) -> Part:
    """A part of structured data: any JSON value.

    Example:
        >>> data({"revenue": 12}).data
        {'revenue': 12}
    """
    return _part({"data": content}, media_type=media_type, metadata=metadata)


def raw(
    content: bytes, media_type: str, filename: str | None = None, *, metadata: Mapping[str, Any] | None = None
) -> Part:
    """A file part that carries its bytes.

    Example:
        >>> raw(b"<svg/>", "image/svg+xml", "chart.svg").filename
        'chart.svg'
    """
    return _part({"raw": content}, media_type=media_type, filename=filename, metadata=metadata)


def url(
    address: str,
    media_type: str | None = None,
    filename: str | None = None,
    *,
    metadata: Mapping[str, Any] | None = None,
) -> Part:
    """A file part that says where the file lies.

    Example:
        >>> url("https://example.com/chart.svg", "image/svg+xml").url
        'https://example.com/chart.svg'
    """
    return _part({"url": address}, media_type=media_type, filename=filename, metadata=metadata)


def _part(content: JsonObject, **given: Any) -> Part:
    with _named(f"{next(iter(content))}()"):
        return Part.parse(content | {name: value for name, value in given.items() if value is not None})


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where to go on from; made by ``checkpoint()``. ``text`` is JSON.

    Example:
        >>> checkpoint([1, 2]).text
        '[1,2]'
    """

    text: str


def checkpoint(data: Any) -> Checkpoint:
    """Return this from ``run`` to be run again in a new call, with ``task.checkpoint`` equal to ``data``.

    ``data`` is any JSON value of at most 1 MB. So work may take longer than one Lambda call, and a crash costs no more
    than what came after the last checkpoint.

    Example:
        >>> class Counter(Agent):
        ...     def run(self, task: TaskContext) -> Checkpoint | None:
        ...         done = task.checkpoint or 0
        ...         if done < 3:
        ...             return checkpoint(done + 1)
        ...         task.complete("Counted to three")

    Raises:
        AgentError: ``data`` isn't JSON, or is too large.
    """
    stored = _json(data, "checkpoint()")
    if len(stored.encode()) > MAX_CHECKPOINT_BYTES:
        raise AgentError(f"checkpoint(): {len(stored):,} bytes of JSON are more than {MAX_CHECKPOINT_BYTES:,}")
    return Checkpoint(stored)


class Agent(ABC):
    """What an adopter writes. One instance is made per process, without arguments, and serves one turn after another.

    Example:
        >>> class Echo(Agent):
        ...     async def run(self, task: TaskContext) -> None:
        ...         await task.complete(task.text)
    """

    @abstractmethod
    def run(self, task: TaskContext) -> Awaitable[Checkpoint | None] | Checkpoint | None:
        """Run one turn: ``async def`` or plain ``def``.

        A run ends with one of ``complete``, ``fail``, ``reject``, ``require_input``, ``require_auth``, or returns
        ``checkpoint(…)`` to be called again. A run may be repeated after a crash, so what it does outside should bear
        being done twice. An exception ends the task as FAILED; its traceback goes to the log, never to the client.

        Example:
            >>> class Shy(Agent):
            ...     def run(self, task: TaskContext) -> None:
            ...         task.reject("I don't talk to strangers")
        """


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message from the client, with what its request said beside it.

    Attributes:
        message: as the client sent it, with the task's ids filled in.
        metadata: of the request; the message's own is in ``message.metadata``.
        accepted_output_modes: media types that the client takes; empty when it didn't say.
        extensions: URIs of the extensions in use: the client named them, and the Agent Card has them.

    Example:
        >>> from herald.protocol.model import Role
        >>> Incoming(Message(message_id="m2", role=Role.USER, parts=[text("The last quarter only")])).text
        'The last quarter only'
    """

    message: Message
    metadata: Mapping[str, Any] = field(default_factory=dict)
    accepted_output_modes: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The message's text parts, joined by line feeds; "" when it has none.

        Example:
            >>> [said.text for said in task.new_messages()]
            []
        """
        return "\n".join(part.text for part in self.message.parts if part.text is not None)

    @property
    def reference_task_ids(self) -> tuple[str, ...]:
        """Ids of other tasks that the message refers to: tasks of the same client's, see ``TaskContext.referenced``.

        Example:
            >>> [said.reference_task_ids for said in task.new_messages()]
            []
        """
        return tuple(self.message.reference_task_ids)

    def accepts(self, media_type: str) -> bool:
        """Whether the client takes this media type: it said so, said a range like ``text/*`` that holds it, or didn't
        say. Case and parameters don't matter.

        Example:
            >>> [said.accepts("text/markdown") for said in task.new_messages()]
            []
        """
        wanted = {found for mode in self.accepted_output_modes if (found := media_types.media_range(mode))}
        return not self.accepted_output_modes or media_types.is_within(media_types.essence(media_type) or "", wanted)


@dataclass(frozen=True, slots=True)
class Turn:
    """The facts of a run, read from the log when it opened."""

    task_id: str
    context_id: str
    number: int  # of the turn's message in the log
    opening: Incoming
    history: tuple[Message, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    step: int = 0
    attempt: int = 1
    checkpoint: Any = None
    state: TaskState = TaskState.SUBMITTED


class Reports(Protocol):
    """Where a run's reports are stored, and what it asks of the store. Each report is stored when its call returns.

    Raises TaskEnded when the run may write no more, and AgentError when a report is too large.
    """

    def status(self, state: TaskState, message: JsonObject | None, metadata: JsonObject | None) -> None: ...

    def artifact(self, update: JsonObject) -> None: ...

    def ended(self) -> bool:
        """True when the task has ended or gone on without this run."""

    def new_messages(self) -> list[Incoming]:
        """The client's messages that this turn hasn't been given yet; from then on it has."""

    def task(self, task_id: str) -> Task | None:
        """Another task of the same owner; None when there is none."""


class Stored:
    """A report that is stored. ``await`` it or don't: it is done already.

    Example:
        >>> isinstance(task.working(), Stored)
        True
    """

    def __await__(self) -> Generator[None, None, None]:
        yield from ()


class StoredArtifact(str):
    """The id of an artifact that is stored. ``await`` it or don't.

    Example:
        >>> task.artifact("a chart", artifact_id="chart")
        'chart'
    """

    __slots__ = ()

    def __await__(self) -> Generator[None, None, str]:
        yield from ()
        return str(self)


class TaskContext:
    """One turn of one task: what the client said, and the reports that reach the client.

    Each report is stored when the call returns, so ``await task.working()`` and plain ``task.working()`` are the same.
    Reports may come from several threads.

    Example:
        >>> task.text
        'Ada'
        >>> task.working("Thinking") and None
    """

    def __init__(self, turn: Turn, reports: Reports, ids: Ids, seconds_left: Callable[[], float]) -> None:
        self._turn = turn
        self._reports = reports
        self._ids = ids
        self._seconds_left = seconds_left
        self._lock = RLock()
        self._state = turn.state
        self._known = {artifact.artifact_id for artifact in turn.artifacts}
        self._closed: set[str] = set()
        self._unnamed = 0

    @property
    def message(self) -> Message:
        """The message that opened this turn.

        Example:
            >>> task.message.parts[0].text
            'Ada'
        """
        return self._turn.opening.message

    @property
    def parts(self) -> list[Part]:
        """The parts of the message.

        Example:
            >>> [part.text for part in task.parts]
            ['Ada']
        """
        return list(self.message.parts)

    @property
    def text(self) -> str:
        """The message's text parts, joined by line feeds; "" when it has none.

        Example:
            >>> task.text
            'Ada'
        """
        return self._turn.opening.text

    @property
    def history(self) -> list[Message]:
        """The messages of earlier turns, the agent's own among them, oldest first. The same in all runs of a turn.

        Example:
            >>> task.history
            []
        """
        return list(self._turn.history)

    @property
    def artifacts(self) -> list[Artifact]:
        """The task's artifacts as they stood when this run began.

        Example:
            >>> task.artifacts
            []
        """
        return list(self._turn.artifacts)

    @property
    def task_id(self) -> str:
        """The task's id.

        Example:
            >>> task.task_id
            'task-1'
        """
        return self._turn.task_id

    @property
    def context_id(self) -> str:
        """The id that groups the tasks of one conversation.

        Example:
            >>> task.context_id
            'context-1'
        """
        return self._turn.context_id

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The metadata of the request that opened this turn; the message's own is in ``task.message.metadata``.

        Example:
            >>> task.metadata.get("locale", "en")
            'en'
        """
        return self._turn.opening.metadata

    @property
    def accepted_output_modes(self) -> tuple[str, ...]:
        """The media types that the client takes; empty when it didn't say.

        Example:
            >>> task.accepted_output_modes
            ()
        """
        return self._turn.opening.accepted_output_modes

    def accepts(self, media_type: str) -> bool:
        """Whether the client takes this media type: it said so, said a range like ``text/*`` that holds it, or didn't
        say. Case and parameters don't matter.

        Example:
            >>> task.accepts("text/markdown")
            True
        """
        return self._turn.opening.accepts(media_type)

    @property
    def extensions(self) -> tuple[str, ...]:
        """URIs of the extensions in use in this turn: the client named them, and the Agent Card has them.

        Example:
            >>> "https://example.com/extensions/citations/v1" in task.extensions
            False
        """
        return self._turn.opening.extensions

    @property
    def reference_task_ids(self) -> tuple[str, ...]:
        """Ids of other tasks that the message refers to. When it came, each was a task of the same client's.

        Example:
            >>> [task.referenced(task_id) for task_id in task.reference_task_ids]
            []
        """
        return self._turn.opening.reference_task_ids

    def referenced(self, task_id: str) -> Task | None:
        """Another task of the same client's, as it stands now; None when there is none (any more). Costs a read.

        Example:
            >>> task.referenced("nzxxiidumfzwwidxnf2gqidunb") is None
            True
        """
        return self._reports.task(task_id)

    def new_messages(self) -> list[Incoming]:
        """What the client has said since this turn began, oldest first; each message is handed out once.

        Ask between steps: it costs a read, and never waits. What was handed out counts as read once the turn has ended
        or a checkpoint is stored; after a crash it is handed out again. A message that is unread when the turn ends by
        ``complete``, ``require_input`` or ``require_auth`` opens a turn of its own.

        Example:
            >>> [said.text for said in task.new_messages()]
            []

        Raises:
            AgentError: this run has ended its turn already.
            TaskEnded: the task has ended, or another run has taken over.
        """
        with self._lock:
            self._check_open("new_messages")
            return self._reports.new_messages()

    @property
    def turn(self) -> int:
        """The number that tells this turn from the task's other turns: 0 for the first, then growing.

        Example:
            >>> task.turn
            0
        """
        return self._turn.number

    @property
    def step(self) -> int:
        """How many checkpoints this turn has passed.

        Example:
            >>> task.step
            0
        """
        return self._turn.step

    @property
    def attempt(self) -> int:
        """1 for the first run since the turn began or passed its last checkpoint; more after crashes.

        Example:
            >>> task.attempt
            1
        """
        return self._turn.attempt

    @property
    def checkpoint(self) -> Any:
        """What the last ``checkpoint(…)`` of this turn held; None when there was none.

        Example:
            >>> task.checkpoint is None
            True
        """
        return self._turn.checkpoint

    def seconds_left(self) -> float:
        """How long this call may still run; return a ``checkpoint(…)`` in time.

        Example:
            >>> task.seconds_left() > 60
            True
        """
        return self._seconds_left()

    def canceled(self) -> bool:
        """True when the task was canceled or went on without this run. Costs a read: ask between steps.

        Example:
            >>> task.canceled()
            False
        """
        return self._reports.ended()

    def working(self, message: Content | Message | None = None, *, metadata: Mapping[str, Any] | None = None) -> Stored:
        """Report progress: state WORKING.

        ``metadata`` of this and the other states is merged into the task's.

        Example:
            >>> task.working("Read 3 of 10 pages", metadata={"pages": 3}) and None

        Raises:
            AgentError: this run has ended its turn already, or the message is empty or too large.
            TaskEnded: the task has ended, or another run has taken over.
        """
        return self._status("working", TaskState.WORKING, message, metadata)

    def artifact(
        self,
        parts: Content,
        *,
        artifact_id: str | None = None,
        name: str | None = None,
        description: str | None = None,
        append: bool = False,
        last_chunk: bool = False,
        metadata: Mapping[str, Any] | None = None,
    ) -> StoredArtifact:
        """Deliver an artifact, or with ``append`` the next chunk of one. Returns its id.

        Without ``append`` an artifact of the same id is replaced. Without ``artifact_id`` one is made that is the same
        when the run is repeated after a crash, so that nothing is delivered under two ids.

        Example:
            >>> report = task.artifact("# Report\\n", name="report.md")
            >>> task.artifact("The end.\\n", artifact_id=report, append=True, last_chunk=True) and None

        Raises:
            AgentError: no parts, ``append`` to an artifact that doesn't exist or is complete, the task would grow
                beyond 5 MB, or this run has ended its turn already.
            TaskEnded: the task has ended, or another run has taken over.
        """
        with self._lock:
            self._check_open("artifact")
            if append and artifact_id is None:
                raise AgentError("artifact(): append needs the artifact_id that an earlier artifact() returned")
            if append and artifact_id not in self._known:
                raise AgentError(f"artifact(): append to {artifact_id!r}, which this task doesn't have")
            if append and artifact_id in self._closed:
                raise AgentError(f"artifact(): append to {artifact_id!r} after its last_chunk")
            if artifact_id == "":
                raise AgentError("artifact(): artifact_id must not be empty")
            chosen = artifact_id if artifact_id is not None else f"artifact-{self.turn}-{self.step}-{self._unnamed}"
            artifact = {
                "artifactId": str(chosen),
                "name": name,
                "description": description,
                "parts": _parts(parts, "artifact()"),
                "metadata": None if metadata is None else dict(metadata),
            }
            with _named("artifact()"):
                update = TaskArtifactUpdateEvent.parse(
                    {
                        "taskId": self.task_id,
                        "contextId": self.context_id,
                        "artifact": artifact,
                        "append": append,
                        "lastChunk": last_chunk,
                    }
                ).wire()
            self._reports.artifact(update)
            self._unnamed += artifact_id is None
            self._known.add(chosen)
            if last_chunk:
                self._closed.add(chosen)
            else:
                self._closed.discard(chosen)
            return StoredArtifact(chosen)

    def complete(
        self, message: Content | Message | None = None, *, metadata: Mapping[str, Any] | None = None
    ) -> Stored:
        """End the task: COMPLETED. If the client has said something that no run has read, it is heard first.

        Then the message of this report is stored with state WORKING, and what the client said opens the next turn.

        Example:
            >>> task.complete("Here you are") and None

        Raises:
            AgentError, TaskEnded: as ``working``.
        """
        return self._status("complete", TaskState.COMPLETED, message, metadata)

    def fail(self, message: Content | Message, *, metadata: Mapping[str, Any] | None = None) -> Stored:
        """End the task: FAILED. The message is for the client.

        Example:
            >>> task.fail("The statement has no row for 2024") and None

        Raises:
            AgentError, TaskEnded: as ``working``.
        """
        return self._status("fail", TaskState.FAILED, message, metadata)

    def reject(self, message: Content | Message, *, metadata: Mapping[str, Any] | None = None) -> Stored:
        """End the task: REJECTED, for what this agent won't do. See ``reject_output_modes`` for what it can't make.

        Example:
            >>> task.reject("Only CSV files are read") and None

        Raises:
            AgentError, TaskEnded: as ``working``.
        """
        return self._status("reject", TaskState.REJECTED, message, metadata)

    def reject_output_modes(self, *offered: str) -> Stored:
        """End the task: REJECTED, since the client takes none of the media types that are ``offered``.

        The client is told which those are, and which it asked for.

        Example:
            >>> if not task.accepts("text/markdown"):
            ...     task.reject_output_modes("text/markdown")

        Raises:
            AgentError, TaskEnded: as ``working``.
        """
        accepted = ", ".join(self.accepted_output_modes) or "anything"
        return self.reject(
            f"This agent answers in {' or '.join(offered)}, and acceptedOutputModes asks for {accepted}: "
            "send the message again with a media type that the agent has, or without acceptedOutputModes."
        )

    def require_input(self, message: Content | Message, *, metadata: Mapping[str, Any] | None = None) -> Stored:
        """End the turn: INPUT_REQUIRED. The client's answer opens the next turn, in a new run.

        If the client has said something that no run has read, the next turn is that, as with ``complete``.

        Example:
            >>> task.require_input("For which entity?") and None

        Raises:
            AgentError, TaskEnded: as ``working``.
        """
        return self._status("require_input", TaskState.INPUT_REQUIRED, message, metadata)

    def require_auth(self, message: Content | Message, *, metadata: Mapping[str, Any] | None = None) -> Stored:
        """End the turn: AUTH_REQUIRED. The client comes back with a follow-up message when it is authorized.

        Example:
            >>> task.require_auth("Please grant access to the ledger") and None

        Raises:
            AgentError, TaskEnded: as ``working``.
        """
        return self._status("require_auth", TaskState.AUTH_REQUIRED, message, metadata)

    def _status(
        self,
        report: str,
        state: TaskState,
        message: Content | Message | None,
        metadata: Mapping[str, Any] | None,
    ) -> Stored:
        with self._lock:
            self._check_open(report)
            said = None if message is None else self._said(message, f"{report}()")
            told = None if metadata is None else _object(metadata, f"{report}(): metadata")
            self._reports.status(state, said, told)
            self._state = state
            return Stored()

    def _check_open(self, report: str) -> None:
        if self._state in ENDS_TURN:
            raise AgentError(f"{report}(): this run has already ended its turn with {self._state}; return after it")

    def _said(self, message: Content | Message, where: str) -> JsonObject:
        """A message of the agent's, whatever ids and role it was given."""
        given: JsonObject = {"parts": _parts(message, where)} if not isinstance(message, Message) else message.wire()
        own = {"contextId": self.context_id, "taskId": self.task_id, "role": Role.AGENT.value}
        with _named(where):
            return Message.parse({"messageId": self._ids.token()} | given | own).wire()


def _parts(content: Content, where: str) -> list[Part]:
    several = [content] if isinstance(content, str | Part) else list(content)
    if not several:
        raise AgentError(f"{where}: parts must not be empty")
    for item in several:
        if not isinstance(item, str | Part):
            raise AgentError(
                f"{where}: a part is a string or a Part, not {type(item).__name__}; "
                "make one with text(), data(), raw() or url()"
            )
    return [text(item) if isinstance(item, str) else item for item in several]


def _object(value: Mapping[str, Any], where: str) -> JsonObject:
    _json(value := dict(value), where)
    return value


def _json(value: Any, where: str) -> str:
    try:
        return codec.dumps(value)
    except (TypeError, ValueError) as error:
        raise AgentError(f"{where}: must be JSON ({error})") from error


@contextmanager
def _named(where: str) -> Iterator[None]:
    try:
        yield
    except A2AError as error:
        raise AgentError(f"{where}: {error}") from error
