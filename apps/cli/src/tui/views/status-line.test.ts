import { describe, expect, it } from "vitest"
import { createStyles } from "../../output/text.js"
import { startState } from "../state/chat-state.js"
import { renderStatus } from "./status-line.js"

const status = {
  ...startState({ workspacePath: "/work", model: "anthropic/claude-sonnet-4-5" }).status,
  sessionName: "Make the parser of the settings twice as fast",
  sessionShortId: "4f1c9a20",
  checkpointCount: 12,
  changedFiles: 3,
  inputTokens: 25_000,
  outputTokens: 612,
  cost: 0.1234,
}

const render = (columns: number) => renderStatus(status, "idle", columns, createStyles(false))

describe("the status line", () => {
  it("has everything where there is room", () => {
    expect(render(160)).toBe(
      "  Make the parser of the settings twice as fast · anthropic/claude-sonnet-4-5 · 12 checkpoints · " +
        "3 files changed · 25.6k tokens · $0.123 · 4f1c9a20",
    )
  })

  it("writes shorter before it leaves something out", () => {
    const line = render(80)
    expect(line).toContain("claude-sonnet-4-5 · 12 chkp. · 3 files · 25.6k tok. · $0.123")
    expect(line.length).toBeLessThanOrEqual(80)
  })

  it.each([10, 20, 30, 40, 60, 80, 100])("is never wider than %d columns", (columns) => {
    expect(render(columns).length).toBeLessThanOrEqual(columns)
    expect(render(columns)).toContain("Mak")
  })
})
