/** What may stand at the cursor of a line that begins with a slash, and files after an `@`. */
import { configKeys, configRules, shortId } from "@ku0/agent-runtime"
import type { Completion } from "../../command.js"
import { oneLine } from "../../output/text.js"
import { relativeTime } from "../../output/time.js"
import { triggerWords } from "../../references.js"
import type { CompletionOption, Completions } from "../chat-controller.js"
import type { ChatScope } from "../session/chat-scope.js"
import { findFiles } from "../session/find-files.js"
import { slashCommands } from "./slash-commands.js"

const nothing: Completions = { from: 0, to: 0, options: [] }
const most = 50

export async function completeInput(scope: ChatScope, text: string, cursor: number): Promise<Completions> {
  const before = text.slice(0, cursor)
  const file = /(?:^|\s)@([^\s@]*)$/.exec(before)
  if (file !== null) {
    const typed = file[1] as string
    const paths = await findFiles(scope.session?.workspacePath ?? scope.context.workspacePath, typed)
    const options = paths.map((path) => ({ value: `@${path}`, label: path, detail: "" }))
    return { from: cursor - typed.length - 1, to: cursor, options }
  }
  const slash = /^\/(\S*)(\s+[^\n]*)?$/.exec(before)
  if (slash === null) return nothing
  const [, name = "", rest] = slash
  if (rest === undefined) {
    const options = slashCommands
      .filter((one) => one.name.startsWith(name.toLowerCase()))
      .map(({ name: one, usage, summary, completes }) => ({
        value: completes === undefined ? `/${one}` : `/${one} `,
        label: usage,
        detail: summary,
      }))
    return { from: 0, to: cursor, options }
  }
  const words = rest.trimStart().split(/\s+/)
  const current = words.at(-1) ?? ""
  const completes = slashCommands.find((one) => one.name === name.toLowerCase())?.completes?.[words.length - 1]
  const all = await valuesOf(scope, completes, current)
  const wanted = current.replace(/^#/, "").toLowerCase()
  const options = all.filter(({ value }) => completes === "file" || value.toLowerCase().startsWith(wanted))
  return { from: cursor - current.length, to: cursor, options: options.slice(0, most) }
}

async function valuesOf(
  scope: ChatScope,
  completes: Completion | undefined,
  current: string,
): Promise<readonly CompletionOption[]> {
  if (completes === undefined || completes === "command") return []
  if (completes === "setting") {
    return configKeys.map((key) => ({ value: key, label: key, detail: configRules[key].description }))
  }
  if (completes === "file") {
    const paths = await findFiles(scope.context.machine.currentDirectory, current)
    return paths.map((path) => ({ value: path, label: path, detail: "" }))
  }
  if (completes === "checkpoint") return await listCheckpoints(scope)
  if (completes === "session") return await listSessions(scope)
  return completes.map((value) => ({ value, label: value, detail: "" }))
}

async function listCheckpoints({ openRuntime, session, now }: ChatScope): Promise<CompletionOption[]> {
  if (session === undefined) return []
  const { store } = await openRuntime()
  return (await store.checkpoints.list(session.id, { limit: most })).map((one) => ({
    value: String(one.number),
    label: `#${one.number}${one.name === null ? "" : ` ${oneLine(one.name)}`}`,
    detail: `message ${one.messageIndex}, ${triggerWords(one.trigger)}, ${relativeTime(one.createdAt, now())}`,
  }))
}

async function listSessions({ openRuntime, context, now }: ChatScope): Promise<CompletionOption[]> {
  const { store } = await openRuntime()
  const sessions = await store.sessions.list({ workspacePath: context.workspacePath, limit: most })
  return sessions.map(({ id, name, status, updatedAt }) => ({
    value: shortId(id),
    label: `${shortId(id)} ${oneLine(name)}`,
    detail: `${status}, ${relativeTime(updatedAt, now())}`,
  }))
}
