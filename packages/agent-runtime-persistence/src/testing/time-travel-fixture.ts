/** A workspace, a store and its snapshots, ready to go back and forth in; gone afterwards. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { Clock, Session } from "@ku0/agent-runtime-core"
import { createCheckpointManager } from "../checkpoint/checkpoint-manager.js"
import { readGitFacts } from "../checkpoint/git-facts.js"
import { openSnapshotStore, type SnapshotStore } from "../snapshot/snapshot-store.js"
import { type OpenStoreOptions, openStore, type Store } from "../store/open-store.js"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"

export interface TimeTravelFixture extends TimeTravelContext {
  readonly workspace: string
  readonly stateDirectory: string
  readonly warnings: string[]
  createSession(name?: string): Promise<Session>
  /** Writes files of the workspace; `null` removes one. */
  write(files: Readonly<Record<string, string | null>>): void
  git(...args: string[]): string
  close(): Promise<void>
}

export interface OpenFixtureOptions {
  readonly clock?: Clock
  readonly withGit?: boolean
  readonly store?: OpenStoreOptions
  /** Opens what an earlier fixture left instead of something new. */
  readonly root?: string
  readonly onStep?: (step: string) => void
  /** The store's address; a file of SQLite in the state directory unless told. */
  readonly db?: string
}

const environment = { PATH: process.env["PATH"] }

export async function openFixture(options: OpenFixtureOptions = {}): Promise<TimeTravelFixture> {
  const root = options.root ?? realpathSync(mkdtempSync(join(tmpdir(), "keepup-travel-")))
  const workspace = join(root, "workspace")
  const stateDirectory = join(root, "state")
  mkdirSync(workspace, { recursive: true })
  const clock = options.clock ?? { now: () => Date.now() }
  const onStep = options.onStep && { onStep: options.onStep }
  const store: Store = await openStore(options.db ?? `sqlite:${join(stateDirectory, "keepup.db")}`, {
    clock,
    ...onStep,
    ...options.store,
  })
  const opened = new Map<string, Promise<SnapshotStore>>()
  const snapshots = (workspacePath: string) => {
    const known = opened.get(workspacePath)
    if (known !== undefined) return known
    const fresh = openSnapshotStore({ workspacePath, stateDirectory, environment, clock, ...onStep })
    opened.set(workspacePath, fresh)
    fresh.catch(() => opened.delete(workspacePath))
    return fresh
  }
  const warnings: string[] = []
  const manager = createCheckpointManager({
    store,
    snapshots,
    gitFacts: (workspacePath) => readGitFacts({ workspacePath, environment }),
    onWarning: (message) => warnings.push(message),
  })
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Test", "-c", "user.email=test@example.com", ...args], {
      cwd: workspace,
      encoding: "utf8",
      env: { ...environment, HOME: root, GIT_CONFIG_NOSYSTEM: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    })
  if (options.withGit === true && options.root === undefined) git("init", "-q", "-b", "main")
  return {
    store,
    manager,
    snapshots,
    workspace,
    stateDirectory,
    warnings,
    git,
    createSession: (name = "sample") => store.sessions.create({ workspacePath: workspace, name }),
    write(files) {
      for (const [path, content] of Object.entries(files)) {
        const file = join(workspace, path)
        mkdirSync(dirname(file), { recursive: true })
        if (content === null) rmSync(file, { recursive: true })
        else writeFileSync(file, content)
      }
    },
    async close() {
      for (const one of opened.values()) await (await one).close()
      await store.close()
      if (options.root === undefined) rmSync(root, { recursive: true, force: true })
    },
  }
}
