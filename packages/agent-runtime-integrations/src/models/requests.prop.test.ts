/** Whatever the conversation looks like, what a provider is sent is valid, and nothing said is lost. */
import type { Message } from "@ku0/agent-runtime-core"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { dialects } from "../testing/model-server.js"
import { ask, providers } from "../testing/providers.js"

const texts = fc.oneof(
  fc.constantFrom("", "  \n", "yes", "half \ud83d", "ünï 🌍"),
  fc.string({ unit: "binary", maxLength: 12 }),
)
const ids = fc.constantFrom("1", "2", "3", "a b/c", "", "x".repeat(70), `${"x".repeat(64)}y`)
const names = fc.constantFrom("read_file", "list.files", "gone tool", "")
const args = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constant(undefined),
  fc.constant({ path: "half \udc00", "\ud800": [{ deep: "\ud800" }] }),
)
const hides = fc.constant({ from: 1, to: 1 })
const messages: fc.Arbitrary<Message> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ role: fc.constant("user" as const), content: texts }) },
  fc.record({ role: fc.constant("system" as const), content: texts }),
  {
    weight: 4,
    arbitrary: fc.record(
      {
        role: fc.constant("assistant" as const),
        content: texts,
        toolCalls: fc.array(fc.record({ id: ids, name: names, arguments: args }), { maxLength: 3 }),
      },
      { requiredKeys: ["role", "content"] },
    ),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      role: fc.constant("tool" as const),
      callId: ids,
      name: names,
      content: texts,
      isError: fc.boolean(),
    }),
  },
  fc.record({ role: fc.constant("summary" as const), content: texts, summaryId: fc.constant("s"), hides }),
  fc.record({ role: fc.constant("truncation" as const), content: texts, truncationId: fc.constant("t"), hides }),
)
const question: Message = { role: "user", content: "The question." }
const conversations = fc
  .tuple(fc.array(messages, { maxLength: 25 }), fc.boolean())
  .map(([list, isFirst]) => (isFirst ? [question, ...list] : [...list, question]))

/** The request as it would go out; it goes nowhere. */
async function requestOf(provider: (typeof providers)[number], conversation: readonly Message[]) {
  let sent: { url: string; body: string } | undefined
  await ask(provider, {
    messages: conversation,
    baseUrl: "http://127.0.0.1:9",
    fetch: async (url, init) => {
      sent = { url: String(url), body: String(init?.body) }
      return new Response("", { status: 500 })
    },
  }).catch(() => {})
  return sent ?? expect.unreachable("nothing was sent")
}

describe.each(providers)("$model", (provider) => {
  const dialect = dialects.find(({ name }) => name === provider.dialect) ?? expect.unreachable()

  it("is sent valid requests only", async () => {
    await fc.assert(
      fc.asyncProperty(conversations, async (conversation) => {
        const { url, body } = await requestOf(provider, conversation)
        expect(dialect.matches(url)).toBe(true)
        expect(dialect.findProblems(JSON.parse(body))).toEqual([])
      }),
      { numRuns: 100 },
    )
  })

  it("is sent everything that was said, but for calls and results without their other half", async () => {
    await fc.assert(
      fc.asyncProperty(conversations, async (conversation) => {
        const marked = conversation.map((message, index) => ({ ...message, content: `${message.content}#${index}#` }))
        const { body } = await requestOf(provider, marked)
        const said = marked.flatMap(({ role }, index) => (role === "tool" ? [] : [`#${index}#`]))
        expect(said.filter((mark) => !body.includes(mark))).toEqual([])
      }),
      { numRuns: 40 },
    )
  })
})
