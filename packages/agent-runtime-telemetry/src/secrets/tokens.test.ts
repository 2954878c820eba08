import { describe, expect, it } from "vitest"
import { body, noise } from "../../test/fake-secrets.js"
import { redactTokens } from "./tokens.js"

const redact = (text: string) => redactTokens(text, () => "#")
const fake = (...parts: string[]) => parts.join("")

describe("redactTokens", () => {
  it("takes a token from the middle of an address, a word, a colour", () => {
    expect(redact(`https://${fake("gh", "p_", body(36))}@host/x`)).toBe("https://#@host/x")
    expect(redact(`x${fake("gl", "pat-", body(20))}`)).toBe("x#")
    expect(redact(`\u001b[32m${fake("sk", "-", noise(48))}\u001b[0m`)).toBe("\u001b[32m#\u001b[0m")
    expect(redact(String.raw`\n${fake("sk", "-", noise(48))}\n`)).toBe(String.raw`\n#\n`)
  })

  it("cuts no escape of a JSON text, even if its letter could begin a token", () => {
    expect(redact(`"\\${fake("np", "m_", body(36))}"`)).toBe('"\\n#"')
    const part = body(20)
    expect(redact(`"\\u000${fake("ey", "J", part)}.${part}.${part}"`)).toBe('"\\u000e#"')
  })

  it("takes webhooks and other addresses that are keys", () => {
    expect(redact(`https://hooks.slack.${fake("com/", "services/T0/B0/")}${body(30)}`)).toBe("https://#")
    expect(redact(`discord.${fake("com/api/", "webhooks/")}${"1".repeat(18)}/${body(68)}`)).toBe("#")
  })

  it("takes signed and encrypted JSON tokens with all their parts", () => {
    const part = fake("ey", "J", body(20))
    expect(redact(`a ${part}.${part}.${body(43)} b`)).toBe("a # b")
    expect(redact(`${part}..${body(20)}.${body(30)}.${body(22)};`)).toBe("#;")
    expect(redact(`${part}.${part}.`)).toBe("#")
  })

  it("takes a token as one when another kind of token seems to lie across it", () => {
    const part = fake("ey", "J", body(20))
    expect(redact(`a ${part}${fake("hv", "b.")}${part}.${body(43)} b`)).toBe("a # b")
    expect(redact(`a ${fake("gh", "p_", body(36))}${part}.${body(20)} b`)).toBe("a # b")
    expect(redact(fake("do", "p_v1_", "0a".repeat(32)).repeat(2))).toBe("##")
  })

  it.each([
    fake("ey", "J", body(20)),
    `${fake("ey", "J", "a")}.b.c`,
    fake("task", "-", noise(40)),
    "sk-loading-spinner-container-outer-2",
    "disk-encryption-configuration-settings",
    "npm_config_registry_with_a_long_name_in_it",
    `${noise(12)}${fake("AI", "za")}${noise(40)}`,
    "ABIA",
  ])("leaves %s", (text) => {
    expect(redact(text)).toBe(text)
  })
})
