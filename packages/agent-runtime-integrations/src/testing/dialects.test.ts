/** The scripted server would notice a wrong request. */
import { describe, expect, it } from "vitest"
import { findPairingProblems, findTextProblem, type Step } from "./find-pairing-problems.js"
import { dialects, openModelServer } from "./model-server.js"

const calls = (...ids: string[]): Step => ({ kind: "calls", ids })
const results = (...ids: string[]): Step => ({ kind: "results", ids })
const other: Step = { kind: "other" }

describe("findPairingProblems", () => {
  it("finds nothing wrong where nothing is", () => {
    expect(findPairingProblems([other, calls("1", "2"), results("2", "1"), calls("3"), results("3"), other])).toEqual(
      [],
    )
  })

  it.each<[string, Step[]]>([
    ["a call without a result", [other, calls("1")]],
    ["a result too few", [calls("1", "2"), results("1")]],
    ["a result twice", [calls("1"), results("1", "1")]],
    ["something between", [calls("1"), other, results("1")]],
    ["a result without a call", [other, results("1")]],
    ["an id twice", [calls("1"), results("1"), calls("1"), results("1")]],
    ["an id with a blank", [calls("a b"), results("a b")]],
  ])("finds %s", (_, steps) => {
    expect(findPairingProblems(steps)).not.toEqual([])
  })
})

describe("findTextProblem", () => {
  it("finds no text, empty text and half a character", () => {
    expect(["ok", " ", "\ud83d", undefined].map((text) => findTextProblem(text, "it").length)).toEqual([0, 1, 1, 1])
  })
})

/** An assistant that calls, then a user who says something instead of a result. */
const wrong: Readonly<Record<string, unknown>> = {
  anthropic: {
    messages: [
      { role: "assistant", content: [{ type: "tool_use", id: "1", input: "x" }] },
      { role: "assistant", content: [] },
      {
        role: "user",
        content: [
          { type: "text", text: "" },
          { type: "tool_result", tool_use_id: "1" },
        ],
      },
      { role: "assistant", content: [{ type: "text", text: "x" }] },
    ],
  },
  "openai-chat": {
    messages: [
      { role: "assistant", tool_calls: [{ id: "1", function: { arguments: "x" } }] },
      { role: "assistant", content: null },
      { role: "system", content: "x" },
      { role: "assistant", content: "" },
    ],
  },
  "openai-responses": {
    input: [
      { type: "function_call", call_id: "1", arguments: "x" },
      { role: "user", content: [{ text: "" }] },
      { role: "assistant", content: "" },
    ],
  },
  google: {
    contents: [
      { role: "model", parts: [{ functionCall: { name: "a", id: "1", args: "x" } }] },
      { role: "user", parts: [{ text: "" }] },
      { role: "model", parts: [] },
    ],
  },
}

describe.each(dialects)("$name", ({ name, findProblems }) => {
  it("finds the call without a result, the missing user, the empty text and the argument that is no object", () => {
    const problems = findProblems(wrong[name]).join("\n")
    expect(problems).toContain("1 is followed by results")
    expect(problems).toContain("first")
    expect(problems).toContain("last")
    expect(problems).toMatch(/is empty|is no text/)
    expect(problems).toContain("no object")
  })
})

describe("openModelServer", () => {
  it("refuses what it does not know and what the script does not hold, and keeps both", async () => {
    const server = await openModelServer()
    const post = (path: string, body: string) => fetch(`${server.url}${path}`, { method: "POST", body })
    expect((await post("/v1/nothing", "{}")).status).toBe(404)
    expect((await post("/v1/messages", '{"messages":[]}')).status).toBe(400)
    expect(server.requests.map(({ path }) => path)).toEqual(["/v1/nothing", "/v1/messages"])
    await server.close()
  })
})
