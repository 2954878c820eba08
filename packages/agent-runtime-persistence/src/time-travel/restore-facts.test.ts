import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Checkpoint } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, expect, it } from "vitest"
import { createCheckpointManager } from "../checkpoint/checkpoint-manager.js"
import { readGitFacts, readGitSignature } from "../checkpoint/git-facts.js"
import type { SnapshotStore } from "../snapshot/snapshot-store.js"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import { restoreCheckpoint } from "./restore.js"

let travel: TimeTravelFixture
beforeEach(async () => {
  travel = await openFixture({ withGit: true })
})
afterEach(() => travel.close())

const readFacts = (workspacePath: string) => readGitFacts({ workspacePath, environment: { PATH: process.env["PATH"] } })

it("a safety checkpoint that took two looks at the files has git's facts of the second", async () => {
  travel.write({ "a.txt": "a", "b.txt": "b" })
  travel.git("add", "-A")
  travel.git("commit", "-qm", "first")
  travel.write({ "x.log": "old" })
  const { store, workspace } = travel
  const snapshots = await travel.snapshots(workspace)
  await snapshots.watch()
  const manager = createCheckpointManager({
    ...{ store, snapshots: travel.snapshots, gitFacts: readFacts, gitSignature: readGitSignature },
  })
  const session = await travel.createSession()
  const take = async () => (await manager.take({ sessionId: session.id, trigger: "manual" })) as Checkpoint
  const one = await take()
  travel.write({ ".gitignore": "*.log\n", "x.log": "new" }) // ignored now, and looked at once more before it is replaced
  await take()
  travel.write({ "a.txt": "changed" })
  await take()
  travel.write({ "a.txt": "changed again" })
  let looks = 0
  const meddling: SnapshotStore["restore"] = (commit, options) =>
    snapshots.restore(commit, {
      ...options,
      onFound(found) {
        options?.onFound?.(found)
        if (looks++ === 0) writeFileSync(join(workspace, "b.txt"), "changed in between")
      },
    })
  const context = { ...travel, manager, snapshots: async () => ({ ...snapshots, restore: meddling }) }
  const { safety } = await restoreCheckpoint(context, { checkpoint: one, mode: "files", paths: ["x.log"] })
  expect(looks).toBe(2)
  expect((await snapshots.readFile(safety.snapshot?.commit as string, "b.txt")).toString()).toBe("changed in between")
  expect(safety.git).toEqual(await readFacts(workspace))
})
