/** A workspace under test: makes edits, puts everything back by itself, and says how a tree differs from the original. */
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { createRandom, sourceText } from "./random.mjs"

export function createWorkspace(root, files, seed = 7) {
  const random = createRandom(seed)
  const originals = new Map()
  const added = new Set()
  const gone = new Set()
  let number = 0
  const editable = files.filter((path) => !path.endsWith("readme-link") && !path.endsWith(".gitignore"))
  // An agent works on some files again and again; so do the small edits.
  const worked = choose(200)
  const at = (path) => join(root, path)

  function remember(path) {
    if (originals.has(path) || added.has(path)) return
    originals.set(path, { bytes: readFileSync(at(path)), mode: lstatSync(at(path)).mode & 0o777 })
  }

  /** Changes one file in its middle by a line or two; every edit differs in size and time. */
  function modify(path) {
    remember(path)
    const before = readFileSync(at(path))
    const cut = random.below(before.length)
    const line = `\n// edit ${++number} ${sourceText(random, 20 + random.below(80)).replaceAll("\n", " ")}\n`
    writeFileSync(at(path), Buffer.concat([before.subarray(0, cut), Buffer.from(line), before.subarray(cut)]))
    return path
  }

  function add() {
    const folder =
      random.below(3) === 0 ? `${dirname(random.pick(editable))}/new-${++number}` : dirname(random.pick(editable))
    const path = `${folder}/added-${++number}.ts`
    mkdirSync(at(folder), { recursive: true })
    writeFileSync(at(path), sourceText(random, 200 + random.below(3000)))
    added.add(path)
    return path
  }

  function remove(path) {
    remember(path)
    rmSync(at(path))
    gone.add(path)
    return path
  }

  function choose(count, from = editable) {
    const there = from.filter((path) => !gone.has(path))
    const chosen = new Set()
    while (chosen.size < Math.min(count, there.length)) chosen.add(random.pick(there))
    return [...chosen]
  }

  return {
    root,
    files,
    /** Changes k of the worked-on files and nothing else. */
    edit: (k) => choose(k, worked).map(modify),
    /** k changed files, and for every tenth of them one added and one deleted; at least one added. */
    mess(k) {
      const few = Math.ceil(k / 10)
      const paths = choose(k + few)
      const changed = paths.slice(0, k).map(modify)
      const removed = k > 1 ? paths.slice(k).map(remove) : []
      for (let i = 0; i < few; i++) changed.push(add())
      return [...changed, ...removed]
    },
    addFiles: (count) => Array.from({ length: count }, add),
    /** Puts back what was touched, whatever a restore did or did not do. */
    putBack() {
      for (const path of added) {
        rmSync(at(path), { force: true })
        if (/\/new-\d+$/.test(dirname(path))) rmSync(at(dirname(path)), { recursive: true, force: true })
      }
      for (const [path, original] of originals) {
        const now = readIfThere(at(path))
        if (now === null || !now.equals(original.bytes)) {
          mkdirSync(dirname(at(path)), { recursive: true })
          writeFileSync(at(path), original.bytes)
        }
        chmodSync(at(path), original.mode)
      }
      originals.clear()
      added.clear()
      gone.clear()
    },
    /** What the tree is, to be compared after a restore. */
    manifest: () => readManifest(root),
    /** Compares with a manifest taken before the edits: wrong or missing content, files left over, files rewritten for nothing. */
    compare(before) {
      const now = readManifest(root)
      let wrong = 0
      let left = 0
      let rewritten = 0
      for (const [path, was] of before) {
        const is = now.get(path)
        const original = originals.get(path)
        if (!is || is.size !== was.size || is.mode !== was.mode) wrong++
        else if (original && !readFileSync(at(path)).equals(original.bytes)) wrong++
        else if (!original && (is.mtime !== was.mtime || is.ino !== was.ino)) rewritten++
      }
      for (const path of now.keys()) if (!before.has(path)) left++
      return { wrong, left, rewritten }
    },
  }
}

function readIfThere(path) {
  try {
    return readFileSync(path)
  } catch {
    return null
  }
}

function readManifest(root) {
  const found = new Map()
  const stack = [""]
  while (stack.length > 0) {
    const folder = stack.pop()
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      if (folder === "" && entry.name === ".git") continue
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) {
        stack.push(path)
        continue
      }
      const { size, mode, mtimeMs, ino } = lstatSync(join(root, path))
      found.set(path, { size, mode, mtime: mtimeMs, ino })
    }
  }
  return found
}
