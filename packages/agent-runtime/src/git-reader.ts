/** Git's facts about workspaces; those of one workspace may be on their way before anyone asks. */
import type { GitFacts } from "@ku0/agent-runtime-core"
import { readGitFacts } from "@ku0/agent-runtime-persistence"

export interface CreateGitReaderOptions {
  readonly workspacePath: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Git is started at once, because the facts are needed soon. */
  readonly isEarly: boolean
}

export interface GitReader {
  /** The facts now. */
  readFacts(workspacePath?: string): Promise<GitFacts | null>
  /** For a checkpoint: those that are on their way, once; else the facts now. */
  takeFacts(workspacePath: string): Promise<GitFacts | null>
  /** Stops a git nobody asked for. */
  stop(): void
}

export function createGitReader({ workspacePath, environment, isEarly }: CreateGitReaderOptions): GitReader {
  const readFacts = (path = workspacePath) => readGitFacts({ workspacePath: path, environment })
  let early = isEarly ? startReading() : undefined

  function startReading() {
    const abort = new AbortController()
    const facts = readGitFacts({ workspacePath, environment, signal: abort.signal })
    facts.catch(() => undefined) // whoever takes them hears of it
    return { facts, abort }
  }

  return {
    readFacts,
    takeFacts(path) {
      if (early === undefined || path !== workspacePath) return readFacts(path)
      const { facts } = early
      early = undefined
      return facts
    },
    stop() {
      early?.abort.abort()
      early = undefined
    },
  }
}
