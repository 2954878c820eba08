/** What only a process of its own can show: signals, pipes, colours, start-up, and the demo. */
import { spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest"
import { buildOnce, openPlace, type Place, program } from "./real-keepup.js"

let place: Place

beforeAll(buildOnce)
beforeEach(() => {
  place = openPlace()
})
afterEach(() => place.remove())

/** It goes on as long as the workspace is there, and not longer. */
const command = "touch started; while [ -e started ]; do sleep 0.05; done"
const slow = [{ content: "begin", toolCalls: [{ name: "run_command", arguments: { command } }] }, { content: "end" }]

async function startSlow() {
  const child = place.start("run", "work", "--script", place.script(slow), "--approval", "auto")
  let err = ""
  child.stderr?.on("data", (chunk) => {
    err += chunk
  })
  child.stdout?.resume()
  while (!existsSync(join(place.workspace, "started"))) {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${err}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return { child, err: () => err, ended: once(child, "close") }
}

it("stops at Ctrl-C with 130, keeps everything, and the session can be resumed", async () => {
  const { child, err, ended } = await startSlow()
  child.kill("SIGINT")
  const [code] = await ended
  expect(code).toBe(130)
  expect(err()).toMatch(/cancelled: /)
  const { session, checkpoints } = place.ask("session", "show")
  expect(session.status).toBe("paused")
  expect(checkpoints.length).toBeGreaterThan(0)
  expect(place.run("resume", "--approval", "auto")).toMatchObject({ code: 0 })
})

it("refuses a restore while a run holds the session, pauses it from outside, and finds it when it was killed", async () => {
  place.write("a.txt", "one\n")
  place.run("checkpoint", "create", "--name", "first")
  const { child, ended } = await startSlow()
  const refused = place.run("checkpoint", "restore", "1", "--yes", "-S", "workspace", "--json")
  expect(refused.code).toBe(4)
  expect(JSON.parse(refused.out).error.message).toMatch(
    new RegExp(`Cannot restore checkpoint while a task is running\\. Held by run \\(pid ${child.pid} on .+\\) since `),
  )
  expect(place.run("pause").out).toContain("will pause at its next safe point")
  child.kill("SIGKILL")
  await ended
  const found = place.run("session", "list", "--json")
  expect(found.err).toMatch(/^Session "work" \([0-9a-f]{8}\) was interrupted.* 1 tool call in doubt\. Go on with/)
  expect(JSON.parse(found.out).sessions[0].status).toBe("paused")
  const asked = place.run("resume")
  expect(asked).toMatchObject({ code: 2, err: expect.stringContaining("--in-doubt skip|retry|fail") })
  expect(place.run("resume", "--in-doubt", "skip")).toMatchObject({ code: 0, out: "end\n" })
})

it("has no colours and no prompts in a pipe, and colours when forced", () => {
  place.run("checkpoint", "create")
  expect(place.run("checkpoint", "list").out).not.toContain("\u001b")
  place.environment["FORCE_COLOR"] = "1"
  expect(place.run("checkpoint", "list").out).toContain("\u001b[")
  expect(place.run("checkpoint", "list", "--no-color").out).not.toContain("\u001b")
})

it("ends quietly when its reader goes away", () => {
  const shell = `set -o pipefail; "${process.execPath}" "${program}" help | head -1; echo "\${PIPESTATUS[0]}"`
  const { stdout, stderr } = spawnSync("bash", ["-c", shell], { env: place.environment, encoding: "utf8" })
  expect(stdout).toMatch(/^keepup 0\.1\.0.*\n0\n$/)
  expect(stderr).toBe("")
})

it("says that its answer could not be written, and keeps what was done", () => {
  const into = (redirection: string, words: string) => {
    const shell = `"${process.execPath}" "${program}" ${words} ${redirection}`
    const options = { cwd: place.workspace, env: place.environment, encoding: "utf8" as const, input: "" }
    const { status, stdout, stderr } = spawnSync("bash", ["-c", shell], options)
    return { code: status, out: stdout, err: stderr }
  }
  place.run("session", "new")
  const { code, err } = into(">/dev/full", "checkpoint create --name kept")
  expect(code).toBe(8)
  expect(err).toMatch(
    /^error: Standard output can't be written \(ENOSPC: .*\)\. \[UNAVAILABLE\]\nWhat was done is kept; /,
  )
  expect(place.ask("checkpoint", "show", "kept").checkpoint.number).toBe(1)
  expect(into(">/dev/full", "--version")).toEqual({ code: 8, out: "", err: expect.stringContaining("[UNAVAILABLE]") })
  expect(into("2>/dev/full", "checkpoint show 99")).toEqual({ code: 3, out: "", err: "" })
})

it("goes on when nobody hears its remarks, and ends as it should", () => {
  const keepup = `"${process.execPath}" "${program}"`
  const shell = `exec 4> >(exec true); wait $!; ${keepup} checkpoint create 2>&4; ${keepup} checkpoint show 99 2>&4; echo "ended $?"`
  const options = { cwd: place.workspace, env: place.environment, encoding: "utf8" as const, input: "" }
  const { stdout } = spawnSync("bash", ["-c", shell], options)
  expect(stdout).toMatch(/^Checkpoint #1 created[\s\S]*\nended 3\n$/)
})

it("writes all it has to say before it ends, also into a pipe that takes little at a time", () => {
  const lines = Array.from({ length: 60_000 }, (_, i) => `line ${i} of a file that no pipe holds at once\n`)
  place.run("checkpoint", "create")
  place.write("long.txt", lines.join(""))
  // whoever is killed while it writes leaves a pipe that takes what it has room for, and does not wait
  const left = `"${process.execPath}" -e 'process.stdout.write(""); process.kill(process.pid, "SIGKILL")'`
  const shell = `{ ${left}; "${process.execPath}" "${program}" checkpoint diff 1; } 2>/dev/null | cat`
  const options = { cwd: place.workspace, env: place.environment, encoding: "utf8" as const, maxBuffer: 64 << 20 }
  const { stdout: out } = spawnSync("bash", ["-c", shell], options)
  expect(out.split("\n").filter((line) => line.startsWith("+line ")).length).toBe(lines.length)
  expect(out).toContain("+line 59999 of a file")
})

it("answers --version before anything else is loaded", () => {
  const preload = join(place.root, "preload.cjs")
  writeFileSync(
    preload,
    'process.on("exit",()=>console.error(JSON.stringify(Object.keys(require.cache).filter((p)=>p!==__filename))))',
  )
  const options = { env: place.environment, encoding: "utf8" as const }
  const { stdout, stderr } = spawnSync(process.execPath, ["--require", preload, program, "--version"], options)
  expect(stdout).toBe("0.1.0\n")
  const loaded: string[] = JSON.parse(stderr)
  expect(loaded[0]).toBe(program)
  expect(JSON.parse(place.run("--version", "--json").out)).toEqual({ ok: true, version: "0.1.0" })
  expect(loaded.reduce((sum, path) => sum + statSync(path).size, 0)).toBeLessThan(10_000)
})

it("plays the demo to its end and leaves nothing behind", () => {
  place.environment["TMPDIR"] = place.root
  const { code, out, err } = place.run("demo")
  expect({ code, err }).toEqual({ code: 0, err: "" })
  expect(out).toContain("every file is as it was, byte for byte, also those a shell command deleted")
  expect(out).toMatch(/Everything was as it says, in /)
  expect(readdirSync(place.root).filter((name) => name.startsWith("keepup-demo-"))).toEqual([])
})

it("says at once that the demo needs git and a folder for temporary files", () => {
  place.environment["TMPDIR"] = place.root
  place.environment["PATH"] = join(place.root, "home")
  const { code, out, err } = place.run("demo")
  expect({ code, out }).toEqual({ code: 8, out: "" })
  expect(err).toMatch(/^error: git could not be started: .*\n.*Install git /)
  expect(readdirSync(place.root).filter((name) => name.startsWith("keepup-demo-"))).toEqual([])
  place.environment["TMPDIR"] = join(place.root, "nowhere")
  expect(place.run("demo")).toMatchObject({ code: 8, err: expect.stringMatching(/No folder can be made in .*TMPDIR/s) })
})

it("stops the demo with an error where something is not as it says, and leaves the workspace to look at", () => {
  place.environment["TMPDIR"] = place.root
  const liar = join(place.root, "liar.cjs")
  // keepup, but for a restore that writes one byte too many
  writeFileSync(
    liar,
    `const isRestore = process.argv.includes("restore") && process.argv.includes("--yes")
     if (isRestore) process.on("exit", () => require("node:fs").appendFileSync("README.md", "x"))
     require(${JSON.stringify(program)})`,
  )
  const options = { cwd: place.workspace, env: place.environment, encoding: "utf8" as const }
  const { status, stdout, stderr } = spawnSync(process.execPath, [liar, "demo"], options)
  expect(status).toBe(1)
  expect(stdout).toContain("a dry run changes nothing")
  expect(stderr).toContain("The demo is not as it says: it is not so that every file is as it was, byte for byte")
  const left = /The workspace is left in (\S+),/.exec(stderr)?.[1] as string
  expect(existsSync(join(left, "src/top.mjs"))).toBe(true)
})

it("says that the current folder is gone, and works where another one is named", () => {
  place.run("checkpoint", "create")
  const inGone = (words: string) => {
    const script = `mkdir gone && cd gone && rmdir ../gone && exec "${process.execPath}" "${program}" ${words}`
    const { status, stdout, stderr } = spawnSync("bash", ["-c", script], {
      cwd: place.root,
      env: place.environment,
      encoding: "utf8",
    })
    return { code: status, out: stdout, err: stderr.replace(/^shell-init.*\n/gm, "") }
  }
  expect(inGone("session list")).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^error: The current folder is gone/),
  })
  expect(JSON.parse(inGone("session list --json").out).error.code).toBe("INVALID_INPUT")
  expect(inGone(`session list --cwd ${place.workspace}`)).toMatchObject({ code: 0, err: "" })
  expect(inGone("help checkpoint")).toMatchObject({ code: 0, err: "" })
  expect(inGone("completion bash")).toMatchObject({ code: 0, err: "" })
})
