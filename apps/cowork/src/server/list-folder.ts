/** A page of a file list: all paths, or what lies directly in one folder. Pure. */
import type { FileList, ListedFile } from "../api.js"

export interface ListFolderOptions {
  readonly folder?: string | undefined
  readonly q?: string | undefined
  /** The last path of the page before. */
  readonly after?: string | undefined
  readonly limit?: number | undefined
}

export function listFolder(
  files: readonly { readonly path: string; readonly mode: string }[],
  options: ListFolderOptions,
): Omit<FileList, "ok"> {
  const word = options.q?.toLowerCase() ?? ""
  const listed = new Map<string, ListedFile>()
  const prefix = options.folder ? `${options.folder}/` : ""
  for (const { path, mode } of files) {
    if (!path.startsWith(prefix) || !path.toLowerCase().includes(word)) continue
    const slash = options.folder === undefined ? -1 : path.indexOf("/", prefix.length)
    if (slash === -1) listed.set(path, { path, kind: kindOf(mode) })
    else listed.set(path.slice(0, slash), { path: path.slice(0, slash), kind: "folder" })
  }
  const sorted = [...listed.values()].sort(
    (a, b) => Number(b.kind === "folder") - Number(a.kind === "folder") || (a.path < b.path ? -1 : 1),
  )
  const limit = options.limit ?? 500
  const start = options.after === undefined ? 0 : sorted.findIndex(({ path }) => path === options.after) + 1
  const page = sorted.slice(start, start + limit)
  const next = start + limit < sorted.length ? (page.at(-1)?.path ?? null) : null
  return { files: page, total: sorted.length, next }
}

function kindOf(mode: string): ListedFile["kind"] {
  return mode === "120000" ? "link" : mode === "100755" ? "program" : "file"
}
