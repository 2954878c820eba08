/** How a folder looks, down to the times of its files, to see whether anybody touched it. Nothing is read or changed. */
import { lstat, readdir } from "node:fs/promises"
import { join } from "node:path"

/** Path from the folder → what is known of the file. */
export type FolderPicture = ReadonlyMap<string, string>

export async function takeFolderPicture(folder: string): Promise<FolderPicture> {
  const picture = new Map<string, string>()
  await addFolder(picture, folder, "")
  return picture
}

/** The paths that came, went or changed, in order. */
export function comparePictures(before: FolderPicture, after: FolderPicture): string[] {
  const paths = new Set([...before.keys(), ...after.keys()])
  return [...paths].filter((path) => before.get(path) !== after.get(path)).sort()
}

async function addFolder(picture: Map<string, string>, folder: string, path: string): Promise<void> {
  const entries = await readdir(join(folder, path), { withFileTypes: true }).catch(() => []) // gone, or not for us
  await Promise.all(
    entries.map(async (entry) => {
      const place = path === "" ? entry.name : `${path}/${entry.name}`
      const facts = await lstat(join(folder, place), { bigint: true }).catch(() => undefined)
      if (facts === undefined) return
      // what a folder holds is seen by itself; its times change with files that come and go again
      const times = entry.isDirectory() ? "" : `${facts.size} ${facts.mtimeNs} ${facts.ctimeNs}`
      picture.set(place, `${facts.mode} ${facts.ino} ${times}`)
    }),
  )
  for (const entry of entries) {
    if (entry.isDirectory()) await addFolder(picture, folder, path === "" ? entry.name : `${path}/${entry.name}`)
  }
}
