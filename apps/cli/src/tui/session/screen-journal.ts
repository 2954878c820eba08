/**
 * What is on the screen and not yet in the log: the text in the input, messages that wait, the answer that streams. Kept
 * in one small file per workspace, so that a killed chat shows it again. It survives the process, not the machine.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export interface KeptScreen {
  readonly draft: string
  readonly queued: readonly string[]
  /** The part of an answer that was shown, and whose. */
  readonly answer: string
  readonly sessionId: string
}

export interface ScreenJournal {
  read(): KeptScreen
  keepDraft(draft: string): void
  keepQueue(queued: readonly string[]): void
  /** Called before a piece of an answer is shown. */
  addAnswer(sessionId: string, text: string): void
  /** The answer is in the log, or was thrown away. */
  endAnswer(): void
  /** The draft is written a little after the last key; this writes it now. */
  flush(): void
}

const draftDelayMs = 200
const nothing: KeptScreen = { draft: "", queued: [], answer: "", sessionId: "" }

export interface ScreenJournalOptions {
  readonly stateDirectory: string
  readonly workspacePath: string
  /** Told once if nothing can be kept. Must not throw. */
  readonly onWarning: (message: string) => void
}

export function openScreenJournal(options: ScreenJournalOptions): ScreenJournal {
  const folder = join(options.stateDirectory, "chat")
  const name = process.getBuiltinModule("node:crypto").createHash("sha256").update(options.workspacePath).digest("hex")
  const draftFile = join(folder, `${name.slice(0, 16)}.json`)
  const answerFile = join(folder, `${name.slice(0, 16)}.answer`)
  let draft = ""
  let queued: readonly string[] = []
  let answering = ""
  let timer: NodeJS.Timeout | undefined
  let isBroken = false

  /** A draft that can't be kept must not end the chat. */
  function attempt(work: () => void): void {
    if (isBroken) return
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      work()
    } catch (error) {
      isBroken = true
      options.onWarning(`What is typed can't be kept for the next start: ${(error as Error).message}`)
    }
  }

  function write(): void {
    clearTimeout(timer)
    timer = undefined
    attempt(() => {
      if (draft === "" && queued.length === 0) return rmSync(draftFile, { force: true })
      const temporary = `${draftFile}.${process.pid}`
      writeFileSync(temporary, JSON.stringify({ draft, queued }), { mode: 0o600 })
      renameSync(temporary, draftFile)
    })
  }

  return {
    read() {
      const kept = { ...nothing, ...readDraft(draftFile), ...readAnswer(answerFile) }
      draft = kept.draft
      queued = kept.queued
      return kept
    },
    keepDraft(text) {
      if (text === draft) return
      draft = text
      timer ??= setTimeout(write, draftDelayMs)
    },
    keepQueue(texts) {
      queued = texts
      write()
    },
    addAnswer(sessionId, text) {
      attempt(() => {
        if (answering === sessionId) return appendFileSync(answerFile, text)
        answering = sessionId
        writeFileSync(answerFile, `${sessionId}\n${text}`, { mode: 0o600 })
      })
    },
    endAnswer() {
      if (answering === "" && !existsSync(answerFile)) return
      answering = ""
      attempt(() => rmSync(answerFile, { force: true }))
    },
    flush() {
      if (timer !== undefined) write()
    },
  }
}

function readDraft(file: string): Partial<KeptScreen> {
  const text = readText(file)
  if (text === "") return {}
  try {
    const { draft, queued } = JSON.parse(text) as Record<string, unknown>
    const texts = Array.isArray(queued) ? queued.filter((one) => typeof one === "string") : []
    return { draft: typeof draft === "string" ? draft : "", queued: texts }
  } catch {
    return {} // a file of a machine that went down while it was written: there is nothing in it to show
  }
}

function readAnswer(file: string): Partial<KeptScreen> {
  const text = readText(file)
  const end = text.indexOf("\n")
  return end < 0 ? {} : { sessionId: text.slice(0, end), answer: text.slice(end + 1) }
}

function readText(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : ""
}
