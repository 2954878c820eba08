/** A folder for one test file, gone afterwards, and tools run in it. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { Tool, ToolOutcome } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach } from "vitest"

export interface TemporaryWorkspace {
  readonly path: string
  put(path: string, content: string | Uint8Array): void
  read(path: string): string
}

/** Registers the hooks of the test file that calls it. */
export function useWorkspace(): TemporaryWorkspace {
  const made = { path: "" }
  beforeEach(() => {
    made.path = realpathSync(mkdtempSync(join(tmpdir(), "keepup-tools-")))
  })
  afterEach(() => rmSync(made.path, { recursive: true, force: true }))
  return {
    get path() {
      return made.path
    },
    put(path, content) {
      mkdirSync(dirname(join(made.path, path)), { recursive: true })
      writeFileSync(join(made.path, path), content)
    },
    read: (path) => readFileSync(join(made.path, path), "utf8"),
  }
}

/** Runs a tool as the loop would. */
export async function use(tool: Tool, args: unknown, signal = new AbortController().signal): Promise<ToolOutcome> {
  return await tool.run(args, { callId: "call-1", signal, onProgress: () => undefined })
}
