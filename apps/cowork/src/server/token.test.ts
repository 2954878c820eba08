import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { createDoorkeeper, readToken } from "./token.js"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepup-token-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe("the token's file", () => {
  it("is made once, for its owner alone", () => {
    const path = join(folder, "token")
    const token = readToken(path)
    expect(token).toMatch(/^[\w-]{43}$/)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readToken(path)).toBe(token)
  })

  it("is refused when it is a link or holds something else, and left as it is", () => {
    const [target, link, broken] = ["target", "link", "broken"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ]
    writeFileSync(target, "a".repeat(43))
    symlinkSync(target, link)
    writeFileSync(broken, "short")
    for (const path of [link, broken]) expect(() => readToken(path)).toThrow("does not hold a token")
    expect(readFileSync(broken, "utf8")).toBe("short")
    const dangling = join(folder, "dangling")
    symlinkSync(join(folder, "nothing"), dangling)
    expect(() => readToken(dangling)).toThrow("does not hold a token")
  })
})

describe("the doorkeeper", () => {
  const token = "t".repeat(43)

  it("forgets a code after ten minutes, and wrong tokens after one", () => {
    let now = 1_000
    const door = createDoorkeeper(token, { now: () => now })
    const { code, expiresAt } = door.createCode()
    expect(expiresAt).toBe(601_000)
    now = 601_000
    expect(() => door.trade(code)).toThrow("used already, or is too old")
    const wrong = () => door.check("Bearer wrong")
    for (let i = 0; i < 19; i++) expect(wrong).toThrow("The token is wrong")
    expect(wrong).toThrow("Too many wrong tokens")
    door.check(`Bearer ${token}`)
    now += 60_000
    expect(wrong).toThrow("The token is wrong")
  })

  it("keeps a bounded number of codes, the newest ones", () => {
    const door = createDoorkeeper(token, { now: () => 0 })
    const first = door.createCode().code
    const codes = Array.from({ length: 100 }, () => door.createCode().code)
    expect(() => door.trade(first)).toThrow("used already")
    expect(door.trade(codes.at(-1) as string)).toBe(token)
    expect(door.trade(codes[0] as string)).toBe(token)
  })

  it("proves itself for one port and one challenge only", () => {
    const door = createDoorkeeper(token, { now: () => 0 })
    const proof = door.prove("a challenge", 7177)
    expect(proof).not.toContain(token)
    expect(door.prove("a challenge", 7178)).not.toBe(proof)
    expect(door.prove("another challenge", 7177)).not.toBe(proof)
  })
})
