/** A process that does everything is killed with SIGKILL, at every step there is and at random instants. */
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type PostgresServer, startPostgres } from "../../src/testing/start-postgres.js"
import { bundleProgram, startProgram } from "../../src/testing/start-program.js"
import { createTemporaryFolder, type TemporaryFolder } from "../../src/testing/temporary-folder.js"
import type { StorySaid } from "./programs/tell-story.js"
import { checkLaws, createPromises, hear } from "./store-laws.js"

const lanes = 2

let folder: TemporaryFolder
let tellStory: string
let describeProgram: string

beforeAll(async () => {
  folder = createTemporaryFolder()
  tellStory = await bundleProgram(fileURLToPath(new URL("programs/tell-story.ts", import.meta.url)))
  describeProgram = await bundleProgram(fileURLToPath(new URL("programs/describe.ts", import.meta.url)))
})

afterAll(() => folder.remove())

describe("on SQLite", () => {
  it("keeps the laws when killed at every named step", async () => {
    await killAtEveryStep(async (name) => `sqlite:${folder.file(name, "keepup.db")}`)
  })

  it("keeps the laws when killed at random instants, again and again on the same file", async () => {
    const stores = Array.from({ length: 16 }, (_, number) => number)
    await inLanes(stores, (number) => killAtRandom(`sqlite:${folder.file(`random-${number}`, "keepup.db")}`, 5))
  })
})

describe("on PostgreSQL", () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres({ settings: { fsync: "off" } }) // it is not the server that dies here
  })
  afterAll(() => server.stop())

  it("keeps the laws when killed at every named step", async () => {
    await killAtEveryStep(() => server.createDatabase(), { onlyFirst: true })
  })

  it("keeps the laws when killed at random instants, again and again on the same database", async () => {
    await inLanes([1, 2], async () => killAtRandom(await server.createDatabase(), 9))
  })
})

/**
 * Lists the steps by telling the story once, then tells it once for each and dies there: every time a step is reached,
 * or only the first time.
 */
async function killAtEveryStep(createUrl: (name: string) => Promise<string>, { onlyFirst = false } = {}) {
  const whole = startProgram(tellStory, [await createUrl("whole"), "1"])
  expect(await whole.ended, whole.errors()).toEqual({ code: 0, signal: null })
  const steps = (whole.said as StorySaid[]).flatMap((line) => ("step" in line ? [line.step] : []))
  expect(new Set(steps.map((step) => step.split(":")[0]))).toEqual(new Set(expectedSteps))
  const numbers = [...steps.keys()].filter((index) => !onlyFirst || steps.indexOf(steps[index] as string) === index)
  await inLanes(numbers, async (index) => {
    const url = await createUrl(`step-${index}`)
    const story = startProgram(tellStory, [url, "1", String(index + 1)])
    expect(await story.ended, `${steps[index]}: ${story.errors()}`).toEqual({ code: null, signal: "SIGKILL" })
    const promises = createPromises()
    hear(promises, story.said as StorySaid[])
    await named(`killed at step ${index + 1}, ${steps[index]}`, () => checkLaws(url, promises, describeProgram))
  })
}

const expectedSteps = [
  "migrate-1",
  "create-session",
  "append",
  "state",
  "checkpoint",
  "lease",
  "release",
  "renew",
  "artifact",
  "log",
  "update-session",
  "delete-checkpoints",
  "delete-session",
]

async function killAtRandom(url: string, kills: number): Promise<void> {
  const promises = createPromises()
  for (let kill = 1; kill <= kills; kill++) {
    const story = startProgram(tellStory, [url, "1000000"])
    const isOpen = kill % 3 > 0 // one of three dies while it starts and opens the store
    if (isOpen) await story.heard(() => true)
    const ms = Math.random() * 100
    setTimeout(() => story.signal("SIGKILL"), ms)
    expect(await story.ended, story.errors()).toEqual({ code: null, signal: "SIGKILL" })
    hear(promises, story.said as StorySaid[])
    await named(`kill ${kill}, ${ms.toFixed(1)} ms after its ${isOpen ? "first word" : "start"}`, () =>
      checkLaws(url, promises, describeProgram),
    )
  }
}

async function named(what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`, { cause: error })
  }
}

async function inLanes<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  const waiting = [...items]
  const lane = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}
