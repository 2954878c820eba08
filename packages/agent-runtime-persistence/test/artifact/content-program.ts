/** A process of its own that uses a content folder, and says in lines of JSON what happened. */

import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { readdirSync } from "node:fs"
import { errorToJson, toKeepupError } from "@ku0/agent-runtime-core"
import { createArtifactContent } from "../../src/artifact/artifact-content.js"
import { createArtifactRegistry } from "../../src/artifact/artifact-registry.js"
import { openStore } from "../../src/store/open-store.js"

const [mode = "", folder = "", detail = ""] = process.argv.slice(2)
const clock = { now: Date.now }
const content = createArtifactContent({ folder, clock })
const contents = Array.from({ length: 30 }, (_, i) => Buffer.from(`content ${i}`.repeat(100)))

/** Keeps one content, then dies at a step of the next. */
async function dieAt(): Promise<void> {
  say({ kept: (await content.put(Buffer.from("first"))).hash })
  const dying = createArtifactContent({
    folder,
    clock,
    onStep(step) {
      if (step === detail) process.kill(process.pid, "SIGKILL")
    },
  })
  await dying.put(Buffer.from("second"))
  say({ survived: true })
}

/** Puts and reads at once, again and again: what was put must be there as long as it is young. */
async function churn(): Promise<void> {
  const [forMs, graceMs] = detail.split(",").map(Number) as [number, number]
  const end = Date.now() + forMs
  let puts = 0
  while (Date.now() < end) {
    const bytes = contents[Math.floor(Math.random() * contents.length)] as Buffer
    puts++
    const begin = Date.now()
    const { hash } = await content.put(bytes)
    const error = await content.read(hash).then(
      () => undefined,
      (cause) => toKeepupError(cause),
    )
    if (error !== undefined && Date.now() - begin < graceMs - 50)
      return say({ lost: hash, afterMs: Date.now() - begin, error: errorToJson(error) })
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 60))
  }
  say({ puts })
}

/** Removes everything that is older than the grace, again and again. */
async function sweep(): Promise<void> {
  const [forMs, graceMs] = detail.split(",").map(Number) as [number, number]
  const end = Date.now() + forMs
  let removed = 0
  const failed: unknown[] = []
  while (Date.now() < end) {
    const result = await content.sweep(() => false, graceMs)
    removed += result.removed
    failed.push(...result.failed)
  }
  say({ removed, failed })
}

/** Fills the disk, makes room, and goes on. */
async function fill(): Promise<void> {
  const store = await openStore("memory:", { artifactContent: content })
  const registry = createArtifactRegistry({ store: store.artifacts })
  const kept: string[] = []
  let error = await attempt(async () => {
    for (;;) kept.push((await content.put(randomBytes(20_000))).hash)
  })
  say({ full: error, kept: kept.length, strangers: await strangers() })
  error = await attempt(() => registry.store(envelope(randomBytes(30_000).toString("base64"))))
  say({ refused: error, artifacts: (await store.artifacts.list()).length, strangers: await strangers() })
  for (const hash of kept) await content.read(hash)
  for (const hash of kept.splice(0, 4)) await content.delete(hash)
  const { artifact } = await registry.store(envelope("small again"))
  say({ after: (await registry.get(artifact.id)).payload, readable: kept.length })
  await store.close()
}

/** Keeps one content, then finds its disk read-only. */
async function readOnly(): Promise<void> {
  const { hash } = await content.put(Buffer.from("first"))
  execFileSync("mount", ["-o", "remount,ro", folder])
  const refused = await attempt(() => content.put(Buffer.from("second")))
  const again = await attempt(() => content.put(Buffer.from("first")))
  const swept = await content.sweep(() => false, 0)
  const still = Buffer.from(await content.read(hash)).toString()
  say({ refused, again, still, failed: swept.failed.map(({ error }) => error.code), strangers: await strangers() })
}

/** Names in the folder that are not content. */
async function strangers(): Promise<string[]> {
  const names = readdirSync(folder).flatMap((shard) => readdirSync(`${folder}/${shard}`))
  return names.filter((name) => !/^[0-9a-f]{64}$/.test(name))
}

function envelope(payload: string) {
  const facts = { type: "Note", schemaVersion: "1.0.0", title: "A note", taskNodeId: "task-1" }
  return { id: "note-1", ...facts, payload, createdAt: "2030-01-31T12:00:00Z" }
}

async function attempt(work: () => Promise<unknown>): Promise<object | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    return errorToJson(toKeepupError(error))
  }
}

function say(what: object): void {
  process.stdout.write(`${JSON.stringify(what)}\n`)
}

const modes: Readonly<Record<string, () => Promise<void>>> = {
  "die-at": dieAt,
  churn,
  sweep,
  fill,
  "read-only": readOnly,
}
await modes[mode]?.()
