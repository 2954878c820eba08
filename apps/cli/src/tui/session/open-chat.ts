/** The chat without a screen: everything the views may ask for, on a real store, with one message after the other. */
import type { ApprovalMode, Runtime, Session } from "@ku0/agent-runtime"
import type { Context } from "../../context.js"
import { openWorkspace } from "../../open-workspace.js"
import { getSession, requireWorkspace } from "../../references.js"
import type { ModelChoice } from "../../run-agent.js"
import type { ChatController } from "../chat-controller.js"
import { completeInput } from "../slash/complete-slash.js"
import { findSlash, isSlash } from "../slash/find-slash.js"
import { helpOverlay } from "../slash/help-overlay.js"
import type { SlashChat } from "../slash/slash-command.js"
import { startState } from "../state/chat-state.js"
import { createChatContext } from "./chat-context.js"
import type { ChatScope } from "./chat-scope.js"
import { createChatStore } from "./chat-store.js"
import { createChatWork } from "./chat-work.js"
import { createFollowing } from "./follow-session.js"
import { findCutOff, goOnWith, hintAtNewest, isUnfinished, resumeQuestion } from "./go-on.js"
import { readInputHistory } from "./input-history.js"
import { leaveSession } from "./leave-session.js"
import { modelName } from "./open-session.js"
import { createOverlays } from "./overlays.js"
import { createQuestions } from "./questions.js"
import { showError } from "./run-turn.js"
import { openScreenJournal } from "./screen-journal.js"
import { notice } from "./show-event.js"

export interface OpenChatOptions {
  readonly context: Context
  readonly choice: ModelChoice
  readonly approval: ApprovalMode | undefined
  readonly maxSteps: number | undefined
  /** The session to go on with; a new one unless told. */
  readonly reference: string | undefined
  readonly hasColour: boolean
}

export interface OpenChat {
  readonly controller: ChatController
  /** Opens the store, shows what was there, offers to go on. Rejects if that can't be, and the chat was left then. */
  start(): Promise<void>
  /** Resolves when the chat was left and everything is kept. */
  readonly left: Promise<void>
}

/** How long Ctrl-C waits for the second one. */
const armedMs = 3_000

export function openChat(options: OpenChatOptions): OpenChat {
  const { machine, workspacePath, stateDirectory } = options.context
  const now = () => machine.clock.now()
  const store = createChatStore(startState({ workspacePath, model: modelName({ ...options, session: undefined }) }), {
    onStreamed: (text) => journal.addAnswer(scope.session?.id ?? "", text),
  })
  const warn = (message: string) => store.dispatch(notice("warning", message))
  const journal = openScreenJournal({ stateDirectory, workspacePath, onWarning: warn })
  const questions = createQuestions(store)
  let runtime: Promise<Runtime> | undefined
  let width = machine.stdout.columns ?? 80
  const context = createChatContext(options.context, {
    store,
    openRuntime,
    sessionId: () => scope.session?.id,
    width: () => width,
    hasColour: options.hasColour,
    confirm: (question) => questions.confirm(question, ""),
  })
  const scope: ChatScope = {
    context,
    store,
    journal,
    questions,
    now,
    openRuntime,
    session: undefined,
    seen: 0,
    choice: options.choice,
    approval: options.approval,
    maxSteps: options.maxSteps,
  }
  const following = createFollowing(scope)
  const work = createChatWork(scope, following, { isLeaving: () => leaving !== undefined, sendSlash })
  const overlays = createOverlays(scope, { busy: work.busy, width: () => width })
  let leaving: Promise<void> | undefined
  let history: readonly string[] = []
  let armed: NodeJS.Timeout | undefined
  let tellLeft: () => void = () => undefined
  const left = new Promise<void>((resolve) => {
    tellLeft = resolve
  })

  function openRuntime(): Promise<Runtime> {
    runtime ??= openWorkspace(context, {})
    return runtime
  }

  function send(text: string): void {
    const line = text.trim()
    if (line === "" || leaving !== undefined) return
    if (isSlash(line)) sendSlash(line)
    else if (work.isFree()) work.startTurn(text.trimEnd())
    else work.queue(text.trimEnd())
  }

  function sendSlash(line: string): void {
    const { phase } = store.get()
    const echo = () => store.dispatch({ type: "item-added", item: { kind: "user", text: line, isSending: false } })
    try {
      const { command, words, text } = findSlash(line)
      // what keepup itself does is over in a moment; the agent may work for hours
      if (command.isAlways !== true && (phase === "busy" || phase === "opening")) {
        work.queue(line)
        return
      }
      echo()
      const run = () => command.run(slashChat, words, text)
      const isNow = command.isAlways === true || (command.isForRunning === true && work.isRunning())
      if (isNow) run().catch((error: unknown) => showError(scope, error))
      else if (work.isFree()) work.busy(`/${command.name}`, run)
      else {
        const refusal = `Cannot do this while a task is running: /${command.name}.`
        store.dispatch(notice("warning", refusal, "Stop it with Ctrl-C or /pause first."))
      }
    } catch (error) {
      echo()
      showError(scope, error)
    }
  }

  const slashChat: SlashChat = {
    scope,
    say: (item) => store.dispatch({ type: "item-added", item }),
    leave,
    openHelp: () => store.dispatch({ type: "overlay-opened", overlay: helpOverlay() }),
    isRunning: work.isRunning,
  }

  function interrupt(): void {
    const { phase, isLeaveArmed } = store.get()
    if (leaving !== undefined) machine.exit(130)
    else if (work.isRunning() && phase === "running") {
      work.stop()
      store.dispatch({ type: "phase-changed", phase: "stopping", activity: "Stopping", at: now() })
    } else if (phase === "stopping" || isLeaveArmed) leave()
    else armLeaving()
  }

  function armLeaving(): void {
    store.dispatch({ type: "leave-armed", isArmed: true })
    clearTimeout(armed)
    armed = setTimeout(() => store.dispatch({ type: "leave-armed", isArmed: false }), armedMs)
    armed.unref()
  }

  function leave(): void {
    leaving ??= leaveAll()
  }

  async function leaveAll(): Promise<void> {
    clearTimeout(armed)
    store.dispatch({ type: "phase-changed", phase: "leaving", activity: "Keeping everything", at: now() })
    const { question } = store.get()
    if (question !== undefined) questions.answer(question.fallback)
    questions.answerConfirm(false)
    work.stop()
    await work.isDone()
    await following.stop()
    const farewell = await leaveSession(scope, runtime)
    journal.flush()
    store.dispatch({ type: "left", farewell })
    store.close()
    tellLeft()
  }

  async function start(): Promise<void> {
    try {
      await begin()
    } catch (error) {
      await runtime?.then(
        (opened) => opened.close(),
        () => undefined, // it was never open; the caller has the reason
      )
      // nothing of the screen stays above what the caller has to say
      store.dispatch({ type: "left", farewell: "" })
      store.close()
      throw error
    }
  }

  async function begin(): Promise<void> {
    const kept = journal.read()
    const opened = await openRuntime()
    if (options.reference === undefined) await requireWorkspace(context)
    history = await readInputHistory(opened)
    const text = [...kept.queued, kept.draft].filter((one) => one !== "").join("\n\n")
    if (text !== "") store.dispatch({ type: "text-handed-back", text })
    store.dispatch({ type: "status-changed", status: { model: modelName(scope, opened) } })
    const named = options.reference === undefined ? undefined : await getSession(context, options.reference)
    const cutOff = named === undefined ? await findCutOff(opened) : undefined
    if (leaving !== undefined) return
    store.dispatch({ type: "phase-changed", phase: "idle" })
    if (named !== undefined) await goOn(opened, named, kept.sessionId === named.id ? kept.answer : "")
    else if (cutOff !== undefined) {
      const key = await questions.ask(resumeQuestion(cutOff, now()))
      if (key === "y") await goOn(opened, cutOff, kept.sessionId === cutOff.id ? kept.answer : "")
    } else await hintAtNewest(scope, opened)
    if (work.isRunning()) return
    journal.endAnswer()
    work.runQueued()
  }

  /** Shows the session as it stood, with the part of an answer that only the screen had; and lets the agent go on. */
  async function goOn(opened: Runtime, session: Session, answer: string): Promise<void> {
    await goOnWith(scope, session)
    if (answer !== "") {
      const item = { kind: "assistant", text: answer, isStreaming: false, isCutOff: true, isContinued: false } as const
      store.dispatch({ type: "item-added", item })
    }
    journal.endAnswer()
    if (await isUnfinished(opened, session)) work.startTurn(undefined)
    else following.start()
  }

  const controller: ChatController = {
    getState: store.get,
    subscribe: store.subscribe,
    send,
    interrupt,
    leave,
    answer: questions.answer,
    complete: (text, cursor) => completeInput(scope, text, cursor),
    keepDraft: journal.keepDraft,
    listInputHistory: () => history,
    openHelp: slashChat.openHelp,
    ...overlays,
    confirm: questions.answerConfirm,
    resize(columns) {
      width = columns
    },
  }
  return { controller, start, left }
}
