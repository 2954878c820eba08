/** Bytes of a file ↔ text, without losing any. */
import { KeepupError } from "@ku0/agent-runtime-core"

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** The text of a file, with its byte order mark and line ends as they are; `INVALID_INPUT` if it is not text. */
export function decodeText(content: Uint8Array, path: string): string {
  try {
    const text = decoder.decode(content)
    if (!text.includes("\0")) return text
  } catch {
    // Said below, like a file with NUL bytes.
  }
  throw new KeepupError("INVALID_INPUT", `${path} is not a text file in UTF-8.`, {
    hint: "Use a command that understands its format.",
  })
}

export function missingFile(path: string): KeepupError {
  return new KeepupError("NOT_FOUND", `There is no file ${path}.`, { hint: "Use list_files to see what is there." })
}
