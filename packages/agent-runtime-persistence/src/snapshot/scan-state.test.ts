import { createHash } from "node:crypto"
import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { createScanState, loadScanState, type ScanState, saveScanState, stateVersion } from "./scan-state.js"

let store: string
beforeEach(() => {
  store = mkdtempSync(join(tmpdir(), "keepup-state-"))
})
afterEach(() => rmSync(store, { recursive: true }))

function stateWith(gone: number): ScanState {
  const overlay: ScanState["overlay"] = new Map()
  for (let i = 0; i < gone; i++) overlay.set(`folder/file ${i}`, "gone")
  return { ...createScanState(), lastCommit: "1".repeat(40), rules: "r", overlay }
}

const load = () => {
  const { directories: _, ...rest } = loadScanState(store) as ScanState
  return rest
}

it("gives back what was saved last, also when that was the shorter one", () => {
  for (const gone of [3, 5_000, 1, 0]) {
    const { directories: _, ...rest } = stateWith(gone)
    saveScanState(store, stateWith(gone))
    expect(load()).toEqual(rest)
  }
})

it("reads a state of before private files were noted as one that knows of none", () => {
  const saved = { ...stateWith(1), privateMarks: new Map([["secret", true]]) }
  saveScanState(store, saved)
  expect(load().privateMarks).toEqual(saved.privateMarks)
  const file = join(store, "scan-state")
  const { privateMarks: _, ...older } = JSON.parse(readFileSync(file, "latin1").slice(41))
  const body = JSON.stringify(older)
  writeFileSync(file, `${createHash("sha1").update(body, "latin1").digest("hex")}\n${body}`)
  expect(load()).toMatchObject({ overlay: saved.overlay, privateMarks: new Map() })
})

it("tells two saves of the same state apart", () => {
  expect(stateVersion(store)).toBe("none")
  const versions = [1, 2, 3].map(() => {
    saveScanState(store, stateWith(2))
    return stateVersion(store)
  })
  expect(new Set(versions).size).toBe(3)
  expect(stateVersion(store)).toBe(versions[2])
})

it.each([
  ["ends too early", (file: string) => truncateSync(file, 60)],
  ["has an end of an older one", (file: string) => appendFileSync(file, "left")],
  ["is empty", (file: string) => writeFileSync(file, "")],
  ["begins with another", (file: string) => writeFileSync(file, `{"a":${readFileSync(file, "latin1").slice(5)}`)],
])("believes no state that %s", (_, damage) => {
  saveScanState(store, stateWith(2))
  damage(join(store, "scan-state"))
  expect(loadScanState(store)).toBeUndefined()
  saveScanState(store, stateWith(2))
  expect(loadScanState(store)).toBeDefined()
})
