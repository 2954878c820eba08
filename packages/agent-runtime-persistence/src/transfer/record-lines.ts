/** Records as lines of the file. */
import { isUtf8 } from "node:buffer"
import { KeepupError } from "@ku0/agent-runtime-core"
import type { ExportWork } from "./export-work.js"
import { type DataRecord, limits } from "./transfer-format.js"

/** Bytes as lines: one that says what they are, then chunks; text as text, so that it compresses and can be read. */
export function* bytesAsLines(work: ExportWork, record: DataRecord, bytes: Uint8Array): Generator<string> {
  if (bytes.byteLength > limits.contentBytes) {
    throw new KeepupError("INVALID_INPUT", `A value of ${bytes.byteLength} bytes is too large to be exported.`, {
      hint: "Export the session without its files.",
    })
  }
  yield line(work, record)
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isText = isUtf8(buffer) && !buffer.includes(0)
  for (let at = 0; at < buffer.length; ) {
    let end = Math.min(at + limits.chunkBytes, buffer.length)
    while (isText && end < buffer.length && ((buffer[end] as number) & 0xc0) === 0x80) end--
    const part = buffer.subarray(at, end)
    yield JSON.stringify(
      isText ? { record: "chunk", text: part.toString("utf8") } : { record: "chunk", base64: part.toString("base64") },
    )
    at = end
  }
}

export function line({ report }: ExportWork, record: DataRecord): string {
  report.counts[record.record]++
  const text = JSON.stringify(record)
  if (text.length * 3 <= limits.lineBytes || Buffer.byteLength(text) < limits.lineBytes) return text
  throw new KeepupError("INVALID_INPUT", `A ${record.record} of the session is too large to be exported.`, {
    hint: "Its metadata holds more than 30 MB; keep such values as state or artifacts.",
  })
}
