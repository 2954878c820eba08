/** Exported files that were changed by someone who knows the format. */
import { createHash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { gunzipSync, gzipSync } from "node:zlib"

/** Changes the lines of an export and, unless told, seals it again. Returns where it lies. */
export function forgeExport(
  from: string,
  to: string,
  change: (lines: string[]) => string[],
  options: { seal?: boolean } = {},
): string {
  const lines = gunzipSync(readFileSync(from)).toString("utf8").trimEnd().split("\n")
  const changed = change(lines)
  if (options.seal !== false) sealExport(changed)
  writeFileSync(to, gzipSync(`${changed.join("\n")}\n`))
  return to
}

export function sealExport(lines: string[]): void {
  const records = lines.slice(1, -1).map((line) => (JSON.parse(line) as { record: string }).record)
  const end = JSON.parse(lines.at(-1) as string)
  for (const name of Object.keys(end.counts)) end.counts[name] = records.filter((one) => one === name).length
  end.sha256 = createHash("sha256")
    .update(`${lines.slice(0, -1).join("\n")}\n`)
    .digest("hex")
  lines[lines.length - 1] = JSON.stringify(end)
}
