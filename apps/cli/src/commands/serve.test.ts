import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("refuses what is no port, and a host that others can reach unless that is said", async () => {
  expect((await machine.ask("serve --port 70000", 2)).error.message).toContain("no port 70000")
  const { error } = await machine.ask("serve --port 0 --host 0.0.0.0", 2)
  expect([error.code, error.message]).toEqual(["INVALID_INPUT", expect.stringContaining("not a loopback address")])
})

it("says who has the port when it is not one of ours", async () => {
  const { createServer } = await import("node:http")
  const heard: string[] = []
  const stranger = createServer((request, response) => {
    heard.push(JSON.stringify(request.headers))
    response.end("{}")
  })
  await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve))
  const { port } = stranger.address() as { port: number }
  const { error } = await machine.ask(`serve --port ${port}`, 5)
  expect(error).toMatchObject({ code: "CONFLICT", message: expect.stringContaining(`Port ${port}`) })
  expect(heard.join()).not.toContain(readFileSync(join(machine.state, "token"), "utf8").trim())
  await new Promise((resolve) => stranger.close(resolve))
})
