/** Random bytes come from a pool, and no two calls get the same. */
import { expect, it } from "vitest"
import { fillRandom, randomHex } from "./lazy-crypto.js"

it("hands out random bytes once, across refills and for any length", () => {
  const seen = new Set<string>()
  for (let i = 0; i < 2_000; i++) seen.add(randomHex(8))
  expect(seen.size).toBe(2_000)
  for (const length of [0, 1, 511, 512, 513, 4_000]) expect(randomHex(length)).toHaveLength(length * 2)
  const [a, b] = [new Uint8Array(600), new Uint8Array(600)]
  fillRandom(a)
  fillRandom(b)
  expect(a).not.toEqual(b)
  expect(new Set(a).size).toBeGreaterThan(100)
})
