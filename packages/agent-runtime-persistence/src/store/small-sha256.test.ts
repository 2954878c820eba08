import { createHash } from "node:crypto"
import fc from "fast-check"
import { expect, it } from "vitest"
import { smallSha256 } from "./small-sha256.js"

const expected = (content: Uint8Array) => createHash("sha256").update(content).digest("hex")

it("knows the examples of the standard", () => {
  expect(smallSha256(Buffer.from("abc"))).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  expect(smallSha256(Buffer.from(""))).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
})

it("hashes content of every length up to a few blocks as node:crypto does", () => {
  for (let length = 0; length <= 300; length++) {
    const content = Uint8Array.from({ length }, (_, i) => (i * 167 + length) & 255)
    expect(smallSha256(content)).toBe(expected(content))
  }
})

it("hashes any content as node:crypto does, also a part of a larger buffer", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5_000 }), fc.nat(50), (content, skipped) => {
      const part = content.subarray(Math.min(skipped, content.length))
      expect(smallSha256(part)).toBe(expected(part))
    }),
  )
})
