/** Redaction as a whole: what it takes, what it leaves, and that no text is too nasty for it. */
import { describe, expect, it } from "vitest"
import { body, noise } from "../test/fake-secrets.js"
import { redactSecrets } from "./redact.js"

const token = ["gh", "p_", body(36)].join("")

describe("redactSecrets", () => {
  it("replaces each secret and counts them", () => {
    expect(redactSecrets(`first ${token}, then postgres://app:${body(9)}@db/main`)).toEqual({
      text: "first [REDACTED], then postgres://app:[REDACTED]@db/main",
      count: 2,
    })
  })

  it("gives back a text without secrets as it is", () => {
    expect(redactSecrets("")).toEqual({ text: "", count: 0 })
    expect(redactSecrets("Checkpoint #3 created.")).toEqual({ text: "Checkpoint #3 created.", count: 0 })
  })

  it("finds a secret that only stands alone once another is replaced", () => {
    const glued = `${token}-${["sk", "-", noise(40)].join("")}`
    expect(redactSecrets(glued)).toEqual({ text: "[REDACTED]-[REDACTED]", count: 2 })
  })

  it("leaves what the agent works with: source code, lock files, git output, usage reports", () => {
    for (const text of [
      "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b (HEAD -> main)",
      "index 3b18e512dba79e4c8300dd08aeb37f8e728b8dad..0000000 100644",
      "session 018f3a5e-7c1d-7b2a-9e4f-1a2b3c4d5e6f",
      "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      `resolution: {integrity: sha512-${noise(40)}/${noise(45)}==}`,
      '{"usage":{"input_tokens":1234,"output_tokens":56,"max_tokens":4096,"tokenCount":7}}',
      `{"tool_use_id":"toolu_${noise(24)}","callId":"${noise(32)}"}`,
      "function parse(token: Token, secret?: string): password is Password { return token.kind === 'key' }",
      "const password = process.env.DB_PASSWORD ?? config.password",
      "login({ user, password: hash(password), token: getToken() })",
      "password: $DB_PASSWORD, token: <your-token>, secret: ***, key: {{ .Values.key }}",
      "PWD=/home/someone/work OLDPWD=/tmp/other-place",
      "next_page_token: abc123def456",
      "The token: it is refreshed by the server. Password: required.",
      "curl -H 'Authorization: Bearer $TOKEN' https://host.example/",
      "docker run --user 1000:1000 image",
      "/var/folders/zz/zyxvpxvq6csfxvn0000000000000/T/session.db",
      "node_modules/.pnpm/vitest@4.1.12_a1b2c3d4e5f6g7h8i9j0k1l2m3/node_modules/vitest",
      `data:image/gif;base64,R0lGODlhAQABAIAAAP${noise(40)}`,
      "aVeryLongCamelCaseIdentifierWithBase64AndUtf8InIt2",
      "https://example.com/docs/2024-05-06/how-to-write-a-parser-in-100-lines",
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    ]) {
      expect(redactSecrets(text)).toEqual({ text, count: 0 })
    }
  })

  const hostile: Readonly<Record<string, string>> = {
    letters: "a",
    digits: "1",
    spaces: " ",
    backslashes: "\\",
    quotes: '"',
    dashes: "-",
    slashes: "/",
    "key headers": "-----BEGIN RSA PRIVATE KEY-----",
    "key headers with material": `-----BEGIN PRIVATE KEY-----${noise(30)}`,
    "addresses without end": "a://b:c",
    "at signs": "://a:@@@@",
    assignments: "token=",
    "rejected assignments": "TOKEN=$",
    "quoted assignments": 'token=\'$"password="${`',
    "escaped quotes": 'secret=\\"token=\\\\\\"',
    comparisons: "password==",
    "typed names": "password: string = ",
    options: "--token -",
    headers: "Authorization: Bearer <",
    cookies: "cookie:a=$",
    elements: "<password>",
    logins: "login a password ",
    "curl users": "curl -u a:",
    "beginnings of JSON tokens": "eyJ",
    "parts of JSON tokens": "eyJhbGci.",
    "slack beginnings": "xoxb-a-",
    "short prefixes": "sk-a AKIA ghp_ xapp-1-A SG.a ",
    "random words": `${noise(30)} `,
    "names of ids": `id: ${noise(40)}\n`,
    "base64 lines": `${noise(64)}\n`,
    "base64 runs": `${noise(30)}/${noise(30)}+`,
  }

  const fill = (unit: string, size: number) => unit.repeat(Math.ceil(size / unit.length)).slice(0, size)

  it.each(Object.entries(hostile))("gets through many %s, and redacts the same once and twice", (_, unit) => {
    const once = redactSecrets(fill(unit, 200_000))
    expect(redactSecrets(once.text)).toEqual({ text: once.text, count: 0 })
  })

  it("gets through 5 MB of everything that could slow it down", () => {
    const units = Object.values(hostile)
    const text = units.map((unit) => fill(unit, Math.ceil((5 * 1024 * 1024) / units.length))).join("\n")
    expect(redactSecrets(text).count).toBeGreaterThan(1000)
  })
})
