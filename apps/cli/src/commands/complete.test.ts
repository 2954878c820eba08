import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

const complete = async (...words: string[]) =>
  (await machine.run(["__complete", "--", ...words])).out.split("\n").slice(0, -1)
const values = async (...words: string[]) => (await complete(...words)).map((line) => line.split("\t")[0])

it("completes commands and options", async () => {
  expect(await values("che")).toEqual(["checkpoint"])
  expect(await values("checkpoint", "re")).toEqual(["restore", "replay"])
  expect(await complete("checkpoint", "restore", "3", "--dr")).toEqual(["--dry-run\tonly show the plan"])
  expect(await values("checkpoint", "list", "--trigger", "ma")).toEqual(["manual"])
  expect(await values("help", "checkpoint", "sh")).toEqual(["show"])
  expect(await values("config", "get", "check")).toContain("checkpoint.retention")
  expect(await values("nonsense", "")).toEqual([])
})

it("completes sessions, checkpoints and names", async () => {
  const { session } = await machine.ask(["session", "new", "Parser"])
  const id = session.id.slice(-8)
  await machine.run("checkpoint create --name before")
  expect(await complete("session", "show", "")).toEqual([
    `${id}\tParser (active, just now)`,
    `Parser\t${id}, active, just now`,
    "latest\tthe newest one",
  ])
  expect(await complete("checkpoint", "restore", "")).toEqual([
    "before\t#1, manual, just now",
    "1\tmanual, just now",
    "latest\tthe newest one",
  ])
  expect(await values("checkpoint", "diff", "1", "la")).toEqual(["latest"])
  expect(await values("-S", id, "rewind", "b")).toEqual(["before"])
  expect(await values("checkpoint", "create", "--state", "")).toEqual([":files"])
})

it("offers sessions by id and by name, the checkpoints of the one that is named, and files after --", async () => {
  await machine.run(["session", "new", "Parser work"])
  await machine.run("checkpoint create --name good")
  await machine.run(["session", "new", "Twice"])
  await machine.run(["session", "new", "Twice"])
  expect(await values("session", "rename", "Par")).toEqual(["Parser work"])
  expect(await values("session", "rename", "Tw")).toEqual([])
  expect(await values("resume", "la")).toEqual(["latest"])
  expect(await values("checkpoint", "show", "")).toEqual(["latest"])
  expect(await values("checkpoint", "show", "-S", "Parser work", "")).toEqual(["good", "1", "latest"])
  expect(await values("checkpoint", "diff", "good", "--", "sr")).toEqual([":files"])
  expect(await values("run", "--", "sr")).toEqual([])
})

it("completes the value in --option=value, and heeds those that were written so", async () => {
  await machine.run(["session", "new", "Parser work"])
  await machine.run("checkpoint create --name good")
  await machine.run(["session", "new", "Other"])
  expect(await complete("--session=Par")).toEqual([
    expect.stringMatching(/^--session=Parser work\t[0-9a-f]{8}, active/),
  ])
  expect(await values("run", "--approval=")).toEqual(["--approval=ask", "--approval=auto", "--approval=deny"])
  expect(await values("checkpoint", "replay", "1", "--mode=v")).toEqual(["--mode=verify"])
  expect(await values("resume", "--session=Parser work", "--from=g")).toEqual(["--from=good"])
  expect(await values("checkpoint", "create", "--state=a")).toEqual([":files"])
  expect(await values("--cwd=")).toEqual([":files"])
  expect(await values("checkpoint", "list", "--limit=")).toEqual([])
  expect(await values("checkpoint", "list", "--json=")).toEqual([])
})

it("looks where the line says: in another workspace, another state directory", async () => {
  machine.write("../else/a.txt", "one")
  await machine.run("--cwd ../else checkpoint create --name there")
  await machine.run("checkpoint create --name here")
  expect(await values("checkpoint", "show", "")).toEqual(["here", "1", "latest"])
  expect(await values("--cwd", "../else", "checkpoint", "show", "")).toEqual(["there", "1", "latest"])
  expect(await values("checkpoint", "--cwd=~/../else", "show", "the")).toEqual(["there"])
  expect(await values("--state-dir=../new", "checkpoint", "show", "here")).toEqual([])
})
