/** The chat without a screen, on a home and a workspace of its own, with a script instead of a model. */
import { commands } from "../commands.js"
import { createContext } from "../context.js"
import type { GlobalFlags } from "../global-options.js"
import type { Machine } from "../machine.js"
import { createProgress } from "../output/progress.js"
import type { ChatController } from "../tui/chat-controller.js"
import { openChat } from "../tui/session/open-chat.js"
import type { ChatItem } from "../tui/state/chat-item.js"
import type { ChatState } from "../tui/state/chat-state.js"
import type { TestMachine } from "./run-keepup.js"

export interface TestChatOptions {
  readonly script?: string
  readonly approval?: "ask" | "auto" | "deny"
  readonly reference?: string
  readonly environment?: Readonly<Record<string, string>>
}

export interface TestChat {
  readonly controller: ChatController
  readonly state: () => ChatState
  /** Sends, and waits until it is the user's turn again. */
  say(text: string): Promise<void>
  /** Resolves when the state is so; fails with what is on the screen if it never is. */
  until(isSo: (state: ChatState) => boolean, what: string): Promise<void>
  /** Everything that settled, as lines of words. */
  shown(): string
  leave(): Promise<string>
}

const patienceMs = 25_000

export async function openTestChat(test: TestMachine, options: TestChatOptions = {}): Promise<TestChat> {
  const machine = toMachine(test, options.environment ?? {})
  const context = createContext({
    commands,
    flags,
    machine,
    progress: createProgress(machine.stderr, machine.clock, true),
    signal: new AbortController().signal,
    openRuntime: () => Promise.reject(new Error("BUG: the chat opens its own")),
    endWith: () => undefined,
    uninterrupted: (work) => work(),
  })
  const chat = openChat({
    context,
    choice: { script: options.script, model: undefined },
    approval: options.approval ?? "auto",
    maxSteps: undefined,
    reference: options.reference,
    hasColour: false,
  })
  const { controller } = chat
  const all: ChatItem[] = []
  let taken = 0

  function take(): void {
    const { settled, settledCount } = controller.getState()
    all.push(...settled.slice(settled.length - (settledCount - taken)))
    taken = settledCount
  }
  controller.subscribe(take)

  function shown(): string {
    take()
    return all.map(describe).join("\n")
  }

  function until(isSo: (state: ChatState) => boolean, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!isSo(controller.getState())) return
        clearTimeout(timer)
        stop()
        resolve()
      }
      const stop = controller.subscribe(look)
      const timer = setTimeout(() => {
        stop()
        const { phase, question, overlay } = controller.getState()
        reject(new Error(`never ${what}: ${phase} ${question?.title ?? ""} ${overlay?.kind ?? ""}\n${shown()}`))
      }, patienceMs)
      look()
    })
  }

  const started = chat.start()
  started.catch(() => undefined)
  await Promise.race([started, until(({ question }) => question !== undefined, "a question or the start")])
  return {
    controller,
    state: controller.getState,
    shown,
    until,
    async say(text) {
      const before = controller.getState().settledCount
      controller.send(text)
      await until(
        ({ phase, settledCount, queued }) => phase === "idle" && settledCount > before && queued.length === 0,
        `done with ${text}`,
      )
    },
    async leave() {
      controller.leave()
      await chat.left
      return controller.getState().farewell
    },
  }
}

const flags: GlobalFlags = {
  cwd: undefined,
  stateDir: undefined,
  db: undefined,
  session: undefined,
  json: false,
  quiet: false,
  color: false,
  debug: false,
  help: false,
}

function toMachine(test: TestMachine, environment: Readonly<Record<string, string>>): Machine {
  const silent = { isTerminal: true, columns: 80, write: () => undefined }
  return {
    environment: { PATH: process.env["PATH"], HOME: `${test.root}/home`, ...environment },
    homeDirectory: `${test.root}/home`,
    currentDirectory: test.workspace,
    clock: { now: () => Date.now() },
    stdout: silent,
    stderr: silent,
    canAsk: true,
    ask: async () => undefined,
    readInput: async () => Buffer.alloc(0),
    onInterrupt: () => undefined,
    exit: () => undefined,
  }
}

function describe(item: ChatItem): string {
  if (item.kind === "tool") return `${item.status} ${item.name} ${item.target}: ${item.result}`
  if (item.kind === "checkpoint") {
    return [...(item.earlier ?? []), item].map((one) => `checkpoint #${one.number} (${one.trigger})`).join("\n")
  }
  if (item.kind === "notice") return `${item.level}: ${item.text}${item.hint === undefined ? "" : `\n${item.hint}`}`
  if (item.kind === "todo") return item.items.map(({ title, status }) => `${status} ${title}`).join("\n")
  return `${item.kind}: ${item.text}${item.kind === "assistant" && item.isCutOff ? " (cut off)" : ""}`
}
