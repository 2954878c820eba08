/** Questions in place, one at a time: they wait for a key, or for what they are about to be given up. */
import type { ApprovalRequest, InDoubtCall, InDoubtChoice } from "@ku0/agent-runtime"
import { manyLines, oneLine } from "../../output/text.js"
import type { Question } from "../state/chat-state.js"
import type { ChatStore } from "./chat-store.js"
import { targetOf } from "./show-event.js"

export interface Questions {
  /** Resolves with the key of a choice; with the fallback when the signal aborts. */
  ask(question: Question, signal?: AbortSignal): Promise<string>
  answer(key: string): void
  /** A plan and a yes or no, over the conversation. */
  confirm(question: string, plan: string): Promise<boolean>
  answerConfirm(isSure: boolean): void
}

export function createQuestions(store: ChatStore): Questions {
  let last: Promise<unknown> = Promise.resolve()
  let waiting: ((key: string) => void) | undefined
  let confirming: ((isSure: boolean) => void) | undefined

  async function askNow(question: Question, signal: AbortSignal | undefined): Promise<string> {
    if (signal?.aborted === true) return question.fallback
    const giveUp = () => waiting?.(question.fallback)
    signal?.addEventListener("abort", giveUp, { once: true })
    const answered = new Promise<string>((resolve) => {
      waiting = resolve
    })
    store.dispatch({ type: "question-asked", question })
    try {
      return await answered
    } finally {
      waiting = undefined
      signal?.removeEventListener("abort", giveUp)
      store.dispatch({ type: "question-answered" })
    }
  }

  return {
    ask(question, signal) {
      const asked = last.then(() => askNow(question, signal))
      last = asked
      return asked
    },
    answer(key) {
      const { question } = store.get()
      if (question?.choices.some((choice) => choice.key === key)) waiting?.(key)
    },
    async confirm(question, plan) {
      store.dispatch({ type: "overlay-opened", overlay: { kind: "confirm", question, plan } })
      try {
        return await new Promise<boolean>((resolve) => {
          confirming = resolve
        })
      } finally {
        confirming = undefined
        store.dispatch({ type: "overlay-closed" })
      }
    },
    answerConfirm: (isSure) => confirming?.(isSure),
  }
}

export function approvalQuestion({ name, arguments: args, targets }: ApprovalRequest): Question {
  return {
    kind: "approval",
    title: `Allow ${oneLine(name)} ${targetOf(args) || targets.map(oneLine).join(", ")}?`.replace(" ?", "?"),
    ...describeArguments(args),
    choices: [
      { key: "y", label: "yes" },
      { key: "n", label: "no" },
      { key: "a", label: `always ${oneLine(name)}` },
    ],
    fallback: "n",
  }
}

const inDoubtChoices: Readonly<Record<string, InDoubtChoice>> = { s: "skip", r: "retry", d: "done", q: "stop" }

export function inDoubtQuestion({ name, arguments: args, known }: InDoubtCall): Question {
  return {
    kind: "in-doubt",
    title: `This call was in flight when the process died: ${oneLine(name)} ${targetOf(args)}`.trimEnd(),
    detail: manyLines(known.summary),
    detailFormat: "plain",
    choices: [
      { key: "s", label: "skip it" },
      { key: "r", label: "retry it" },
      { key: "d", label: "it is done" },
      { key: "q", label: "decide later" },
    ],
    fallback: "q",
  }
}

export function inDoubtChoice(key: string): InDoubtChoice {
  return inDoubtChoices[key] ?? "stop"
}

/** What a call would do: an edit as a diff, a new file as its lines, anything else as it was asked for. */
function describeArguments(args: unknown): Pick<Question, "detail" | "detailFormat"> {
  const values = (typeof args === "object" && args !== null ? args : {}) as Record<string, unknown>
  const edits = Array.isArray(values["edits"]) ? values["edits"] : [values]
  const patch = edits.flatMap((edit) => {
    const { oldText, newText, old_string: before, new_string: after } = (edit ?? {}) as Record<string, unknown>
    const [was, becomes] = [oldText ?? before, newText ?? after]
    return typeof was === "string" && typeof becomes === "string" ? [...mark("-", was), ...mark("+", becomes)] : []
  })
  if (patch.length > 0) return { detail: patch.join("\n"), detailFormat: "patch" }
  const content = values["content"]
  if (typeof content === "string") return { detail: mark("+", content).join("\n"), detailFormat: "patch" }
  const command = values["command"]
  if (typeof command === "string") return { detail: manyLines(command), detailFormat: "plain" }
  return { detail: manyLines(JSON.stringify(args, null, 2) ?? ""), detailFormat: "plain" }
}

function mark(sign: string, text: string): string[] {
  return manyLines(text)
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => sign + line)
}
