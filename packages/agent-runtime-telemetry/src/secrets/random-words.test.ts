import { describe, expect, it } from "vitest"
import { body, noise } from "../../test/fake-secrets.js"
import { redactRandomWords } from "./random-words.js"

const redact = (text: string) => redactRandomWords(text, () => "#")
/** What a random secret in base64 looks like. */
const base64 = `${noise(14)}/${noise(9, 3)}+${noise(15, 5)}`
const oneCase = noise(48).toLowerCase()

describe("redactRandomWords", () => {
  it("takes long random strings wherever they stand", () => {
    expect(redact(`the key is ${noise(40)}.`)).toBe("the key is #.")
    expect(redact(`("${base64}==")`)).toBe('("#")')
    expect(redact(`${base64}=,`)).toBe("#,")
    expect(redact(`https://host.example/hook/${noise(32)}/run`)).toBe("https://host.example/hook/#/run")
    expect(redact(`found ${oneCase} here`)).toBe("found # here")
    expect(redact(JSON.stringify(`line\n${noise(40)}`))).toBe(String.raw`"line\n#"`)
    expect(redact(JSON.stringify(`\u001b${noise(40)}`))).toBe(String.raw`"\u001b#"`)
  })

  it("takes nearly every random key of 40 characters", () => {
    const missed = Array.from({ length: 500 }, (_, seed) => noise(40, seed * 7919 + 1)).filter(
      (key) => redact(key) === key,
    )
    expect(missed.length).toBeLessThan(15)
  })

  it.each([
    ["a short one", noise(23)],
    ["data", noise(300)],
    ["a hash", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
    ["a UUID", "018f3a5e-7c1d-7b2a-9e4f-1a2b3c4d5e6f"],
    ["a name with a hash in it", "NODE_FUSE_9f86d081884c7d659a2feaa0c55ad015"],
    ["a digest", `sha512-${base64}`],
    ["a fingerprint", `SHA256:${noise(43)}`],
    ["an id by its name", `"sessionId": "${noise(40)}"`],
    ["an id by its prefix", `toolu_${noise(24)}`],
    ["a commit", `commit=${noise(40)}`],
    ["a public key", `ssh-ed25519 ${noise(68)} me@host`],
    ["an image", `data:image/png;base64,${noise(60)}`],
    ["an image without its address", `iVBORw0KGgo${noise(60)}`],
    ["an escaped address", `a%2F${noise(40)}`],
    ["a file name", `out/${noise(30)}.png`],
    ["a name in one case in a path", `/nix/store/${noise(32).toLowerCase()}/bin`],
    ["a certificate", `${noise(64)}\n${noise(64, 3)}\n${noise(40, 5)}==`],
    ["a certificate in JSON", JSON.stringify(`${noise(64)}\n${noise(64, 3)}\n${noise(40, 5)}`)],
    ["words", body(60)],
    ["a slug", "2024-05-06-how-to-write-2-parsers-in-100-lines"],
    ["a number", "123456789012345678901234567890"],
    ["one letter", `${"a".repeat(30)}1B`],
  ])("leaves %s", (_, text) => {
    expect(redact(text)).toBe(text)
  })
})
