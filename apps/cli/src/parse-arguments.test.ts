import { expect, it } from "vitest"
import type { Command } from "./command.js"
import { commands } from "./commands.js"
import { findCommand } from "./find-command.js"
import { parseArguments } from "./parse-arguments.js"

const command: Command = {
  summary: "",
  arguments: [
    { name: "ONE", summary: "" },
    { name: "MORE?…", summary: "" },
  ],
  options: [
    { flags: "-y, --yes", summary: "" },
    { flags: "--branch [NAME]", summary: "" },
    { flags: "--path <P...>", summary: "" },
    { flags: "--limit <N>", summary: "", isCount: true },
    { flags: "--mode <MODE>", summary: "", choices: ["show", "verify"] },
    { flags: "--no-files", summary: "" },
  ],
  examples: [],
  exits: [],
  run: async () => undefined,
}
const parse = (line: string, spec = command) => parseArguments(spec, line.split(" "), "demo")
const refuse = (line: string) => {
  try {
    parse(line)
  } catch (error) {
    return error
  }
  return undefined
}

it("finds the command among options", () => {
  const find = (line: string) => {
    const { entry, rest } = findCommand(commands, line.split(" "))
    return [entry?.name, ...rest]
  }
  expect(find("checkpoint list --all")).toEqual(["checkpoint list", "--all"])
  expect(find("--cwd /x checkpoint -S abcd restore 3")).toEqual([
    "checkpoint restore",
    "--cwd",
    "/x",
    "-S",
    "abcd",
    "3",
  ])
  expect(find("run checkpoint list")).toEqual(["run", "checkpoint", "list"])
  expect(find("checkpoint nothing")).toEqual([undefined, "nothing"])
  expect(find("-- checkpoint list")).toEqual([undefined, "--", "checkpoint", "list"])
})

it("reads arguments and options", () => {
  const { input, flags } = parse("a b c -y --branch --path x y --limit 3 --no-files --json --state-dir /s")
  expect([input.argument("ONE"), input.list("MORE")]).toEqual(["a", ["b", "c"]])
  expect([input.flag("yes"), input.has("branch"), input.option("branch")]).toEqual([true, true, undefined])
  expect([input.values("path"), input.count("limit"), input.isOff("files")]).toEqual([["x", "y"], 3, true])
  expect(flags).toMatchObject({ json: true, stateDir: "/s", color: true, quiet: false })
})

it.each([
  ["--yes", "Missing required argument 'ONE'."],
  ["a --limit many", '--limit takes a whole number, not "many".'],
  ["a --limit -1", '--limit takes a whole number, not "-1".'],
  ["a --mode odd", '--mode does not take "odd".'],
  ["a --brnch", "Unknown option '--brnch'."],
])("refuses %s", (line, message) => {
  expect(refuse(line)).toMatchObject({ code: "INVALID_INPUT", message })
})

it("knows which option was meant, and hands over what stands after the dashes", () => {
  expect(refuse("a --brnch")).toMatchObject({ hint: "Did you mean --branch?" })
  const rest = { name: "PATH…", summary: "" }
  expect(parse("a -- -x y", { ...command, rest }).input.rest).toEqual(["-x", "y"])
  expect(parse("a -- -x").input.list("MORE")).toEqual(["-x"])
})
