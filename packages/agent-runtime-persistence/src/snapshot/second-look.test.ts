/** Two threads see what one sees, and a second one that is late, slow or dead changes nothing. */
import { chmodSync, lstatSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { afterEach, beforeEach, expect, it } from "vitest"
import { createTemporaryFolder } from "../testing/temporary-folder.js"
import { createSecondLook, type Look } from "./second-look.js"

let folder: string
let places: (string | Buffer)[]
beforeEach(() => {
  folder = createTemporaryFolder().path
  places = Array.from({ length: 300 }, (_, i) => join(folder, `f${i}`))
  for (const [i, place] of places.entries()) writeFileSync(place, "x".repeat(i))
  rmSync(places[40] as string)
  rmSync(places[299] as string)
  symlinkSync("nowhere", places[299] as string)
  chmodSync(places[100] as string, 0o755)
  const bytes = Buffer.concat([Buffer.from(`${folder}/caf`), Buffer.from([0xff, 0xe9])])
  writeFileSync(bytes, "bytes")
  places.push(bytes, folder)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const pick = (look: Look | undefined) =>
  look && [look.ctimeMs, look.mtimeMs, look.ino, look.mode, look.uid, look.gid, look.size]
const alone = () => places.map((place) => pick(lstatSync(place, { throwIfNoEntry: false })))

it("sees the same with a second thread, also what changed since", async () => {
  const eyes = createSecondLook()
  // What the thread saw is a plain record, what was seen here is the disk's own answer.
  const isShared = () => eyes.lookAtAll(places).some((look) => look !== undefined && !("isFile" in look))
  while (!isShared()) await wait(5)
  expect(eyes.lookAtAll(places).map(pick)).toEqual(alone())
  writeFileSync(places[7] as string, "changed")
  utimesSync(places[250] as string, 1_600_000_000.123, 1_600_000_000.456)
  for (let i = 0; i < 20; i++) expect(eyes.lookAtAll(places).map(pick)).toEqual(alone())
  places = places.slice(50).reverse()
  for (let i = 0; i < 20; i++) expect(eyes.lookAtAll(places).map(pick)).toEqual(alone())
})

it("goes on with what the thread has begun, and only with that of the same places", async () => {
  const eyes = createSecondLook()
  expect(eyes.begin(places)).toBe(undefined) // there is no thread yet
  for (let begun = eyes.begin(places); begun === undefined; begun = eyes.begin(places)) {
    eyes.lookAtAll(places)
    await wait(5)
  }
  const begun = eyes.begin(places)
  await wait(20) // it has seen all of them
  const before = alone()
  expect(eyes.lookAtAll(places, begun).map(pick)).toEqual(before)
  const others = places.slice(10)
  expect(eyes.lookAtAll(others, eyes.begin(places)).map(pick)).toEqual(before.slice(10))
})

it.each([
  [
    "takes files and never answers",
    'parentPort.on("message", ({ state }) => Atomics.add(new Int32Array(state), 0, 3))',
  ],
  ["dies at the first question", 'parentPort.on("message", () => { throw new Error("dead") })'],
  ["never begins", 'throw new Error("no thread here")'],
])("sees the same when the second thread %s", async (_how, program) => {
  const eyes = createSecondLook(
    `const { parentPort } = require("node:worker_threads"); parentPort.postMessage("ready"); ${program}`,
  )
  for (let i = 0; i < 40; i++) {
    expect(eyes.lookAtAll(places).map(pick)).toEqual(alone())
    await wait(5)
  }
})
