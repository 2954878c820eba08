/** What lies over the conversation, and what is done there: the timeline, the sessions, the output of a tool. */
import type { Checkpoint } from "@ku0/agent-runtime"
import { manyLines } from "../../output/text.js"
import type { ChatController } from "../chat-controller.js"
import type { ToolItem } from "../state/chat-item.js"
import type { TimelineRow } from "../state/overlay.js"
import type { ChatScope } from "./chat-scope.js"
import { goOnWith } from "./go-on.js"
import { showError } from "./run-turn.js"
import { listSessionRows } from "./session-rows.js"
import { notice } from "./show-event.js"
import { confirmRestore, previewDiff, restoreHere, rewindHere, undoHere } from "./time-travel.js"
import { listTimelineRows } from "./timeline-rows.js"

type OverlayCalls = Pick<
  ChatController,
  | "openSessions"
  | "openTimeline"
  | "openOutput"
  | "closeOverlay"
  | "select"
  | "resumeSelected"
  | "restoreSelected"
  | "rewindSelected"
  | "undo"
>

export interface OverlayParts {
  /** Does something that changes the session; tells what goes wrong; never rejects. */
  readonly busy: (activity: string, doIt: () => Promise<void>) => void
  readonly width: () => number
}

/** How long a row is stood on before its diff is made. */
const previewDelayMs = 120

export function createOverlays(scope: ChatScope, { busy, width }: OverlayParts): OverlayCalls {
  const { store } = scope
  let timer: NodeJS.Timeout | undefined
  /** The id of the tool call whose output is open. */
  let shownTool = 0

  /** Looking changes nothing and may fail. */
  function look(doIt: () => Promise<void>): void {
    doIt().catch((error: unknown) => showError(scope, error))
  }

  /** Going elsewhere must wait for the agent. */
  function travel(activity: string, doIt: () => Promise<void>): void {
    if (store.get().phase === "idle") busy(activity, doIt)
    else store.dispatch(notice("warning", "Cannot restore checkpoint while a task is running."))
  }

  function selectedRow(): TimelineRow | undefined {
    const { overlay } = store.get()
    return overlay?.kind === "timeline" ? overlay.rows[overlay.selected] : undefined
  }

  async function getSelected(row: TimelineRow): Promise<Checkpoint> {
    return await (await scope.openRuntime()).store.checkpoints.get(row.checkpointId)
  }

  function loadPreview(): void {
    clearTimeout(timer)
    timer = setTimeout(() => {
      look(async () => {
        const row = selectedRow()
        if (row === undefined) return
        const preview = await previewDiff(scope, await getSelected(row), Math.max(20, Math.floor(width() / 2)))
        // whoever moved on meanwhile waits for another one
        if (selectedRow()?.checkpointId === row.checkpointId) store.dispatch({ type: "preview-changed", preview })
      })
    }, previewDelayMs)
    timer.unref()
  }

  function goTo(row: TimelineRow | undefined, isBranch: boolean): void {
    if (row === undefined) return
    travel(isBranch ? "Rewinding" : "Restoring", async () => {
      const checkpoint = await getSelected(row)
      const agreed = await confirmRestore(scope, checkpoint, isBranch)
      if (agreed !== undefined) await (isBranch ? rewindHere : restoreHere)(scope, checkpoint, agreed)
    })
  }

  return {
    openTimeline: () =>
      look(async () => {
        const runtime = await scope.openRuntime()
        const session = scope.session ?? (await runtime.findCurrentSession())
        const rows = session === undefined ? [] : await listTimelineRows(runtime, session)
        if (rows.length === 0) return store.dispatch(notice("info", "No checkpoints yet. /checkpoint makes one."))
        const preview = { status: "loading", stat: "", patch: "" } as const
        const selected = rows.findLastIndex((row) => row.isOwn)
        store.dispatch({
          type: "overlay-opened",
          overlay: { kind: "timeline", rows, selected: Math.max(0, selected), preview },
        })
        loadPreview()
      }),
    openSessions: () =>
      look(async () => {
        const rows = await listSessionRows(await scope.openRuntime(), scope.context.workspacePath, scope.session?.id)
        if (rows.length === 0) return store.dispatch(notice("info", "No sessions here yet."))
        const selected = Math.max(
          0,
          rows.findIndex((row) => row.isOwn),
        )
        store.dispatch({ type: "overlay-opened", overlay: { kind: "sessions", rows, selected } })
      }),
    openOutput() {
      const tools = [...store.get().settled, ...store.get().live].filter((item) => item.kind === "tool")
      const isOpen = store.get().overlay?.kind === "text"
      const older = isOpen ? tools.filter(({ id }) => id < shownTool) : tools
      const tool = older.at(-1) ?? tools.at(-1)
      if (tool === undefined) return store.dispatch(notice("info", "No tool was called yet."))
      shownTool = tool.id
      const text = manyLines(tool.output === "" ? tool.result : tool.output)
      store.dispatch({ type: "overlay-opened", overlay: { kind: "text", title: titleOf(tool), text, format: "plain" } })
    },
    closeOverlay() {
      clearTimeout(timer)
      store.dispatch({ type: "overlay-closed" })
    },
    select(index) {
      store.dispatch({ type: "row-selected", index })
      if (store.get().overlay?.kind === "timeline") loadPreview()
    },
    resumeSelected() {
      const { overlay } = store.get()
      const row = overlay?.kind === "sessions" ? overlay.rows[overlay.selected] : undefined
      store.dispatch({ type: "overlay-closed" })
      if (row === undefined || row.isOwn) return
      travel("Opening the session", async () => {
        await goOnWith(scope, await (await scope.openRuntime()).store.sessions.get(row.sessionId))
      })
    },
    restoreSelected: () => goTo(selectedRow(), false),
    rewindSelected: () => goTo(selectedRow(), true),
    undo() {
      store.dispatch({ type: "overlay-closed" })
      travel("Taking the restore back", () => undoHere(scope))
    },
  }
}

function titleOf({ name, target }: ToolItem): string {
  return `${name} ${target}`.trimEnd()
}
