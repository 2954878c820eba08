import { crc32 as expected } from "node:zlib"
import fc from "fast-check"
import { expect, it } from "vitest"
import { crc32 } from "./crc32.js"

const inHex = (content: Uint8Array) => expected(content).toString(16).padStart(8, "0")

it("knows the number everyone checks it with, and that of nothing", () => {
  expect(crc32(Buffer.from("123456789"))).toBe("cbf43926")
  expect(crc32(Buffer.from(""))).toBe("00000000")
})

it("sums up any content as node:zlib does, also a part of a larger buffer", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5_000 }), fc.nat(50), (content, skipped) => {
      const part = content.subarray(Math.min(skipped, content.length))
      expect(crc32(part)).toBe(inHex(part))
    }),
  )
})

it.each([8_191, 8_192, 100_000])("gives the same on both sides of where it becomes much: %i bytes", (length) => {
  const content = Uint8Array.from({ length }, (_, i) => (i * 167) & 255)
  expect(crc32(content)).toBe(inHex(content))
})
