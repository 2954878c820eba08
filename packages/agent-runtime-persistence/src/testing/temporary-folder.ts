/** A folder of a test's own, gone when the test says so. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface TemporaryFolder {
  readonly path: string
  /** A path inside. */
  file(...names: string[]): string
  remove(): void
}

export function createTemporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), "keepup-test-"))
  return {
    path,
    file: (...names) => join(path, ...names),
    remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }),
  }
}
