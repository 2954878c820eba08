/** Completion in the shells themselves: each is started, told the script, and asked what the Tab key would offer. */
import { spawnSync } from "node:child_process"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { spawn as openTerminal } from "@lydell/node-pty"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { buildOnce, openPlace, type Place, program } from "./real-keepup.js"

let place: Place
let environment: NodeJS.ProcessEnv

beforeAll(async () => {
  await buildOnce()
  place = openPlace()
  const folder = join(place.root, "bin")
  mkdirSync(folder)
  symlinkSync(program, join(folder, "keepup"))
  symlinkSync(process.execPath, join(folder, "node"))
  environment = { ...place.environment, PATH: `${folder}:${process.env["PATH"]}`, TERM: "dumb" }
  place.write("a.txt", "one\n")
  place.run("checkpoint", "create", "--name", "before it: all")
  place.run("checkpoint", "create", "--name", "plain")
})
afterAll(() => place.remove())

function runShell(shell: string, args: readonly string[], input = ""): string {
  const options = { cwd: place.workspace, env: environment, encoding: "utf8" as const, input, timeout: 60_000 }
  const { error, status, stdout, stderr } = spawnSync(shell, args, options)
  if ((error as NodeJS.ErrnoException | undefined)?.code === "ENOENT") {
    throw new Error(`There is no ${shell} here. Install it: completion is proven in the shell itself.`)
  }
  expect(status, `${error?.message ?? ""}${stderr}`).toBe(0)
  return stdout
}

it("bash offers commands, options, names and files", () => {
  const offered = (...words: string[]) => {
    const script = `eval "$(keepup completion bash)"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _keepup 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`
    return runShell("bash", ["--norc", "-c", script, "bash", "keepup", ...words])
      .split("\n")
      .slice(0, -1)
  }
  expect(offered("che")).toEqual(["checkpoint"])
  expect(offered("checkpoint", "restore", "--dr")).toEqual(["--dry-run"])
  expect(offered("checkpoint", "restore", "")).toEqual(["plain", "before\\ it:\\ all", "2", "1", "latest"])
  expect(offered("checkpoint", "restore", "bef")).toEqual(["before\\ it:\\ all"])
})

it("fish offers commands, options, names with what they are, and files where one is wanted", () => {
  const script = join(place.root, "keepup.fish")
  writeFileSync(script, place.run("completion", "fish").out)
  const offered = (line: string) =>
    runShell("fish", ["--no-config", "-c", `source ${script}; complete -C '${line}'`])
      .split("\n")
      .slice(0, -1)
  expect(offered("keepup che")).toEqual(["checkpoint\tcheckpoint …"])
  expect(offered("keepup checkpoint restore --dr")).toEqual(["--dry-run\tonly show the plan"])
  expect(offered("keepup checkpoint restore bef")).toEqual([expect.stringMatching(/^before it: all\t#1, manual, /)])
  expect(offered("keepup checkpoint create --state a.")).toEqual(["a.txt"])
  expect(offered("keepup checkpoint restore a.")).toEqual([])
})

it("zsh offers commands, options, names and files", async () => {
  const settings = join(place.root, "settings.zsh")
  const lines = [
    "autoload -Uz compinit; compinit -D -u",
    'eval "$(keepup completion zsh)"',
    "show() { print -r -- \"<<$BUFFER>>\"; BUFFER= }; zle -N show; bindkey '^X' show",
    'print re""ady',
  ]
  writeFileSync(settings, `${lines.join("\n")}\n`)
  runShell("zsh", ["-f", "-c", "true"])
  // on a terminal of its own: Tab completes the line, and ^X says what it has become
  const shell = openTerminal("zsh", ["-f", "-i"], { cwd: place.workspace, env: environment, cols: 200, rows: 50 })
  let seen = ""
  shell.onData((data) => {
    seen += data
  })
  const waitFor = async (pattern: RegExp) => {
    await vi
      .waitUntil(() => pattern.test(seen), { timeout: 30_000 })
      .catch(() => {
        throw new Error(`${pattern} was not seen in ${JSON.stringify(seen)}`)
      })
    return pattern.exec(seen)?.[1]
  }
  const completed = async (line: string) => {
    seen = ""
    shell.write(`${line}\t\u0018`)
    return await waitFor(/<<(.*)>>/)
  }
  try {
    shell.write(`source ${settings}\n`)
    await waitFor(/ready/)
    expect(await completed("keepup che")).toBe("keepup checkpoint ")
    expect(await completed("keepup checkpoint restore --dr")).toBe("keepup checkpoint restore --dry-run ")
    expect(await completed("keepup checkpoint restore bef")).toBe("keepup checkpoint restore before\\ it:\\ all ")
    expect(await completed("keepup checkpoint create --state a.")).toBe("keepup checkpoint create --state a.txt ")
  } finally {
    shell.kill("SIGKILL")
  }
})
