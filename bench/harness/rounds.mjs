/** Runs the contestants in turn within each round, in a rotating order, so that noise and position hit all alike. */
import { loadavg } from "node:os"
import { waitForQuiet } from "./quiet.mjs"
import { summarise } from "./stats.mjs"

/**
 * @param {Record<string, (round: number) => unknown>} contestants what to time, by name
 * @param {{rounds: number, warmup?: number, before?: (name: string, round: number) => unknown,
 *          after?: (name: string, round: number, result: unknown) => unknown, beforeRound?: (round: number) => unknown,
 *          took?: (name: string) => number | undefined,
 *          quietEvery?: number, budgetMs?: Record<string, number>, warmupMs?: number}} options `before` and `after` are
 *          not timed; `took` tells how long it was for who works in a process of its own; a contestant that has used up
 *          its budget of milliseconds sits out the rest, and one that has warmed up for `warmupMs` the rounds of that,
 *          but for the last: who takes long has no use for many of them
 */
export async function interleave(contestants, options) {
  const names = Object.keys(contestants)
  const samples = Object.fromEntries(names.map((name) => [name, []]))
  const spent = Object.fromEntries(names.map((name) => [name, 0]))
  const warmup = options.warmup ?? 1
  const warmed = Object.fromEntries(names.map((name) => [name, 0]))
  const isWarm = (name, round) => round < -1 && warmed[name] > (options.warmupMs ?? Number.POSITIVE_INFINITY)
  for (let round = -warmup; round < options.rounds; round++) {
    await options.beforeRound?.(round)
    const shift = (((round + warmup) % names.length) + names.length) % names.length
    const order = [...names.slice(shift), ...names.slice(0, shift)]
    for (const name of order) {
      if (samples[name].length > 0 && spent[name] > (options.budgetMs?.[name] ?? Number.POSITIVE_INFINITY)) continue
      if (isWarm(name, round)) continue
      await options.before?.(name, round)
      if (options.quietEvery === undefined || (order[0] === name && round % options.quietEvery === 0))
        await waitForQuiet()
      const start = performance.now()
      const result = await contestants[name](round)
      const took = options.took?.(name) ?? performance.now() - start
      await options.after?.(name, round, result)
      if (round < 0) {
        warmed[name] += took
        continue
      }
      samples[name].push(took)
      spent[name] += took
    }
  }
  const rows = Object.fromEntries(names.map((name) => [name, summarise(samples[name])]))
  return { rows, samples, load: loadavg().map((value) => Number(value.toFixed(2))) }
}

/** Times one call. */
export async function timed(work) {
  const start = performance.now()
  const value = await work()
  return { ms: performance.now() - start, value }
}
