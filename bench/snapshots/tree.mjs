/** Generates a project-like tree of N files: nested folders of about ten files, log-normal sizes, a few ignored ones. */
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createRandom, sourceText } from "./random.mjs"

const areas = ["src", "lib", "test", "docs", "packages", "apps", "tools", "deps"]
const endings = [".ts", ".ts", ".ts", ".js", ".js", ".json", ".md", ".tsx", ".css", ".py", ".c", ".h"]

/** Writes the tree and returns the relative paths of its captured files. */
export function generateTree(root, count, seed = count) {
  const random = createRandom(seed)
  const pool = Buffer.from(sourceText(random, 4 << 20))
  const folders = areas.map((name) => ({ path: name, depth: 1 }))
  for (const folder of folders) mkdirSync(join(root, folder.path), { recursive: true })
  while (folders.length < count / 9) {
    const parent = random.pick(folders)
    if (parent.depth > 6) continue
    const path = `${parent.path}/${random.pick(["core", "util", "api", "view", "model", "store", "part"])}-${folders.length}`
    mkdirSync(join(root, path))
    folders.push({ path, depth: parent.depth + 1 })
  }
  writeFileSync(join(root, ".gitignore"), "node_modules/\ndist/\n*.log\n")
  writeFileSync(join(root, "README.md"), "# A generated project\n")
  const files = [".gitignore", "README.md"]
  for (let i = files.length; i < count; i++) {
    const path = `${random.pick(folders).path}/file-${i}${random.pick(endings)}`
    writeFileSync(join(root, path), content(pool, random, i, random.size(2200, 1.1, 200_000)))
    files.push(path)
    if (i % 500 === 0) chmodSync(join(root, path), 0o755)
  }
  symlinkSync("README.md", join(root, "docs", "readme-link"))
  files.push("docs/readme-link")
  // What is ignored is there too, and no snapshot may touch it: one file for fifty.
  for (let i = 0; i < count / 50; i++) {
    const folder = `node_modules/package-${i % 40}`
    if (i < 40) mkdirSync(join(root, folder), { recursive: true })
    writeFileSync(join(root, folder, `module-${i}.js`), content(pool, random, i, random.size(1500, 1, 50_000)))
  }
  return files
}

function content(pool, random, number, bytes) {
  const head = Buffer.from(`// ${number} ${random.below(1e9)}\n`)
  const start = random.below(pool.length - bytes)
  return Buffer.concat([head, pool.subarray(start, start + Math.max(0, bytes - head.length))])
}

/** The relative paths of the files of any folder that a snapshot would capture, by name only: no `.git`, no node_modules. */
export function listFiles(root) {
  const files = []
  const stack = [""]
  while (stack.length > 0) {
    const folder = stack.pop()
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      if (entry.name === ".git" || entry.name === "node_modules" || entry.name === "dist") continue
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) stack.push(path)
      else if (entry.isFile()) files.push(path)
    }
  }
  return files
}
