/** The shape of a slash command, and what it is handed. */
import { KeepupError, type Runtime, type Session } from "@ku0/agent-runtime"
import type { Completion } from "../../command.js"
import { parseArguments } from "../../parse-arguments.js"
import type { ChatScope } from "../session/chat-scope.js"
import type { ItemDraft } from "../state/chat-item.js"

export interface SlashCommand {
  /** Without the slash. */
  readonly name: string
  /** `/rewind <#>`. */
  readonly usage: string
  readonly summary: string
  /** What its arguments are completed with, in order. */
  readonly completes?: readonly Completion[]
  /** Runs at once, also while the agent works: it changes neither the session nor its files. */
  readonly isAlways?: boolean
  /** Is meant for the agent at work: then it runs at once. */
  readonly isForRunning?: boolean
  /** `words` are what stands behind the name, `text` the same as it was written. */
  readonly run: (chat: SlashChat, words: readonly string[], text: string) => Promise<void>
}

/** What the chat does for a slash command, beside what it shares. */
export interface SlashChat {
  readonly scope: ChatScope
  /** Puts something on the screen. */
  say(item: ItemDraft): void
  /** Leaves the chat with a checkpoint. */
  leave(): void
  openHelp(): void
  /** Whether the agent works now. */
  isRunning(): boolean
}

/** The session of the chat, or why there is none. */
export function requireSession({ scope }: SlashChat): Session {
  if (scope.session !== undefined) return scope.session
  throw new KeepupError("INVALID_INPUT", "There is no session yet.", {
    hint: "Send a message to begin one, or /resume one that is there: /sessions shows them.",
  })
}

/** Runs a command of the command line inside the chat: what it prints becomes an item. */
export async function runCommandLine({ scope }: SlashChat, name: string, words: readonly string[]): Promise<void> {
  const entry = scope.context.commands.find((one) => one.name === name)
  if (entry === undefined) throw new Error(`BUG: there is no command ${name}`)
  const command = await entry.load()
  await command.run(scope.context, parseArguments(command, words, name).input)
}

export async function openStore(chat: SlashChat): Promise<Runtime["store"]> {
  return (await chat.scope.openRuntime()).store
}

/** The error for a command that was written in another way than it is used. */
export function usageError({ usage, summary }: Pick<SlashCommand, "usage" | "summary">, what: string): KeepupError {
  return new KeepupError("INVALID_INPUT", what, { hint: `${usage}: ${summary}.` })
}
