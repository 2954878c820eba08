import { describe, expect, it } from "vitest"
import { noise } from "../../test/fake-secrets.js"
import { redactPrivateKeys } from "./private-keys.js"

const redact = (text: string) => redactPrivateKeys(text, () => "#")
const header = (kind: string) => ["-----BEGIN ", kind, "PRIVATE ", "KEY-----"].join("")
const footer = (kind: string) => ["-----END ", kind, "PRIVATE ", "KEY-----"].join("")
const lines = `${noise(64)}\n${noise(30)}==`

describe("redactPrivateKeys", () => {
  it("takes the whole block", () => {
    expect(redact(`a\n${header("RSA ")}\n${lines}\n${footer("RSA ")}\nb`)).toBe("a\n#\nb")
  })

  it("takes a block in a JSON string", () => {
    const json = JSON.stringify({ pem: `${header("")}\n${lines}\n${footer("")}\n` })
    expect(redact(json)).toBe('{"pem":"#\\n"}')
  })

  it("takes the lines of a key that stand in quotes, and leaves the quotes", () => {
    const [first, last] = lines.split("\n") as [string, string]
    const json = (...items: string[]) => JSON.stringify([header(""), ...items, footer("")])
    expect(redact(json(first, last))).toBe(json("#", "#"))
    expect(redact(json(`\t${first}\n`))).toBe(json("\t#\n"))
    expect(redact(JSON.stringify(json(first)))).toBe(JSON.stringify(json("#")))
    expect(redact(json("#", "#"))).toBe(json("#", "#"))
    expect(redact(`"${header("")}\\n" +\n  "${first}\\n" +\n  "${footer("")}"`)).toBe(
      `"${header("")}\\n" +\n  "#\\n" +\n  "${footer("")}"`,
    )
  })

  it("takes a block of PGP and one with headers inside", () => {
    const pgp = header("PGP ").replace("KEY-", "KEY BLOCK-")
    expect(redact(`${pgp}\nVersion: 1\n\n${lines}\n${footer("PGP ").replace("KEY-", "KEY BLOCK-")}`)).toBe("#")
    expect(redact(`${header("RSA ")}\nProc-Type: 4,ENCRYPTED\n\n${lines}\n${footer("RSA ")}`)).toBe("#")
  })

  it("takes a key whose end is missing, and no more than the key", () => {
    expect(redact(`${header("EC ")}\n${lines}`)).toBe("#")
    expect(redact(`${header("EC ")}\n${lines}\n... cut here`)).toBe("#... cut here")
  })

  it("takes two keys, the first of them cut", () => {
    expect(redact(`${header("")}\n${lines}\n${header("")}\n${lines}\n${footer("")}`)).toBe("##")
  })

  it("leaves texts that only speak about keys, and public ones", () => {
    for (const text of [
      `if (text.startsWith("${header("")}")) return`,
      `${header("")} and ${footer("")} enclose it`,
      header("").replace("PRIVATE", "PUBLIC") + lines,
      "no PRIVATE KEY here",
    ]) {
      expect(redact(text)).toBe(text)
    }
  })
})
