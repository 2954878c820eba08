import { describe, expect, it } from "vitest"
import { createStyles, textWidth } from "../../output/text.js"
import type { ToolItem } from "../state/chat-item.js"
import { renderItem } from "./item-lines.js"

const bare = createStyles(false)

function tool(change: Partial<ToolItem>): ToolItem {
  const made = { id: 1, kind: "tool", callId: "1", name: "run_command", target: "npm test", status: "ok" } as const
  return { ...made, result: "", output: "", hasResult: true, durationMs: undefined, ...change }
}

describe("an item of the conversation", () => {
  it("says by a sign and a word what became of a call", () => {
    const shown = (change: Partial<ToolItem>) => renderItem(tool(change), 80, bare)[0]
    expect(shown({ result: "40 passed" })).toBe("✓ run_command npm test  40 passed")
    expect(shown({ status: "error", result: "2 failed", durationMs: 5_200 })).toBe(
      "✗ run_command npm test  failed: 2 failed (5.2 s)",
    )
    expect(shown({ status: "in-doubt" })).toBe("? run_command npm test  in doubt")
    expect(shown({ status: "cancelled" })).toBe("- run_command npm test  cancelled")
  })

  it("has colours that add nothing to the words", () => {
    const coloured = renderItem(tool({ status: "error", result: "no" }), 80, createStyles(true))[0] as string
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
    expect(coloured.replace(/\u001b\[\d+m/g, "")).toBe(renderItem(tool({ status: "error", result: "no" }), 80, bare)[0])
    expect(coloured).toContain("\u001b[31m✗\u001b[39m")
  })

  it("shortens a path at its beginning, a command at its end, and is never wider than the screen", () => {
    const target = "packages/some/very/long/path/with/many/parts/and-a-name.ts"
    const [line = ""] = renderItem(tool({ name: "read_file", target, result: "120 lines" }), 40, bare)
    expect(line).toBe("✓ read_file …s/and-a-name.ts  120 lines")
    expect(textWidth(line)).toBeLessThanOrEqual(40)
    const command = tool({ target: "npm test -- --reporter=verbose parser", result: "40 passed" })
    expect(renderItem(command, 40, bare)).toEqual(["✓ run_command npm test -- -…  40 passed"])
  })

  it("makes a call's name, target and result harmless", () => {
    const [line = ""] = renderItem(tool({ target: "a\u001b[2Jb\nc", result: "\u0007x" }), 80, bare)
    expect(line).not.toMatch(/\p{Cc}/u)
  })

  it("keeps a message's own lines and hangs them under its mark", () => {
    const item = { id: 1, kind: "user", text: "one\n\ntwo three four five", isSending: false } as const
    expect(renderItem(item, 16, bare)).toEqual(["> one", "", "  two three", "  four five"])
  })

  it("shows the beginning of a message that is a whole file", () => {
    const text = Array.from({ length: 40_000 }, (_, index) => `line ${index}`).join("\n")
    const lines = renderItem({ id: 1, kind: "user", text, isSending: false }, 80, bare)
    expect(lines).toHaveLength(61)
    expect(lines.at(-1)).toBe("  … 39,940 more lines")
    const wide = renderItem({ id: 1, kind: "user", text: "x".repeat(1_000_000), isSending: false }, 80, bare)
    expect(wide.at(-1)).toBe("  … 992,000 more characters")
  })

  it("puts checkpoints that were made one after the other on one line if it fits", () => {
    const earlier = [{ number: 3, trigger: "turn ended", name: null }]
    const item = { id: 1, kind: "checkpoint", number: 4, trigger: "run ended", name: null, earlier } as const
    expect(renderItem(item, 80, bare)).toEqual(["  checkpoint #3 (turn ended), #4 (run ended)"])
    expect(renderItem(item, 40, bare)).toEqual(["  checkpoint #3 (turn ended)", "  checkpoint #4 (run ended)"])
  })

  it("keeps colours of our own blocks, and nothing else a terminal obeys", () => {
    const item = { id: 1, kind: "block", format: "plain", text: "\u001b[36m#1\u001b[39m a\u001b[2J\u0007" } as const
    expect(renderItem(item, 80, bare)).toEqual(["\u001b[36m#1\u001b[39m a\\u0007"])
  })
})
