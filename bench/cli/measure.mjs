/** Wall and processor time of a shell command with all its children, as the shell itself measures them. */
import { spawnSync } from "node:child_process"
import { cleanEnvironment } from "../harness/process.mjs"
import { waitForQuiet } from "../harness/quiet.mjs"
import { summarise } from "../harness/stats.mjs"

/** Runs a command line and returns `{wall, cpu}` in milliseconds; starting the shell is not part of it. */
export function measure(command, { cwd, env }) {
  const script = `TIMEFORMAT='time %3R %3U %3S'; time { ${command}; } >/dev/null`
  const done = spawnSync("bash", ["-c", `set -e; ${script}`], { cwd, env: cleanEnvironment(env), encoding: "utf8" })
  const times = /time ([\d.]+) ([\d.]+) ([\d.]+)\s*$/.exec(done.stderr)
  if (done.status !== 0 || times === null) throw new Error(`${command} ended with ${done.status}: ${done.stderr}`)
  const [wall, user, system] = times.slice(1).map((text) => Number(text) * 1000)
  return { wall, cpu: user + system }
}

/**
 * Each command once a round, in a rotating order.
 * @param {Record<string, {command: string, cwd: string, before?: (round: number) => void}>} contestants
 */
export async function takeTurns(contestants, { rounds, env }) {
  const names = Object.keys(contestants)
  const samples = Object.fromEntries(names.map((name) => [name, { wall: [], cpu: [] }]))
  for (let round = -2; round < rounds; round++) {
    const shift = (round + names.length * 2) % names.length
    for (const name of [...names.slice(shift), ...names.slice(0, shift)]) {
      const { command, cwd, before } = contestants[name]
      before?.(round)
      await waitForQuiet()
      const took = measure(command, { cwd, env })
      if (round < 0) continue
      samples[name].wall.push(took.wall)
      samples[name].cpu.push(took.cpu)
    }
  }
  return Object.fromEntries(
    names.map((name) => [name, { wall: summarise(samples[name].wall), cpu: summarise(samples[name].cpu) }]),
  )
}

/** Heads and rows of a table where everything is told against `node -e 0`. */
export function againstNode(rows) {
  const base = rows["node -e 0"]
  const body = Object.entries(rows).map(([name, { wall, cpu }]) => [
    name,
    ...[wall.median, wall.min, cpu.median, cpu.min],
    ...[wall.median / base.wall.median, wall.min / base.wall.min, cpu.median / base.cpu.median],
  ])
  return [["command", "med ms", "min ms", "cpu med", "cpu min", "x (med)", "x (min)", "x (cpu)"], body]
}
