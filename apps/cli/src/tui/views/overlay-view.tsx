/** What lies over the conversation, and its keys. Escape leaves every one of them. */
import type { ReactElement } from "react"
import type { ChatController } from "../chat-controller.js"
import type { Key } from "../input/keys.js"
import type {
  ConfirmOverlay,
  HelpOverlay,
  Overlay,
  SessionsOverlay,
  TextOverlay,
  TimelineOverlay,
} from "../state/overlay.js"
import { useKeys } from "./key-source.js"
import { Lines } from "./lines.js"
import { type Look, useLook } from "./look.js"
import { renderConfirm, renderHelp, renderSessions, renderText } from "./overlay-lines.js"
import { scrollBy } from "./scroll.js"
import { renderTimelineOverlay } from "./timeline-lines.js"
import { useLatest } from "./use-latest.js"

export interface OverlayViewProps<Shown extends Overlay = Overlay> {
  readonly overlay: Shown
  readonly controller: ChatController
}

export function OverlayView({ overlay, controller }: OverlayViewProps): ReactElement {
  switch (overlay.kind) {
    case "timeline":
      return <TimelineView overlay={overlay} controller={controller} />
    case "sessions":
      return <SessionsView overlay={overlay} controller={controller} />
    case "confirm":
      return <ConfirmView overlay={overlay} controller={controller} />
    default:
      // another text begins at its top
      return <ScrollView key={overlay.kind === "text" ? overlay.title : ""} overlay={overlay} controller={controller} />
  }
}

function TimelineView({ overlay, controller }: OverlayViewProps<TimelineOverlay>): ReactElement {
  const look = useOverlayLook()
  const [isChoosing, setChoosing] = useLatest(false)
  useKeys("overlay", (key) => {
    const typed = key.text.toLowerCase()
    if (isChoosing()) {
      if (typed === "r" || typed === "w" || key.id === "escape") setChoosing(false)
      if (typed === "r") controller.restoreSelected()
      if (typed === "w") controller.rewindSelected()
      return !isForeign(key)
    }
    const next = scrollBy(key, selectedNow(overlay, controller), Math.max(0, overlay.rows.length - 1), 10)
    if (next !== undefined) controller.select(next)
    else if (key.id === "enter" && overlay.rows.length > 0) setChoosing(true)
    else if (typed === "u") controller.undo()
    else return leaveOr(key, controller)
    return true
  })
  return <Lines lines={["", ...renderTimelineOverlay(overlay, look, isChoosing())]} />
}

function SessionsView({ overlay, controller }: OverlayViewProps<SessionsOverlay>): ReactElement {
  const look = useOverlayLook()
  useKeys("overlay", (key) => {
    const next = scrollBy(key, selectedNow(overlay, controller), Math.max(0, overlay.rows.length - 1), 10)
    if (next !== undefined) controller.select(next)
    else if (key.id === "enter" && overlay.rows.length > 0) controller.resumeSelected()
    else return leaveOr(key, controller)
    return true
  })
  return <Lines lines={["", ...renderSessions(overlay, look)]} />
}

function ConfirmView({ overlay, controller }: OverlayViewProps<ConfirmOverlay>): ReactElement {
  const look = useOverlayLook()
  const [scroll, setScroll] = useLatest(0)
  const { lines, furthest } = renderConfirm(overlay, look, scroll())
  useKeys("overlay", (key) => {
    const typed = key.text.toLowerCase()
    const next = scrollBy(key, Math.min(scroll(), furthest), furthest, Math.max(1, look.rows - 6))
    if (next !== undefined) setScroll(next)
    else if (typed === "y") controller.confirm(true)
    else if (typed === "n" || key.id === "escape") controller.confirm(false)
    return !isForeign(key)
  })
  return <Lines lines={["", ...lines]} />
}

function ScrollView({ overlay, controller }: OverlayViewProps<HelpOverlay | TextOverlay>): ReactElement {
  const look = useOverlayLook()
  const [scroll, setScroll] = useLatest(0)
  const { lines, furthest } =
    overlay.kind === "help" ? renderHelp(overlay, look, scroll()) : renderText(overlay, look, scroll())
  useKeys("overlay", (key) => {
    const next = scrollBy(key, Math.min(scroll(), furthest), furthest, Math.max(1, look.rows - 6))
    if (next !== undefined) setScroll(next)
    else return leaveOr(key, controller)
    return true
  })
  return <Lines lines={["", ...lines]} />
}

/** Escape and `q` leave. */
function leaveOr(key: Key, controller: ChatController): boolean {
  if (key.id === "escape" || key.text === "q") controller.closeOverlay()
  return !isForeign(key)
}

/** Ctrl keys are the chat's, and with Alt nothing means anything here. */
function isForeign({ id }: Key): boolean {
  return id.startsWith("ctrl-") || id.startsWith("alt-")
}

/** Several keys may come before the next frame: the state knows what the ones before did. */
function selectedNow(drawn: TimelineOverlay | SessionsOverlay, controller: ChatController): number {
  const { overlay } = controller.getState()
  return overlay?.kind === drawn.kind && "selected" in overlay ? overlay.selected : drawn.selected
}

/** One row less: the first one keeps it apart from the conversation. */
function useOverlayLook(): Look {
  const look = useLook()
  return { ...look, rows: look.rows - 1 }
}
