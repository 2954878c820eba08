import { spawnSync } from "node:child_process"
import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it.each(["bash", "zsh", "fish"])("has a script for %s that the shell accepts", async (shell) => {
  const { code, out } = await machine.run(`completion ${shell}`)
  expect(code).toBe(0)
  expect(out).toContain("keepup __complete --")
  if (shell === "bash") expect(spawnSync("bash", ["-n"], { input: out }).status).toBe(0)
})

it("knows no other shell", async () => {
  expect((await machine.ask("completion tcsh", 2)).error.hint).toBe("Shells are: bash, zsh, fish.")
})
