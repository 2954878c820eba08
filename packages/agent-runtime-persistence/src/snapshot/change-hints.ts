/** placeholder */
import type { BytePath } from "./byte-path.js"
import type { SnapshotEnvironment } from "./snapshot-environment.js"
export interface ChangeHints {
  take(): Promise<{ paths: ReadonlySet<BytePath>; isReliable: boolean }>
  close(): void
}
export async function watchChanges(_environment: SnapshotEnvironment): Promise<ChangeHints | undefined> {
  return undefined
}
