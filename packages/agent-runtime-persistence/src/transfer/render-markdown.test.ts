import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { said, user } from "../testing/contract/samples.js"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import { renderMarkdown } from "./render-markdown.js"

let travel: TimeTravelFixture
beforeEach(async () => {
  travel = await openFixture({ clock: { now: () => Date.UTC(2026, 0, 2, 3, 4, 5) } })
})
afterEach(() => travel.close())

async function render(sessionId: string, options: { redact?: boolean } = {}): Promise<string> {
  const parts: string[] = []
  for await (const part of renderMarkdown(travel, { sessionId: sessionId as never, ...options })) parts.push(part)
  return parts.join("")
}

describe("a session as Markdown", () => {
  it("reads as a conversation with folded calls and marked checkpoints", async () => {
    const session = await travel.createSession("Fix | the *parser*")
    travel.write({ "a.ts": "1\n" })
    await travel.store.log.append(session.id, [user("Please fix it.")])
    await travel.manager.take({ sessionId: session.id, trigger: "manual", name: "before" })
    travel.write({ "a.ts": "1\n2\n", "b.ts": "new\n" })
    const call = { id: "c1", name: "edit<b>", arguments: { path: "a.ts" } }
    await travel.store.log.append(session.id, [
      said({ role: "assistant", content: "On it.", toolCalls: [call] }),
      said({ role: "tool", callId: "c1", name: "edit<b>", content: "```\nok\n```" }),
      said({ role: "summary", content: "what was", summaryId: "s", hides: { from: 1, to: 2 } }),
    ])
    await travel.manager.take({ sessionId: session.id, trigger: "run.ended" })
    const { id } = session
    const text = (await render(id))
      .replaceAll(travel.workspace, "/w")
      .replaceAll(id, "ID")
      .replace(/id [0-9a-f]{8}/g, "id 8")
    expect(text).toBe(`# Fix \\| the \\*parser\\*

| | |
|---|---|
| Session | ID |
| Status | active |
| Agent | keepup |
| Workspace | /w |
| Created | 2026-01-02 03:04:05 UTC |
| Changed | 2026-01-02 03:04:05 UTC |
| Messages | 4 |
| Checkpoints | 2 |

### 1. User · 2026-01-02 03:04:05 UTC

Please fix it.

> **Checkpoint #1 “before”** · manual · 2026-01-02 03:04:05 UTC · id 8 · 0 files changed, +0 −0

### 2. Assistant · 2026-01-02 03:04:05 UTC

On it.

<details>
<summary>Call of edit&lt;b&gt;</summary>

\`\`\`json
{
  "path": "a.ts"
}
\`\`\`

</details>

<details>
<summary>Result of edit&lt;b&gt;</summary>

\`\`\`\`
\`\`\`
ok
\`\`\`
\`\`\`\`

</details>

<details>
<summary>Summary of messages 1 to 2</summary>

\`\`\`
what was
\`\`\`

</details>

> **Checkpoint #2** · run.ended · 2026-01-02 03:04:05 UTC · id 8 · 2 files changed, +2 −0
> - modified a.ts (+1 −0)
> - added b.ts (+1 −0)
`)
  })

  it("has no secrets if that is wanted, and says that it hasn't", async () => {
    const token = ["gh", "p_", "abcdefghijklmnopqrstuvwxyz0123456789"].join("")
    const session = await travel.createSession(`with ${token}`)
    await travel.store.log.append(session.id, [user(`my key is ${token}`)])
    const text = await render(session.id, { redact: true })
    expect(text).not.toContain(token)
    expect(text).toContain("my key is [REDACTED]")
    expect(text).toContain("Secrets were taken out.")
  })
})
