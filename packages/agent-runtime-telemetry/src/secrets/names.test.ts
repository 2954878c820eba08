import { describe, expect, it } from "vitest"
import { kindOfName } from "./names.js"

describe("kindOfName", () => {
  it.each([
    ["password", "password"],
    ["DB_PASSWORD", "password"],
    ["userPasswd", "password"],
    ["smtp-pass", "password"],
    ["password2", "password"],
    ["mypassword", "password"],
    ["token", "token"],
    ["accessToken", "token"],
    ["GITHUB_TOKEN", "token"],
    ["_authToken", "token"],
    ["x-api-key", "token"],
    ["APIKey", "token"],
    ["AWS_SECRET_ACCESS_KEY", "token"],
    ["client_secret_value", "token"],
    ["SECRET_KEY_BASE", "token"],
    ["client-key-data", "token"],
    ["credentials", "token"],
    ["auth", "maybe"],
    ["key", "maybe"],
    ["primaryKey", "maybe"],
    ["Proxy-Authorization", "authorization"],
    ["Set-Cookie", "cookie"],
    ["id", "reference"],
    ["sessionId", "reference"],
    ["tool_use_id", "reference"],
    ["sha256", "reference"],
    ["integrity", "reference"],
  ])("sees that %s names a %s", (name, kind) => {
    expect(kindOfName(name)).toBe(kind)
  })

  it.each([
    ..."tokens max_tokens tokenCount tokenizer total_tokens secretary secretName passwordless passwordHint".split(" "),
    ..."next_page_token cancellationToken eos_token publicKey keyboard cookieParser author compass".split(" "),
    ...["name", "", "value", "message", "valid", "grid"],
  ])("sees nothing in %s", (name) => {
    expect(kindOfName(name)).toBe("plain")
  })
})
