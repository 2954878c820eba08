import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import type { ArtifactId, Checkpoint } from "@ku0/agent-runtime-core"
import { listCheckpointFiles } from "@ku0/agent-runtime-persistence"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { databaseFile } from "./database-file.js"
import { openRuntime } from "./open-runtime.js"

let root: string
let file: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "keepup-database-")))
  mkdirSync(join(root, "workspace"))
  symlinkSync(join(root, "workspace"), join(root, "link"))
  file = join(root, "workspace/own.db")
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const addresses = () => [
  `sqlite:${file}`,
  `sqlite://${file}`,
  `sqlite:${relative(process.cwd(), file)}`,
  `sqlite://${relative(process.cwd(), file)}`,
  `sqlite:${join(root, "link/own.db")}`,
]
const open = (db: string) =>
  openRuntime({
    ...{ workspacePath: join(root, "workspace"), stateDirectory: join(root, "state"), db },
    environment: { PATH: process.env["PATH"] },
  })

describe("one database", () => {
  it("is one file, however its address is written, before it is there and after", () => {
    for (const db of addresses()) expect(databaseFile(db), db).toBe(file)
    writeFileSync(file, "")
    for (const db of addresses()) expect(databaseFile(db), db).toBe(file)
    for (const db of ["memory:", "postgres://host/name"]) expect(databaseFile(db)).toBeUndefined()
  })

  it("is in no snapshot, and has its artifacts, however its address is written", async () => {
    writeFileSync(join(root, "workspace/a.txt"), "a")
    const facts = { type: "t", schemaVersion: "1", title: "", taskNodeId: null, mediaType: "text/plain", createdAt: 1 }
    const none = { quarantine: null, renderHints: null, idempotencyKey: null }
    const [first, ...others] = addresses()
    const made = await open(first as string)
    const session = await made.store.sessions.create({ workspacePath: made.workspacePath, name: "one" })
    const id = "x" as ArtifactId
    await made.store.artifacts.put({ id, sessionId: session.id, ...facts, ...none }, Buffer.from("long output"))
    await made.close()
    for (const db of others) {
      const runtime = await open(db)
      const taken = await runtime.manager.take({ sessionId: session.id, trigger: "manual" })
      const files = await listCheckpointFiles(runtime, taken as Checkpoint)
      expect(files.map(({ path }) => path)).toEqual(["a.txt"])
      expect(Buffer.from(await runtime.store.artifacts.read(id)).toString()).toBe("long output")
      await runtime.close()
    }
  })
})
