/** A command's context inside the chat: what it would print becomes an item, what it would ask is asked in place. */
import { KeepupError, type Runtime } from "@ku0/agent-runtime"
import type { Context } from "../../context.js"
import { createStyles } from "../../output/text.js"
import type { ChatItem } from "../state/chat-item.js"
import type { ChatStore } from "./chat-store.js"
import { notice } from "./show-event.js"

export interface ChatContextParts {
  readonly store: ChatStore
  readonly openRuntime: () => Promise<Runtime>
  /** The id of the session of the chat, if it has one. */
  readonly sessionId: () => string | undefined
  readonly width: () => number
  readonly hasColour: boolean
  readonly confirm: (question: string) => Promise<boolean>
}

export function createChatContext(base: Context, parts: ChatContextParts): Context {
  const { store } = parts
  const styles = createStyles(parts.hasColour)

  function say(text: string | Uint8Array, format: "plain" | "patch" = "plain"): void {
    const whole = (typeof text === "string" ? text : Buffer.from(text).toString("utf8")).trimEnd()
    if (whole === "") return
    const item: Omit<Extract<ChatItem, { kind: "block" }>, "id"> = { kind: "block", format, text: whole }
    store.dispatch({ type: "item-added", item })
  }

  return {
    ...base,
    get flags() {
      return { ...base.flags, session: parts.sessionId(), json: false, quiet: false }
    },
    get now() {
      return base.machine.clock.now()
    },
    get width() {
      return parts.width()
    },
    styles,
    progress: {
      report: (what, done, total) => showProgress(store, base.machine.clock.now(), what, done, total),
      clear: () => undefined,
    },
    openRuntime: parts.openRuntime,
    answer: (_, text) => {
      const words = text()
      say(words, typeof words === "string" ? "plain" : "patch")
    },
    stream: (_, text) => say(text()),
    remark: (text) => store.dispatch(notice("info", text)),
    warn: (text) => store.dispatch(notice("warning", text)),
    async confirm(question) {
      if (!(await parts.confirm(question))) throw new KeepupError("CANCELLED", "Nothing was changed.")
    },
    uninterrupted: (work) => work(),
    endWith: () => undefined,
  }
}

function showProgress(store: ChatStore, now: number, what: string, done: number, total: number): void {
  const { activitySince, phase } = store.get()
  if (phase === "idle" || now - activitySince < 1_000) return
  const share = total > 0 ? ` ${Math.floor((done / total) * 100)} %` : ""
  const activity = `${what}${share}`
  if (activity !== store.get().activity) store.dispatch({ type: "activity-changed", activity, at: activitySince })
}
