import { describe, expect, test } from "vitest"
import { use } from "../../test/temporary-workspace.js"
import { collectState } from "../collect-state.js"
import { createFleetingEvents } from "../fleeting.js"
import { createSpawnAgentTool, type KnownSession, type SpawnAgentOptions } from "./spawn-agent.js"
import { createTodoList, createTodoListTool } from "./todo-list.js"

const items = [
  { title: "a", status: "done" as const },
  { title: "b", status: "open" as const },
]

describe("todo_list", () => {
  test("replaces the list, and hands it over once as state", async () => {
    const list = createTodoList()
    const take = collectState({ todo: list, nothing: { takeChange: () => undefined } })
    expect(take()).toBeUndefined()
    expect(await use(createTodoListTool(list), { items: [{ ...items[0], extra: 1 }, items[1]] })).toEqual({
      content: "1 of 2 done.",
    })
    expect(take()).toEqual({ todo: items })
    expect(take()).toBeUndefined()
  })

  test("goes on with what was kept, and refuses what is no list", async () => {
    expect(createTodoList(JSON.parse(JSON.stringify(items))).items).toEqual(items)
    expect(() => createTodoList({})).toThrow("not a kept todo list")
    const bad = [{ title: "a", status: "maybe" }]
    await expect(use(createTodoListTool(createTodoList()), { items: bad })).rejects.toThrow(
      "items[0].status must be one of open, doing, done",
    )
  })
})

describe("spawn_agent", () => {
  function create(outcome: string, more: Partial<SpawnAgentOptions> = {}) {
    const said: string[] = []
    const tool = createSpawnAgentTool({
      spawnSession: async ({ callId, agentType, task }) => {
        said.push(`made ${agentType} for ${task} by ${callId}`)
        return {
          sessionId: "child",
          run: async () => {
            said.push("ran")
            return { outcome, content: "did it" }
          },
        }
      },
      emit: async ([event]) => void said.push(`${event?.type} ${JSON.stringify(event?.data)}`),
      ...more,
    })
    return { tool, said }
  }

  test("tells of the child before it runs, and gives back what it did", async () => {
    const { tool, said } = create("completed")
    expect(await use(tool, { task: "tests" })).toEqual({ content: "did it\n(Session child: completed.)" })
    expect(said).toEqual([
      "made agent for tests by call-1",
      'agent:spawned {"agentType":"agent","sessionId":"child","task":"tests","callId":"call-1"}',
      "ran",
    ])
  })

  test("a child that did not come to its end is an error the model hears of", async () => {
    const { tool } = create("failed")
    expect(await use(tool, { task: "tests", agentType: "tester" })).toMatchObject({ isError: true })
  })

  test.each(["paused", "cancelled", "in-doubt"])("a child that is %s has no result yet", async (outcome) => {
    const { tool } = create(outcome)
    expect(await use(tool, { task: "tests" })).toMatchObject({ isPaused: true })
  })

  test("knows what became of a child whose parent died", async () => {
    const inspect = async (found: KnownSession | undefined) =>
      await create("completed", { findSession: async () => found }).tool.inspect?.({}, "c")
    expect(await inspect(undefined)).toEqual({ summary: "The other agent was not started.", isApplied: false })
    expect(await inspect({ sessionId: "s", status: "completed", messageCount: 4 })).toEqual({
      summary: "The other agent's session s is completed, at message 4. A retry gives its answer.",
      isApplied: true,
    })
    expect(await inspect({ sessionId: "s", status: "paused", messageCount: 3 })).toMatchObject({ isApplied: false })
    expect(await create("completed").tool.inspect?.({}, "c")).toEqual({
      summary: "Whether the other agent was started is not known.",
    })
  })
})

describe("fleeting events", () => {
  test("go out in order, together when they pile up, and a failure is heard at the flush", async () => {
    const batches: number[] = []
    let isBroken = false
    const fleeting = createFleetingEvents(async (events) => {
      if (isBroken) throw new Error("gone")
      batches.push(events.length)
      await new Promise((resolve) => setTimeout(resolve, 1))
    })
    await fleeting.flush()
    for (let number = 0; number < 10; number++) fleeting.push({ type: "a:b", data: number })
    await Promise.resolve()
    await Promise.resolve()
    fleeting.push({ type: "a:b", data: 10 })
    await fleeting.flush()
    expect(batches).toEqual([10, 1])
    isBroken = true
    fleeting.push({ type: "a:b", data: 11 })
    await expect(fleeting.flush()).rejects.toThrow("gone")
    await fleeting.flush()
  })
})
