/**
 * Runs where a small disk is mounted on a folder of its own, fills it, frees it, makes it read-only, and says what a
 * store did about it. Argument: the folder. Ends with `{ done: true }` if everything promised was there at each look.
 */
import { execFileSync } from "node:child_process"
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { type ArtifactId, type EntryDraft, isKeepupError, type SessionId } from "@ku0/agent-runtime-core"
import { createArtifactContent } from "../../../src/artifact/artifact-content.js"
import { openStore, type Store } from "../../../src/store/open-store.js"
import { describeStore } from "../describe-store.js"
import { type EntryFacts, factsOf, say } from "./said.js"

export interface Outcome {
  /** What was tried, on a disk in which state. */
  readonly tried: string
  /** The error's code, `done`, or what else was thrown. */
  readonly outcome: string
  readonly hint?: string | undefined
}

const [disk = ""] = process.argv.slice(2)
const url = `sqlite:${join(disk, "keepup.db")}`
const filler = join(disk, "filler")
const ballast = join(disk, "ballast")
const promised: EntryFacts[] = []
const promisedArtifacts = new Set<string>()
let count = 0

const clock = { now: () => Date.now() }
const artifactContent = createArtifactContent({ folder: join(disk, "artifacts"), clock })

fill()
await attempt("open a new store, full", async () => (await open()).close())
free()
const store = await open()
const session = await store.sessions.create({ workspacePath: "/w", name: "first" })
for (let n = 0; n < 20; n++) await append([message(n, 1_000)])
await check(store)

for (const megabytes of [13, 9, 5]) {
  writeFileSync(ballast, Buffer.alloc(megabytes * 1_000_000)) // what can be freed again
  await appendUntilRefused()
  fill()
  await tryEverything("full")
  await check(store)
  free()
  await tryEverything("freed")
  await check(store)
}
await appendUntilRefused()
await store.close()
await lookAgain("closed while full")

fill()
await attempt("open, full", () => lookAgainQuietly())
free()
await lookAgain("freed")

await attempt("write, read-only", writeReadOnly)
await lookAgain("writable again")
say({ done: true, files: readdirSync(disk).sort() })

async function open(at = url): Promise<Store> {
  return await openStore(at, { artifactContent })
}

async function append(drafts: EntryDraft[]): Promise<void> {
  promised.push(...(await store.log.append(session.id, drafts)).map(factsOf))
}

async function appendUntilRefused(): Promise<void> {
  for (;;) {
    const tried = "append, filling up"
    if ((await attempt(tried, () => append([message(++count, 20_000), message(++count, 20_000)]), false)) !== "done")
      return
  }
}

async function tryEverything(state: string): Promise<void> {
  const sessionId = session.id
  await attempt(`append, ${state}`, () => append([message(++count, 300_000)]))
  await attempt(`append a batch, ${state}`, () => append([message(++count, 200_000), message(++count, 200_000)]))
  await attempt(`append a value, ${state}`, () => append([noise(400_000)]))
  await attempt(`state, ${state}`, async () => {
    const { entry } = await store.state.put(sessionId, { noise: noise(200_000), count: ++count })
    await keep(entry?.seq)
  })
  await attempt(`checkpoint, ${state}`, async () => {
    const draft = message(++count, 200_000)
    const { entrySeq } = await store.checkpoints.create({
      sessionId,
      trigger: "manual",
      entries: [draft],
      state: { count },
    })
    await keep(entrySeq)
  })
  await attempt(`artifact, ${state}`, async () => {
    const id = `artifact-${++count}`
    await store.artifacts.put(artifact(id), Buffer.from(`${id} ${"x".repeat(200_000)}`))
    promisedArtifacts.add(id)
  })
  await attempt(`session, ${state}`, async () => {
    const made = await store.sessions.create({ workspacePath: "/w", metadata: { noise: "x".repeat(200_000) } })
    await store.sessions.delete(made.id)
  })
  await attempt(`lease, ${state}`, async () => (await store.leases.take("workspace:/w", { purpose: "t" })).release())
}

/** Promises the entry a call made. */
async function keep(seq = 0): Promise<void> {
  for (const entry of await store.log.read(session.id, { after: seq - 1, before: seq + 1 }))
    promised.push(factsOf(entry))
}

async function attempt(tried: string, work: () => Promise<unknown>, isTold = true): Promise<string> {
  try {
    await work()
    if (isTold) say({ tried, outcome: "done" } satisfies Outcome)
    return "done"
  } catch (error) {
    const outcome = isKeepupError(error) ? error.code : String((error as Error).stack)
    say({ tried, outcome, hint: isKeepupError(error) ? error.hint : undefined } satisfies Outcome)
    return outcome
  }
}

/** Everything promised is there, byte for byte, and nothing has a gap. */
async function check(looked: Store): Promise<void> {
  const { sessions, artifacts } = await describeStore(looked)
  const found = sessions.find((one) => one.session.id === session.id)
  const bySeq = new Map(found?.entries.map((entry) => [entry.seq, JSON.stringify(entry)]))
  for (const entry of promised) {
    if (bySeq.get(entry.seq) !== JSON.stringify(entry)) throw new Error(`Entry ${entry.seq} is not what was promised.`)
  }
  if (bySeq.size !== found?.session.headSeq) throw new Error("There is a gap.")
  for (const id of promisedArtifacts) {
    const artifact = artifacts.find((one) => one.id === id)
    if (artifact === undefined || artifact.hash !== artifact.contentHash) throw new Error(`Artifact ${id} is gone.`)
  }
  const [row] = await looked.context.driver.all("PRAGMA integrity_check")
  if (row?.["integrity_check"] !== "ok") throw new Error(`Damaged: ${JSON.stringify(row)}`)
}

async function lookAgain(when: string): Promise<void> {
  if ((await attempt(`look, ${when}`, () => lookAgainQuietly())) !== "done") throw new Error(`Could not look: ${when}.`)
}

async function lookAgainQuietly(): Promise<void> {
  const again = await open()
  try {
    await check(again)
  } finally {
    await again.close()
  }
}

function fill(): void {
  const file = openSync(filler, "a")
  for (let size = 65_536; size >= 1; ) {
    try {
      writeSync(file, Buffer.alloc(size))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error
      size = Math.floor(size / 2)
    }
  }
  closeSync(file)
}

function free(): void {
  for (const file of [filler, ballast]) rmSync(file, { force: true })
}

async function writeReadOnly(): Promise<void> {
  const again = await open(`sqlite:${join(readOnlyView(), "keepup.db")}`)
  try {
    await check(again) // what can be read is all there
    await again.log.append(session.id, [message(++count, 10)])
  } finally {
    await again.close()
  }
}

/** The same disk a second time, for reading only. */
function readOnlyView(): string {
  const view = `${disk}-read-only`
  mkdirSync(view)
  execFileSync("mount", ["--bind", disk, view])
  execFileSync("mount", ["-o", "remount,bind,ro", view])
  return view
}

function message(n: number, size: number): EntryDraft {
  return { type: "message:added", data: { message: { role: "user", content: `${n} ${"word ".repeat(size / 5)}` } } }
}

/** Large enough to be kept apart, and not to be compressed away. */
function noise(size: number): EntryDraft {
  const text = Array.from({ length: size / 4 }, () => Math.random().toString(36).slice(2, 6)).join("")
  return { type: "test:noise", data: { text: text.repeat(3) } }
}

function artifact(id: string) {
  return {
    id: id as ArtifactId,
    sessionId: null as SessionId | null,
    type: "report",
    schemaVersion: "1",
    title: "",
    taskNodeId: null,
    mediaType: "text/plain",
    createdAt: 0,
    quarantine: null,
    renderHints: null,
    idempotencyKey: null,
  }
}
