/** What a run looks like as it goes: the model's words as they come, tool calls, checkpoints; JSON lines with `--json`. */
import type { BusEvent, Message } from "@ku0/agent-runtime"
import type { Context } from "../context.js"
import { cut, manyLines, oneLine } from "./text.js"

export interface RunView {
  show(event: BusEvent): void
  /** Ends the line that is being written, so that something else can be said. */
  pause(): void
  end(): void
}

export function createRunView(context: Context): RunView {
  const { styles, machine, flags } = context
  const width = Math.min(context.width, 200)
  let isOpen = false
  let streamed = ""

  function pause(): void {
    if (isOpen) machine.stdout.write("\n")
    isOpen = false
  }

  function delta(text: string): void {
    if (!machine.stdout.isTerminal) return
    context.progress.clear()
    machine.stdout.write(manyLines(text))
    streamed += text
    isOpen = true
  }

  function message(said: Message): void {
    if (said.role !== "assistant") return
    if (streamed !== "") pause()
    else if (said.content !== "") context.stream(undefined, () => manyLines(said.content))
    streamed = ""
  }

  function line(text: string): void {
    pause()
    context.remark(styles.dim(text))
  }

  function forPeople({ type, data }: BusEvent): void {
    const facts = (data ?? {}) as Record<string, unknown>
    if (type === "message:delta") delta(String(facts["text"] ?? ""))
    else if (type === "message:added") message(facts["message"] as Message)
    else if (type === "tool:started") {
      line(cut(`-> ${facts["name"]} ${oneLine(JSON.stringify(facts["arguments"] ?? {}))}`, width))
    } else if (type === "tool:ended" && facts["outcome"] !== "ok") line(`   ${facts["name"]}: ${facts["outcome"]}`)
    else if (type === "checkpoint:created") line(`   checkpoint #${facts["number"]} (${facts["trigger"]})`)
    else if (type === "checkpoint:failed") {
      pause()
      context.warn(`A checkpoint could not be taken: ${(facts["error"] as { message?: string }).message ?? ""}`)
    } else if (type === "context:file-stale") {
      pause()
      context.warn(`Stale file context detected: ${oneLine(String(facts["path"]))}. Reload before editing.`)
    } else if (type === "agent:spawned") line(`   agent spawned: ${oneLine(String(facts["agentType"] ?? ""))}`)
  }

  return {
    show(event) {
      if (flags.json) {
        const { entry, type, data } = event
        context.stream(
          { type, ...(entry && { sessionId: entry.sessionId, seq: entry.seq, createdAt: entry.createdAt }), data },
          () => "",
        )
      } else forPeople(event)
    },
    pause,
    end: pause,
  }
}
