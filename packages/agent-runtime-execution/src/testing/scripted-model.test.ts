import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Message } from "@ku0/agent-runtime-core"
import { describe, expect, test } from "vitest"
import { useWorkspace } from "../../test/temporary-workspace.js"
import { createScriptedModel, parseScript, readScriptedModel, type ScriptedAnswer } from "./scripted-model.js"

const folder = useWorkspace()
const messages: Message[] = [
  { role: "user", content: "make a.txt" },
  { role: "assistant", content: "", toolCalls: [{ id: "1", name: "run", arguments: { id: "job-41" } }] },
  { role: "tool", callId: "1", name: "run", content: "started job-42\nok" },
]
const { signal } = new AbortController()

async function ask(answer: ScriptedAnswer, sent = messages): Promise<unknown> {
  const model = createScriptedModel({ answers: [answer] })
  const { content, toolCalls } = await model.answer({ messages: sent, tools: [], signal }, () => undefined)
  return toolCalls.length === 0 ? content : toolCalls.map((call) => call.arguments)
}

describe("a scripted model", () => {
  test("gives its answers one after another, in pieces first", async () => {
    const model = createScriptedModel({
      answers: [{ content: "one  two", usage: { inputTokens: 1 } }, { content: "" }],
      name: "mine",
    })
    const pieces: string[] = []
    const answer = await model.answer({ messages, tools: [], signal }, (text) => pieces.push(text))
    expect(answer).toEqual({ content: "one  two", toolCalls: [], usage: { inputTokens: 1 } })
    expect(pieces).toEqual(["one  ", "two"])
    expect([model.name, model.remaining(), model.requests.length]).toEqual(["mine", 1, 1])
  })

  test("forgets what it was sent when it is told to", async () => {
    const model = createScriptedModel({ answers: [{ content: "one" }], keepsRequests: false })
    await model.answer({ messages, tools: [], signal }, () => undefined)
    expect([model.requests.length, model.remaining()]).toEqual([0, 0])
  })

  test("says so when the script is at its end", async () => {
    const model = createScriptedModel({ answers: [] })
    await expect(model.answer({ messages, tools: [], signal }, () => undefined)).rejects.toThrow(
      "has no answer 1: it ends after 0",
    )
  })

  test("goes on where an earlier process stopped; failures do not count", async () => {
    const failure = { error: { message: "x" } }
    const answers = [{ content: "1" }, failure, { content: "2" }, { content: "3" }]
    const model = createScriptedModel({ answers, startAt: 2 })
    expect((await model.answer({ messages, tools: [], signal }, () => undefined)).content).toBe("3")
    expect(createScriptedModel({ answers, startAt: 99 }).remaining()).toBe(0)
  })

  test("fills in templates, in what it says and in arguments", async () => {
    expect(await ask({ content: "{{prompt}}: {{last_tool_result}} {{other}} {{" })).toBe(
      "make a.txt: started job-42\nok {{other}} {{",
    )
    const calls = [
      { name: "x", arguments: { a: ["{{re:job-(\\d+)}}", 7, null], b: { c: "{{re:job-\\d+}}" } } },
      { name: "y" },
    ]
    expect(await ask({ toolCalls: calls })).toEqual([{ a: ["42", 7, null], b: { c: "job-42" } }, {}])
    expect(await ask({ content: "{{re:\\d{2}}}" })).toBe("42")
    await expect(ask({ content: "{{re:job-x}}" })).rejects.toThrow(
      "Answer 1 of the script: /job-x/ was not found in any message.",
    )
    await expect(ask({ content: "{{last_tool_result}}" }, [])).rejects.toThrow("there is no tool message to fill in")
  })

  test("checks what it was sent, and a failed expectation says which and what there was", async () => {
    expect(
      await ask({ content: "ok", expect: ["make a", "job-41"], expectLast: "^started.*ok$", expectNot: "secret" }),
    ).toBe("ok")
    await expect(ask({ expect: "never said" })).rejects.toThrow(
      "Answer 1 of the script: /never said/ does not fit what the model was sent. The newest message: started job-42\nok",
    )
    await expect(ask({ expectLast: "make a" })).rejects.toThrow("does not fit the newest message")
    await expect(ask({ expectNot: "job-42" })).rejects.toThrow("and must not")
    await expect(ask({ expect: "x" }, [])).rejects.toMatchObject({ code: "INVALID_INPUT" })
  })

  test("fails and waits as told, and can be cancelled meanwhile", async () => {
    const error = { message: "busy", status: 429, retryAfterMs: 5 }
    await expect(ask({ error })).rejects.toMatchObject({ message: "busy", status: 429, retryAfterMs: 5 })
    const controller = new AbortController()
    const model = createScriptedModel({ answers: [{ delayMs: 60_000 }, { delayMs: 1, content: "x" }] })
    const waiting = model.answer({ messages, tools: [], signal: controller.signal }, () => undefined)
    controller.abort()
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" })
    expect((await model.answer({ messages, tools: [], signal }, () => undefined)).content).toBe("x")
  })
})

describe("a script", () => {
  test("is a JSON list or JSON lines with comments", () => {
    expect(parseScript('[{"content":"a"},\n {"content":"b"}]')).toEqual([{ content: "a" }, { content: "b" }])
    expect(parseScript('# two answers\n{"content":"a"}\n\n{"content":"b"}\n')).toEqual([
      { content: "a" },
      { content: "b" },
    ])
    expect(parseScript("")).toEqual([])
  })

  test.each([
    ["[1", "The script is not JSON"],
    ['{"content":"a"}\n{', "Line 2 of the script is not JSON"],
    ["[7]", "Answer 1 of the script: it is not a JSON object"],
    ['{"contents":"a"}', '"contents" is not known'],
    ['{"content":1}', '"content" must be a text'],
    ['{"toolCalls":[{}]}', '"toolCalls" must be a list of calls with a name'],
    ['{"toolCalls":7}', '"toolCalls" must be'],
    ['{"expect":"("}', '"expect" must be regular expressions'],
    ['{"expectNot":[1]}', '"expectNot" must be regular expressions'],
    ['{"error":{}}', '"error" must have a message'],
    ['{"delayMs":-1}', '"delayMs" must be a number'],
  ])("refuses %s and says where", (text, why) => {
    expect(() => parseScript(text)).toThrow(
      expect.objectContaining({ code: "INVALID_INPUT", message: expect.stringContaining(why) }),
    )
  })

  test("is read from a file", async () => {
    const path = join(folder.path, "a.responses.jsonl")
    writeFileSync(path, '{"content":"a"}\n')
    expect((await readScriptedModel(path)).remaining()).toBe(1)
    await expect(readScriptedModel(`${path}x`)).rejects.toMatchObject({ code: "NOT_FOUND" })
    await expect(readScriptedModel(folder.path)).rejects.toThrow("EISDIR")
  })
})
