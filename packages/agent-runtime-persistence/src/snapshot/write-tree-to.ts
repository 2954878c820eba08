/** Writes a whole snapshot into a folder of its own, apart from any workspace. */
import { mkdirSync, readdirSync } from "node:fs"
import { mkdir, symlink, writeFile } from "node:fs/promises"
import { KeepupError } from "@ku0/agent-runtime-core"
import { parentOf, toBytePath, toSystemPath } from "./byte-path.js"
import type { ObjectReader } from "./object-reader.js"
import { isPrivate, permissionsOfNew } from "./private-files.js"
import type { SnapshotFacts } from "./snapshot-message.js"
import { listTree } from "./trees.js"

const atOnce = 16

/** The folder is made if needed and must be empty. Returns the number of files written. */
export async function writeTreeTo(
  reader: ObjectReader,
  snapshot: Pick<SnapshotFacts, "emptyFolders" | "privateMarks"> & { readonly tree: string },
  directory: string,
): Promise<number> {
  mkdirSync(directory, { recursive: true })
  if (readdirSync(directory).length > 0) {
    throw new KeepupError("INVALID_INPUT", `${directory} is not empty.`, {
      hint: "Name a folder that is empty or not there.",
    })
  }
  const root = toBytePath(directory)
  const files = [...(await listTree(reader, snapshot.tree))]
  const folders = new Set([...snapshot.emptyFolders, ...files.map(([path]) => parentOf(path))])
  for (const folder of folders) await mkdir(toSystemPath(`${root}/${folder}`), { recursive: true })
  let next = 0
  const work = async () => {
    for (let file = files[next++]; file !== undefined; file = files[next++]) {
      const [path, entry] = file
      const data = await reader.get(entry.id, "blob")
      const target = toSystemPath(`${root}/${path}`)
      if (entry.mode === "120000") await symlink(data, target)
      else {
        const mode = permissionsOfNew(entry.mode, isPrivate(snapshot.privateMarks, path))
        await writeFile(target, data, { flag: "wx", mode })
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, files.length) }, work))
  return files.length
}
