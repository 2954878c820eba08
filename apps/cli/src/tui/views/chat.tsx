/**
 * The whole screen. What is settled is printed once, above, and belongs to the terminal then; what is drawn again and
 * again is a few lines: the end of the conversation, what goes on, the prompt, the status. It is never as high as the
 * terminal: what scrolled away could not be erased.
 */
import { Box, useApp, useStdout } from "ink"
import { type ReactElement, useCallback, useEffect, useLayoutEffect, useRef, useSyncExternalStore } from "react"
import { cut, oneLine, plural } from "../../output/text.js"
import type { ChatController } from "../chat-controller.js"
import { Prompt } from "../input/prompt.js"
import type { ChatState } from "../state/chat-state.js"
import { Activity } from "./activity.js"
import { renderTodo } from "./item-lines.js"
import { useKeys } from "./key-source.js"
import { Lines } from "./lines.js"
import { LiveItems } from "./live-items.js"
import { type Look, useLook } from "./look.js"
import { OverlayView } from "./overlay-view.js"
import { createSettledPrinter, openFenceAfter, type SettledPrinter } from "./print-settled.js"
import { QuestionBox } from "./question-box.js"
import { renderStatus } from "./status-line.js"

export function Chat({ controller }: { readonly controller: ChatController }): ReactElement | null {
  const look = useLook()
  const { columns, rows, styles } = look
  const state = useSyncExternalStore(
    useCallback((listener: () => void) => controller.subscribe(listener), [controller]),
    useCallback(() => controller.getState(), [controller]),
  )
  usePrinted(state, look)
  const { exit } = useApp()
  const hasLeft = state.phase === "left"
  useEffect(() => {
    if (hasLeft) exit()
  }, [hasLeft, exit])
  useEffect(() => controller.resize(columns, rows), [controller, columns, rows])
  useKeys("screen", ({ id }) => {
    if (id === "ctrl-c") controller.interrupt()
    else if (id === "escape" && state.phase === "running") controller.interrupt()
    else if (id === "ctrl-d") controller.leave()
    else if (id === "ctrl-o") controller.openOutput()
    else if (id === "ctrl-t") controller.openTimeline()
    else return false
    return true
  })
  if (hasLeft) return null
  const { overlay, question } = state
  const isContinued = state.live[0]?.kind === "assistant" && state.live[0].isContinued
  const openFence = isContinued ? openFenceAfter(state.settled) : ""
  const isQuiet = state.phase === "idle" || state.phase === "elsewhere"
  const notes = overlay === undefined ? renderNotes(state, look) : []
  const room = splitRoom(rows, notes.length, question !== undefined)
  return (
    <Box flexDirection="column">
      {overlay === undefined && (
        <>
          <LiveItems items={state.live} before={state.settled.at(-1)} openFence={openFence} height={room.live} />
          {question === undefined && (
            <Activity
              phase={state.phase}
              activity={state.activity}
              since={state.activitySince}
              isLeaveArmed={state.isLeaveArmed}
            />
          )}
          <Lines lines={notes} />
          {question === undefined ? (
            <Lines lines={[...(isQuiet ? [""] : []), styles.dim("─".repeat(Math.max(1, columns - 1)))]} />
          ) : (
            <QuestionBox key={question.title} question={question} controller={controller} height={room.question} />
          )}
        </>
      )}
      <Prompt
        controller={controller}
        handedBack={state.handedBack}
        height={room.prompt}
        isHidden={overlay !== undefined || question !== undefined}
      />
      {overlay === undefined ? (
        <Lines lines={[renderStatus(state.status, state.phase, columns, styles)]} />
      ) : (
        <OverlayView key={overlay.kind} overlay={overlay} controller={controller} />
      )}
    </Box>
  )
}

/** Prints what settled since the last time, once, when the lines that are drawn again no longer hold it. */
function usePrinted(state: ChatState, { columns, styles }: Look): void {
  const { write } = useStdout()
  const printer = useRef<SettledPrinter | undefined>(undefined)
  printer.current ??= createSettledPrinter()
  useLayoutEffect(() => {
    const text = printer.current?.take(state, columns, styles) ?? ""
    if (text !== "") write(text)
  }, [state, columns, styles, write])
}

/** The list of what is to be done while the agent works, and the messages that wait. */
function renderNotes({ todo, queued, phase }: ChatState, { columns, rows, styles }: Look): string[] {
  const isWorking = phase === "running" || phase === "stopping"
  const most = Math.max(2, Math.floor(rows / 5))
  const first = Math.max(0, Math.min(todo.findIndex(({ status }) => status !== "done") - 1, todo.length - most))
  const items = isWorking ? renderTodo(todo.slice(first, first + most), columns, styles) : []
  const hidden = todo.length - Math.min(todo.length, most)
  const more = isWorking && hidden > 0 ? [styles.dim(`  … ${hidden} more`)] : []
  const next = queued[0]
  const wait = next === undefined ? "" : `  next: ${oneLine(next)}`
  const others = queued.length > 1 ? ` (and ${plural(queued.length - 1, "more", "more")})` : ""
  return [...items, ...more, ...(wait === "" ? [] : [styles.dim(cut(wait, columns - 1 - others.length) + others)])]
}

interface Room {
  readonly live: number
  readonly question: number
  readonly prompt: number
}

/** How many rows each part may take, together fewer than the terminal has. */
function splitRoom(rows: number, notes: number, hasQuestion: boolean): Room {
  const prompt = Math.max(2, Math.min(9, Math.floor(rows / 3)))
  const fixed = 4 + notes
  const question = Math.max(5, rows - 1 - fixed - 4)
  const live = Math.max(1, hasQuestion ? rows - 1 - fixed - question : rows - 1 - fixed - prompt)
  return { live, question, prompt }
}
