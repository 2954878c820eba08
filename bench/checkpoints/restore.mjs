/**
 * Back to checkpoint A after k files were changed, durable, with the safety checkpoint and without counting it, against
 * `git checkout` of the same files that syncs nothing, and, where the changes were in no checkpoint, against `git stash`,
 * which keeps them too. Every file is compared afterwards.
 */
import { appendFileSync, mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { flush, spread } from "../harness/disk.mjs"
import { hire } from "../harness/member.mjs"
import { progress, table } from "../harness/report.mjs"
import { interleave } from "../harness/rounds.mjs"
import { summarise } from "../harness/stats.mjs"
import { makeRepository } from "../snapshots/git.mjs"
import { generateTree } from "../snapshots/tree.mjs"
import { loadKeepup } from "./keepup.mjs"

/** k files of a workspace of so many. Everybody comes first, second and so on equally often: a disk is slower after others. */
const sizes = [
  { k: 10, fileCount: 1_000, rounds: 40, warmup: 20 },
  { k: 5_000, fileCount: 6_000, rounds: 8, warmup: 0, isMany: true },
]
const quickSizes = [
  { k: 10, fileCount: 1_000, rounds: 8, warmup: 20 },
  { k: 1_000, fileCount: 1_200, rounds: 2, warmup: 0, isMany: true },
]
/** What everybody warms up with who starts anew for each round. */
const small = { k: 10, turns: 10 }
const checkout = "git checkout, no fsync"
const stash = "git stash, no fsync"
const captured = "keepup, changes captured before"
const fresh = "keepup, changes never captured"

export async function restore(context) {
  if (!(await loadKeepup())) return {}
  const result = {}
  for (const size of context.quick ? quickSizes : sizes) result[`k${size.k}`] = await measure(context, size)
  const body = Object.entries(result).flatMap(([k, { rows, fileCount }]) =>
    Object.entries(rows).map(([name, row]) => [`${k.slice(1)} of ${fileCount}: ${name}`, row.median, row.min]),
  )
  context.print("Checkpoints: back to one", table(["files", "med ms", "min ms"], body))
  return result
}

async function measure(context, { k, fileCount, rounds, warmup, isMany = false }) {
  const folder = spread(context.scratch.folder(`checkpoints-restore-${k}`))
  let members = {}
  const safety = Object.fromEntries([captured, fresh].map((name) => [name, []]))
  const contestants = [checkout, stash, captured, fresh].map((name) => [name, () => members[name].goBack()])
  const change = async (name, count) => {
    await members[name].change(count)
    // Nobody goes back within the moment in which a file may change again without its times telling.
    await new Promise((next) => setTimeout(next, 60))
    flush(folder)
  }
  const { rows, samples, load } = await interleave(Object.fromEntries(contestants), {
    rounds,
    warmup,
    warmupMs: 250,
    took: (name) => members[name].took(),
    /** After thousands of files were replaced a disk is slow for minutes: the next round is elsewhere on it. */
    async beforeRound(round) {
      if (!isMany && round > -warmup) return
      for (const { close } of Object.values(members)) await close()
      members = await startAll(spread(join(folder, `${round}`)), fileCount)
      for (const name of isMany ? Object.keys(members) : []) {
        for (let turn = 0; turn < small.turns; turn++) {
          await change(name, small.k)
          await members[name].goBack()
          members[name].compare()
        }
      }
    },
    before: (name) => change(name, k),
    after(name, round, safetyMs) {
      members[name].compare()
      if (round >= 0) safety[name]?.push(safetyMs)
    },
  })
  for (const [name, values] of Object.entries(safety)) {
    rows[`${name}, safety not counted`] = summarise(samples[name].map((total, i) => total - values[i]))
  }
  for (const { close } of Object.values(members)) await close()
  progress(`restore of ${k} files done`)
  return { fileCount, load, rows }
}

async function startAll(folder, fileCount) {
  return {
    [checkout]: await startGit(join(folder, "git"), fileCount, "gitCheckout"),
    [stash]: await startGit(join(folder, "stash"), fileCount, "gitStash"),
    [captured]: await startKeepup(join(folder, "captured"), fileCount, true),
    [fresh]: await startKeepup(join(folder, "fresh"), fileCount, false),
  }
}

/** A tree, and how it is changed and compared; everybody gets the same. */
async function prepare(folder, fileCount) {
  const root = join(spread(folder), "workspace")
  mkdirSync(root, { recursive: true })
  const files = generateTree(root, fileCount)
  await makeRepository(root)
  const original = new Map()
  let edit = 0
  return {
    root,
    files: () => [...original.keys()],
    change(k) {
      const plain = files.filter((path) => path.includes("/file-"))
      const every = Math.floor(plain.length / k)
      const chosen = plain.filter((_, i) => i % every === 0).slice(0, k)
      for (const path of chosen) {
        original.set(path, readFileSync(join(root, path)))
        appendFileSync(join(root, path), `// edit ${++edit}\n`)
      }
    },
    compare() {
      for (const [path, bytes] of original) {
        if (!readFileSync(join(root, path)).equals(bytes)) throw new Error(`BUG: ${path} was not restored`)
      }
      original.clear()
    },
  }
}

async function startGit(folder, fileCount, how) {
  const tree = await prepare(folder, fileCount)
  const member = await hire(new URL("./git-checkout.mjs", import.meta.url).href, how, tree.root)
  return {
    ...tree,
    async change(k) {
      tree.change(k)
      await member.choose(tree.files())
    },
    goBack: member.goBack,
    took: member.took,
    close: member.close,
  }
}

async function startKeepup(folder, fileCount, isCaptured) {
  const tree = await prepare(folder, fileCount)
  const member = await hire(new URL("./keepup-restore.mjs", import.meta.url).href, "keepupRestore", tree.root, folder)
  return {
    ...tree,
    async change(k) {
      await member.keepTarget()
      tree.change(k)
      if (isCaptured) await member.keepChanges()
    },
    goBack: member.goBack,
    took: member.took,
    close: member.close,
  }
}
