/** What a file tool can tell about the files of a call: as it begins, and when nobody knows what became of it. */
import { hashContent } from "../context/content-hash.js"
import type { FileOperations } from "./file-operations.js"
import type { Workspace } from "./workspace-path.js"

/** Path → hash of the content, or null if there is no file. */
export async function readFileFacts(
  workspace: Workspace,
  files: FileOperations,
  paths: readonly string[],
): Promise<Record<string, string | null>> {
  const facts: Record<string, string | null> = {}
  for (const path of new Set(paths)) {
    const place = await workspace.resolve(path)
    const content = await files.read(place.absolute)
    facts[place.relative] = content === undefined ? null : hashContent(content)
  }
  return facts
}
