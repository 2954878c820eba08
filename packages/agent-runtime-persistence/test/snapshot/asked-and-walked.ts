/** Two first snapshots of one repository: for one git lists what is not tracked, for the other the folders are walked. */
import { readFileSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { expect } from "vitest"
import type { SnapshotStore } from "../../src/snapshot/snapshot-store.js"
import { apply, commitAll, edits } from "./random-trees.js"
import { makeWorkspace, type WorkspaceFixture } from "./workspace-fixture.js"

/** So many that git compares them, and lists what is beside them. */
export function writeMany(work: WorkspaceFixture): void {
  for (let i = 0; i < 1_600; i++) work.write(`many/d${i % 8}/f${i}`, "")
}

/** The index is so much younger than the files that none of them need be read. */
export function ageIndex(work: WorkspaceFixture): void {
  const later = new Date(Date.now() + 60_000)
  utimesSync(join(work.root, ".git/index"), later, later)
}

/** A git that does as `script` says when it is asked that, and writes down all that it is asked. */
export function makeGit(
  work: WorkspaceFixture,
  script = "",
  question = "ls-files --others",
): { program: string; asked: () => string[] } {
  const program = join(work.folder, `git-${Math.random()}`)
  const log = `${program}-asked`
  writeFileSync(log, "")
  const rest = `case " $* " in *" ${question} "*) ${script || ":"};; esac\nexec git "$@"\n`
  writeFileSync(program, `#!/bin/sh\necho "$*" >> '${log}'\n${rest}`, { mode: 0o755 })
  return { program, asked: () => readFileSync(log, "utf8").split("\n") }
}

/** What a snapshot holds, and says that it does not hold. */
async function describe(store: SnapshotStore) {
  const { commit } = await store.capture({ message: "1", checkpointId: "1" })
  const { tree, emptyFolders, skipped } = await store.describe(commit)
  return { tree, emptyFolders, skipped }
}

/** Both hold the same, and the second snapshot of the one for which git was asked holds nothing else. */
export async function expectSame(work: WorkspaceFixture): Promise<void> {
  const { program, asked } = makeGit(work)
  const environment = { PATH: process.env.PATH, HOME: work.home }
  const store = await work.open({ git: program, environment })
  const first = await describe(store)
  expect(asked().filter((line) => line.includes("ls-files --others"))).toHaveLength(1)
  const walking = await work.open({
    stateDirectory: join(work.folder, `walking-${Math.random()}`),
    ...{ git: makeGit(work, "exit 1").program, environment },
  })
  expect(first).toEqual(await describe(walking))
  await store.close()
  const again = await work.open({ environment })
  expect(await again.captureIfChanged({ message: "2", exact: true })).toBeNull()
  await again.close()
  await walking.close()
}

export async function expectSameOfRandomTrees(numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(edits, edits, async (tracked, untracked) => {
      const work = makeWorkspace({ git: true })
      try {
        for (const one of tracked) apply(work, one)
        writeMany(work)
        commitAll(work)
        ageIndex(work)
        for (const one of untracked) apply(work, one)
        await expectSame(work)
      } finally {
        await work.close()
      }
    }),
    { numRuns, endOnFailure: true },
  )
}
