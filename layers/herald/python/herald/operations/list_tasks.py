"""ListTasks (A2A specification section 3.1.4): the caller's tasks, the newest status first, page by page.

A task's position is the time of its status, then its id; lists go from the greatest position to the least. An index
finds candidates, and the log of each, read consistently, says what the task is by now and where it stands. The index
may be behind the logs in any way, so a page shows a task only if its position by the log lies below where the page
began. Positions never go back, and a page ends at or below the positions of all that it has shown: so each task comes
at most once in a walk, in the order of the timestamps that are shown, whatever becomes of it meanwhile and whatever the
index says. A task that changes its status while a walk goes on moves above the place that the walk has come to, and may
be missing from the rest of it; so may one that changed right before, when the index doesn't know of it yet. What has
stood still for longer is never skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass

from herald.operations import answer, view
from herald.operations.call import Call
from herald.operations.new_task import MAX_CONTEXT_ID
from herald.operations.readers import in_order
from herald.operations.walk import Walk
from herald.ports import Listing, Sealer, TaskIndex, TaskLog
from herald.protocol import codec
from herald.protocol.codec import JsonObject
from herald.protocol.requests import ListTasksRequest
from herald.protocol.states import TaskState
from herald.records import Entry, Listed, Position

DEFAULT_PAGE = 50
MAX_COUNT = 10_000  # entries of the index that totalSize is counted from
MAX_SOUGHT = 2_000  # entries of the index that are read for one page, where a rare state is looked for
MAX_READ = 16_000_000  # characters of logs that are read for one page
MAX_PAGE = 5_000_000  # bytes of a page's tasks as Lambda passes them on; what surrounds them is small
READERS = 8  # logs that are read at once: botocore keeps 10 connections


@dataclass(frozen=True, slots=True)
class ListTasks:
    """Answers with a page of tasks and a token for the next one.

    A page may hold fewer tasks than asked for, or none, and yet have a token: when their JSON would pass what an answer
    carries, when very large logs had to be read, and when few tasks are in the state that is asked for. ``totalSize``
    is counted with the first page and carried in the token.

    Raises:
        InvalidParamsError: a filter is wrong, or pageToken isn't one of this caller's and these filters'.
    """

    log: TaskLog
    index: TaskIndex
    sealer: Sealer

    async def __call__(self, call: Call, request: ListTasksRequest) -> JsonObject:
        listing = _listing(call, request)
        walk = Walk.resume(request.page_token, self.sealer, listing) if request.page_token else None
        size = request.page_size or DEFAULT_PAGE
        tasks: list[JsonObject] = []
        end, total = None, 0
        if len(listing.context_id.encode()) <= MAX_CONTEXT_ID:  # no task has a longer one, and no key takes it
            pool = ThreadPoolExecutor(READERS)
            try:
                tasks, end, total = self._page(pool, listing, request, walk, size)
            finally:
                pool.shutdown(cancel_futures=True)
        return {
            "tasks": tasks,
            "nextPageToken": Walk(end, total).token(self.sealer, listing) if end else "",
            "pageSize": size,
            "totalSize": total,
        }

    def _page(
        self, pool: Executor, listing: Listing, request: ListTasksRequest, walk: Walk | None, size: int
    ) -> tuple[list[JsonObject], Position | None, int]:
        """The tasks of a page, the place where the next one begins (None: there is none), and totalSize."""
        after = walk.after if walk else None
        found, beyond = self._find(listing, after, size + 1)  # one more tells whether this page is the last
        counting = None
        if walk is None and beyond is not None:
            counting = pool.submit(self.index.count, listing, beyond, max(0, MAX_COUNT - len(found)))
        tasks, stopped = self._read(pool, request, found[:size], after)
        end = stopped or (found[size - 1].position if len(found) > size else beyond)
        if walk:
            return tasks, end, walk.total
        if end is None:
            return tasks, None, len(tasks)
        return tasks, end, len(found) + (counting.result() if counting else 0)

    def _find(self, listing: Listing, after: Position | None, wanted: int) -> tuple[Sequence[Listed], Position | None]:
        """Candidates in order, each task once, and where to look for more (None: there are none).

        As many as are wanted, or more, unless they end before or ``MAX_SOUGHT`` entries were read.
        """
        found: dict[str, Listed] = {}
        left, look_at = MAX_SOUGHT, wanted
        while left and len(found) < wanted:
            look_at = min(look_at, left)
            page = self.index.page(listing, after, look_at)
            for entry in page.entries:
                found.setdefault(entry.ref.task_id, entry)  # a task that moves may show up twice
            after = page.beyond
            if after is None:
                break
            left -= look_at
            look_at *= 2
        return list(found.values()), after

    def _read(
        self, pool: Executor, request: ListTasksRequest, candidates: Sequence[Listed], after: Position | None
    ) -> tuple[list[JsonObject], Position | None]:
        """The tasks among the candidates, in order; and the last one's position where the page ends before its time."""
        with_artifacts = bool(request.include_artifacts)
        shown: list[tuple[Position, JsonObject]] = []
        weight, read = 0, 0
        last: Position | None = None

        def log(candidate: Listed) -> list[Entry]:
            return self.log.read(candidate.ref, artifacts=with_artifacts)

        for candidate, entries in in_order(pool, log, candidates, READERS):
            if read > MAX_READ:
                break
            read += sum(len(entry.body) for entry in entries)
            task = _task(candidate, entries, request, after)
            if task is not None:
                weight += answer.weight(codec.dumps(task[1])) + 1
                if shown and weight > MAX_PAGE:
                    break
                shown.append(task)
            last = candidate.position
        else:
            last = None
        shown.sort(key=lambda task: task[0], reverse=True)
        return [task for _, task in shown], last


def _listing(call: Call, request: ListTasksRequest) -> Listing:
    states = frozenset[TaskState]() if request.status is None else frozenset({request.status})
    return Listing(call.caller, request.context_id, states, request.status_timestamp_after)


def _task(
    candidate: Listed, entries: Sequence[Entry], request: ListTasksRequest, after: Position | None
) -> tuple[Position, JsonObject] | None:
    """A candidate as its log says it is, and its position; None if it isn't one of this page."""
    if not entries:  # it is gone
        return None
    current = next((entry for entry in reversed(entries) if entry.kind == "status"), entries[0])
    position = Position(current.at, candidate.ref.task_id)
    state = current.state or TaskState.SUBMITTED
    moved_away = after is not None and position >= after
    if moved_away or (request.status is not None and state is not request.status):
        return None
    if not request.include_artifacts:
        entries = [entry for entry in entries if entry.kind != "artifact"]
    task = view.task(candidate.ref, entries, request.history_length)
    if request.include_artifacts:
        task.setdefault("artifacts", [])
    return position, task
