/** Reads snapshots that are there: compare two, list and read files, what a commit says of itself. Needs no lock. */
import { KeepupError } from "@ku0/agent-runtime-core"
import { displayPath, isInside, toBytePath } from "./byte-path.js"
import { describeChanges, findRenames } from "./diff-snapshots.js"
import { treeMode } from "./git-objects.js"
import { describeSkipped, readSnapshotCommit } from "./snapshot-commit.js"
import type { SnapshotEnvironment } from "./snapshot-environment.js"
import type { SnapshotRef, SnapshotStore } from "./snapshot-store.js"
import { findCommit } from "./store-session.js"
import { compareTrees, type FileEntry, findEntry, listTree, type TreeChange } from "./trees.js"
import { writeTreeTo } from "./write-tree-to.js"

export type SnapshotReading = Pick<
  SnapshotStore,
  "diff" | "patch" | "listFiles" | "readFile" | "readContent" | "writeAllTo" | "describe"
>

/** Of all arguments of a program; systems take twice as much, and more. */
const mostArgumentBytes = 100_000
const pointerBytes = 8

/** `treeOf` gives the tree of a snapshot, or of the workspace as it is now. */
export function createSnapshotReading(
  environment: SnapshotEnvironment,
  treeOf: (ref: SnapshotRef) => Promise<string>,
): SnapshotReading {
  const { reader, git } = environment

  async function getFile(commit: string, path: string): Promise<FileEntry> {
    const tree = await treeOf(commit)
    const entry = await findEntry(reader, tree, toBytePath(path))
    if (entry !== undefined && entry.mode !== treeMode) return entry
    for (const [name, file] of await listTree(reader, tree)) if (displayPath(name) === path) return file
    throw new KeepupError("NOT_FOUND", `The snapshot has no file ${path}.`)
  }

  /**
   * Under which names renamed files are on the other side: without those, a rename looks like half of one. None when
   * there are more than a program can be asked about: then all of them look like that.
   */
  async function otherNames(before: string, after: string, paths: readonly string[]): Promise<string[]> {
    const isWanted = ({ path }: TreeChange) => paths.some((one) => isInside(path, toBytePath(one)))
    const renames = [...findRenames(await compareTrees(reader, before, after))]
    const halves = renames.filter(([came, went]) => isWanted(came) !== isWanted(went))
    const names = halves.map(([came, went]) => (isWanted(came) ? went : came).path)
    const length = names.reduce((sum, name) => sum + name.length + pointerBytes, 0)
    return length > mostArgumentBytes ? [] : names.map(displayPath)
  }

  return {
    async diff(from, to) {
      const [before, after] = [await treeOf(from), await treeOf(to)]
      return describeChanges(reader, await compareTrees(reader, before, after))
    },
    async patch(from, to, paths = []) {
      const [before, after] = [await treeOf(from), await treeOf(to)]
      // -M100%: what `diff` calls a rename, and nothing that only looks like one
      const options = ["-p", "-r", "--full-index", "-M100%", "--no-ext-diff", "--no-textconv"]
      const wanted = paths.length === 0 ? [] : [...paths, ...(await otherNames(before, after, paths))]
      const args = ["--literal-pathspecs", "diff-tree", ...options, before, after, "--", ...wanted]
      return (await git.run(args)).stdout
    },
    async listFiles(commit) {
      const files = await listTree(reader, await treeOf(commit))
      return [...files].map(([path, entry]) => ({ path: displayPath(path), ...entry }))
    },
    readFile: async (commit, path) => reader.get((await getFile(commit, path)).id, "blob"),
    readContent: (id) => reader.get(id, "blob"),
    async writeAllTo(commit, directory) {
      const facts = await readSnapshotCommit(environment, await findCommit(environment, commit))
      return writeTreeTo(reader, facts, directory)
    },
    async describe(id) {
      const commit = await findCommit(environment, id)
      const { base, tree, message, createdAt, emptyFolders, skipped } = await readSnapshotCommit(environment, commit)
      const folders = emptyFolders.map(displayPath)
      return { commit, base, tree, message, createdAt, emptyFolders: folders, skipped: describeSkipped(skipped) }
    },
  }
}
