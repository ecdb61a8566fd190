"""The A2A v1.0 data model: messages, parts, artifacts, tasks, events and push notification configs (section 4.1, 4.3).

Each class is the message of that name in a2a.proto; what a field means is told there. Times are milliseconds
since 1970.
"""

from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from herald.protocol.codec import print_base64
from herald.protocol.protojson import (
    Bytes,
    FilledText,
    Flag,
    Json,
    Many,
    Model,
    Moment,
    Some,
    Struct,
    Text,
    one_of,
)
from herald.protocol.states import TaskState

State = Annotated[TaskState, one_of(TaskState)]


class Role(StrEnum):
    """Who sent a message."""

    USER = "ROLE_USER"
    AGENT = "ROLE_AGENT"


class Part(Model):
    """A piece of content: exactly one of ``text``, ``raw``, ``url``, ``data``. ``kind`` tells which.

    ``data`` may be any JSON value. null is one: ``Part(data=None)`` is a data part, and absent data isn't.
    """

    oneof: ClassVar[tuple[str, ...]] = ("text", "raw", "url", "data")

    text: Text | None = None
    raw: Bytes | None = None
    url: Text | None = None
    data: Json = None
    metadata: Struct | None = None
    filename: Text = ""
    media_type: Text = ""

    @property
    def kind(self) -> Literal["text", "raw", "url", "data"]:
        """Which content the part has."""
        if self.text is not None:
            return "text"
        if self.raw is not None:
            return "raw"
        return "data" if self.url is None else "url"

    def wire(self) -> dict[str, Any]:
        """The part as ProtoJSON: its one content, even when that is null or empty, then what describes it."""
        kind = self.kind
        value = self.__dict__[kind]
        out: dict[str, Any] = {kind: print_base64(value) if kind == "raw" else value}
        if self.metadata is not None:
            out["metadata"] = self.metadata
        if self.filename:
            out["filename"] = self.filename
        if self.media_type:
            out["mediaType"] = self.media_type
        return out

    @classmethod
    def _without_nulls(cls, value: dict[str, Any]) -> dict[str, Any]:
        """null is a value for ``data`` alone, and not where a client writes out all four and fills in another."""
        given = super()._without_nulls(value)
        if "data" in value and not any(name in given for name in cls.oneof):
            given["data"] = value["data"]
        return given


class Message(Model):
    """One unit of communication between client and agent."""

    message_id: FilledText
    context_id: Text = ""
    task_id: Text = ""
    role: Annotated[Role, one_of(Role)]
    parts: Some[Part]
    metadata: Struct | None = None
    extensions: Many[Text] = Field(default_factory=list)
    reference_task_ids: Many[Text] = Field(default_factory=list)


class Artifact(Model):
    """An output of a task."""

    artifact_id: FilledText
    name: Text = ""
    description: Text = ""
    parts: Some[Part]
    metadata: Struct | None = None
    extensions: Many[Text] = Field(default_factory=list)


class TaskStatus(Model):
    """The state of a task, with a message and the time when it was recorded."""

    state: State
    message: Message | None = None
    timestamp: Moment | None = None


class Task(Model):
    """A unit of work: its status, what it gave, and the messages it took."""

    id: FilledText
    context_id: Text = ""
    status: TaskStatus
    artifacts: Many[Artifact] = Field(default_factory=list)
    history: Many[Message] = Field(default_factory=list)
    metadata: Struct | None = None


class TaskStatusUpdateEvent(Model):
    """A task's status has changed."""

    task_id: FilledText
    context_id: FilledText
    status: TaskStatus
    metadata: Struct | None = None


class TaskArtifactUpdateEvent(Model):
    """A task has given an artifact, or a chunk of one."""

    task_id: FilledText
    context_id: FilledText
    artifact: Artifact
    append: Flag = False
    last_chunk: Flag = False
    metadata: Struct | None = None


class StreamResponse(Model):
    """What a stream and a webhook carry: exactly one of the four."""

    oneof: ClassVar[tuple[str, ...]] = ("task", "message", "status_update", "artifact_update")

    task: Task | None = None
    message: Message | None = None
    status_update: TaskStatusUpdateEvent | None = None
    artifact_update: TaskArtifactUpdateEvent | None = None


class SendMessageResponse(Model):
    """What SendMessage returns: a task, or a message that needs none."""

    oneof: ClassVar[tuple[str, ...]] = ("task", "message")

    task: Task | None = None
    message: Message | None = None


class AuthenticationInfo(Model):
    """What a receiver wants to see in the Authorization header. The credentials stay out of representations."""

    scheme: FilledText
    credentials: Text = Field(default="", repr=False)


class TaskPushNotificationConfig(Model):
    """Where, and with which secrets, a client wants to hear of a task. The token stays out of representations."""

    tenant: Text = ""
    id: Text = ""
    task_id: Text = ""
    url: FilledText
    token: Text = Field(default="", repr=False)
    authentication: AuthenticationInfo | None = None
