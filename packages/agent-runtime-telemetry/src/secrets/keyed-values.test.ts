import { describe, expect, it } from "vitest"
import { noise } from "../../test/fake-secrets.js"
import { redactKeyedValues } from "./keyed-values.js"

const redact = (text: string) => redactKeyedValues(text, () => "#")
const basic = btoa("someone:hunter2")

describe("redactKeyedValues", () => {
  it.each([
    ["DB_PASSWORD=swordfish", "DB_PASSWORD=#"],
    ["API_TOKEN=ab&cd;ef next", "API_TOKEN=# next"],
    [`LONG_TOKEN=${"a1".repeat(2000)} next`, "LONG_TOKEN=# next"],
    ['PASSWORD="two words"', 'PASSWORD="#"'],
    ["spring.datasource.password=hunter2", "spring.datasource.password=#"],
    ["//registry.example/:_authToken=hunter2", "//registry.example/:_authToken=#"],
    ["host=db password=swordfish user=me", "host=db password=# user=me"],
    ["Server=db;Password=hunter2;Port=1", "Server=db;Password=#;Port=1"],
    ["?a=1&access_token=abc123&b=2", "?a=1&access_token=#&b=2"],
  ])("takes the value of an assignment: %s", (text, expected) => {
    expect(redact(text)).toBe(expected)
  })

  it.each([
    ['{"password":"hunter2","n":1}', '{"password":"#","n":1}'],
    ['{"password": 123456}', '{"password": "#"}'],
    [String.raw`{"x":"{\"apiKey\": \"hunter2\"}"}`, String.raw`{"x":"{\"apiKey\": \"#\"}"}`],
    [String.raw`{"env":"A=1\nDB_PASSWORD=hunter2\nB=2"}`, String.raw`{"env":"A=1\nDB_PASSWORD=#\nB=2"}`],
    [String.raw`{"password":"odd \" quote"}`, '{"password":"#"}'],
    ['{"x":"password=","y":[1,2]}', '{"x":"password=","y":[1,2]}'],
    [String.raw`{"x":"password=\"","y":"b"}`, String.raw`{"x":"password=\"","y":"b"}`],
    [
      '{"password":{"type":"string"},"token":42,"secret":null}',
      '{"password":{"type":"string"},"token":42,"secret":null}',
    ],
  ])("takes values in JSON and leaves JSON: %s", (text, expected) => {
    expect(redact(text)).toBe(expected)
    expect(() => JSON.parse(redact(text))).not.toThrow()
  })

  it.each([
    ["  password: swordfish\n  port: 1", "  password: #\n  port: 1"],
    ["- token: 'hunter2'", "- token: '#'"],
    ["secret: hunter2 # old", "secret: # # old"],
    ["  token: Token\n", "  token: Token\n"],
    ["secrets: inherit\n", "secrets: inherit\n"],
  ])("takes values in YAML: %s", (text, expected) => {
    expect(redact(text)).toBe(expected)
  })

  it.each([
    ["const apiKey = 'hunter2'", "const apiKey = '#'"],
    ['const password: string = "hunter2"', 'const password: string = "#"'],
    ["$config['password'] => 'hunter2'", "$config['password'] => '#'"],
    ['os.environ["API_TOKEN"] = "hunter2"', 'os.environ["API_TOKEN"] = "#"'],
    ["const password: string = read()", "const password: string = read()"],
    ['const API_KEY = "API_KEY"', 'const API_KEY = "API_KEY"'],
    ["tokens.map(token => token.value1)", "tokens.map(token => token.value1)"],
    ["if (password == other1) {}", "if (password == other1) {}"],
    ['password = "', 'password = "'],
    ["connect(password=password, token=self.token)", "connect(password=password, token=self.token)"],
  ])("takes literals in code and leaves the code: %s", (text, expected) => {
    expect(redact(text)).toBe(expected)
  })

  it.each([
    ["tool --token hunter2 --force", "tool --token # --force"],
    ["tool --password 'two words' x", "tool --password '#' x"],
    ["tool --password $PASSWORD", "tool --password $PASSWORD"],
    ["tool --name hunter2", "tool --name hunter2"],
    ["use the --password option", "use the --password option"],
    ["tool --password '$X'", "tool --password '$X'"],
    ['tool --password "]hunter2" x', 'tool --password "#" x'],
    [`["token='", "it's"]`, `["token='", "it's"]`],
    [String.raw`["token=\"","\""]`, String.raw`["token=\"","\""]`],
    ['["secret`=","a"]', '["secret`=","a"]'],
    [`tool --token 'a"b'`, "tool --token '#'"],
    ['["use --token ",{"a":"b"}]', '["use --token ",{"a":"b"}]'],
    ['["password: string =","a"]', '["password: string =","a"]'],
    ["curl -u me:hunter2 host", "curl -u me:# host"],
    ["curl -u me:$PASSWORD host", "curl -u me:$PASSWORD host"],
    ["machine h login me password hunter2", "machine h login me password #"],
    ["machine h login me password $X", "machine h login me password $X"],
    ["<password>hunter2</password><name>me</name>", "<password>#</password><name>me</name>"],
  ])("takes values on command lines and in elements: %s", (text, expected) => {
    expect(redact(text)).toBe(expected)
  })

  it.each([
    [`Authorization: Bearer ${noise(30)}\nHost: x`, "Authorization: Bearer #\nHost: x"],
    [`authorization: Basic ${basic}`, "authorization: Basic #"],
    ["Authorization: Digest username=a, response=b", "Authorization: Digest #"],
    [`-H "Authorization: token ${noise(20)}" url`, '-H "Authorization: token #" url'],
    [`{"Authorization":"hunter2"}`, `{"Authorization":"#"}`],
    [`Authorization: ${noise(20)}1a`, "Authorization: #"],
    [`Authorization: Bearer ${"a1".repeat(1000)}`, "Authorization: Bearer #"],
    [`sent Bearer ${noise(30)}1 and Basic ${basic}`, "sent Bearer # and Basic #"],
    ["Authorization: Bearer [REDACTED]", "Authorization: Bearer [REDACTED]"],
    ["Authorization: Bearer $TOKEN", "Authorization: Bearer $TOKEN"],
    ["Authorization: Bearer token", "Authorization: Bearer token"],
    ["Authorization: Bearer authentication (RFC 6750)", "Authorization: Bearer authentication (RFC 6750)"],
    [`Authorization: Bearer auth_${noise(30)}`, "Authorization: Bearer #"],
    ["Authorization: Bearer key!7abc", "Authorization: Bearer #"],
    ["Authorization: required for all", "Authorization: required for all"],
    [
      "Bearer authentication, Basic authentication, Basic training12",
      "Bearer authentication, Basic authentication, Basic training12",
    ],
    ["Basic abcde", "Basic abcde"],
    ["Basic abcdefghi", "Basic abcdefghi"],
  ])("takes credentials: %s", (text, expected) => {
    expect(redact(text)).toBe(expected)
  })

  it.each([
    ["Cookie: a=1; session=hunter2\r\nHost: x", "Cookie: a=#; session=#\r\nHost: x"],
    ["Set-Cookie: sid=hunter2; Path=/; Max-Age=60; HttpOnly", "Set-Cookie: sid=#; Path=/; Max-Age=60; HttpOnly"],
    ['{"cookie":"a=b"}', '{"cookie":"a=#"}'],
    [`Cookie: a=${"x1".repeat(500)}; b=2`, "Cookie: a=#; b=#"],
    [
      `Cookie: ${"x".repeat(200)}; ${"y".repeat(40)}=[REDACTED]; b=2`,
      `Cookie: ${"x".repeat(200)}; ${"y".repeat(40)}=[REDACTED]; b=#`,
    ],
    ["cookie: string", "cookie: string"],
    ["const cookie = a === b", "const cookie = a === b"],
    ["Cookie: a=[REDACTED]; b=$B", "Cookie: a=[REDACTED]; b=$B"],
  ])("takes cookies: %s", (text, expected) => {
    expect(redact(text)).toBe(expected)
  })
})
