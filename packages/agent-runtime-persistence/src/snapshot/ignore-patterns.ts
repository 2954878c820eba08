/** Patterns for `.keepupignore`, `capture.include` and keepup's own files, matched against paths in bytes. */
import { createPatternList as createPlainPatternList, type PatternList } from "@ku0/agent-runtime-core"
import { toBytePath } from "./byte-path.js"

export type { PatternList }

export function createPatternList(lines: readonly string[]): PatternList {
  return createPlainPatternList(lines.map(toBytePath))
}
