import { spawnSync } from "node:child_process"
import { readdirSync, utimesSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { createTemporaryFolder, type TemporaryFolder } from "../testing/temporary-folder.js"
import { halfCopyName, sweepHalfCopies } from "./half-copies.js"

let folder: TemporaryFolder
beforeEach(() => {
  folder = createTemporaryFolder()
})
afterEach(() => folder.remove())

it("half copies of dead processes and of long ago go, whole ones and those of the living stay", () => {
  const database = folder.file("keepup.db")
  const dead = spawnSync("true").pid
  const stay = [
    "keepup.db",
    "keepup.db.v3.bak",
    `keepup.db.v3.bak.${process.ppid}.tmp`,
    `other.db.v3.bak.${dead}.tmp`,
    `keepup.db.notes.${dead}.tmp`,
  ]
  const own = halfCopyName(`${database}.v3.bak`)
  const go = [`keepup.db.v3.bak.${dead}.tmp`, `keepup.db.before-repair-1.bak-wal.${dead}.tmp`]
  for (const name of [...stay, ...go]) writeFileSync(folder.file(name), "x")
  writeFileSync(own, "x")
  const old = folder.file(`keepup.db.v4.bak.${process.ppid}.tmp`)
  writeFileSync(old, "x")
  utimesSync(old, 1, 1)
  sweepHalfCopies(database)
  const left = readdirSync(dirname(database)).map((name) => folder.file(name))
  expect(left.toSorted()).toEqual([...stay.map((name) => folder.file(name)), own].toSorted())
})
