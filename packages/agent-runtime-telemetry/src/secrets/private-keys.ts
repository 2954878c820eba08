/**
 * Private keys in PEM or PGP armour, also with escaped line ends, with a string for each line, and also when the text
 * breaks off in the key.
 */
import { type Detector, skipEscape } from "./detector.js"

const header = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
const footer = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y
/** One line of key material; prose and code that only speak about keys have none. */
const material = /[A-Za-z0-9+/=]{24}/
/** A line that stands in quotes of its own. */
const quotedLine = /[A-Za-z0-9+/=]{16,}/g
/** The lines of a key whose end is missing. */
const openBody = /(?:[A-Za-z0-9+/=\r\n\t ]|\\[nr]){0,32768}/y

export const redactPrivateKeys: Detector = (text, redact) => {
  if (!text.includes("PRIVATE KEY")) return text
  let result = ""
  let copied = 0
  header.lastIndex = 0
  for (let match = header.exec(text); match !== null; match = header.exec(text)) {
    const end = endOfKey(text, match.index + match[0].length)
    if (end === undefined) continue
    const key = text.slice(match.index, end)
    result += text.slice(copied, match.index) + (/["'`]/.test(key) ? redactLines(key, redact) : redact())
    copied = end
    header.lastIndex = end
  }
  return result + text.slice(copied)
}

/** The quotes stay: they belong to the code or the JSON text that the lines stand in. */
function redactLines(key: string, redact: () => string): string {
  return key.replace(quotedLine, (_, start: number) => key.slice(start, skipEscape(key, start)) + redact())
}

/** Where the key whose header ends at `start` ends; `undefined` if no key follows. */
function endOfKey(text: string, start: number): number | undefined {
  const dashes = text.indexOf("-----", start)
  if (dashes !== -1) {
    footer.lastIndex = dashes
    if (footer.test(text) && material.test(text.slice(start, dashes))) return footer.lastIndex
  }
  openBody.lastIndex = start
  const body = openBody.exec(text)?.[0] ?? ""
  return material.test(body) ? start + body.length : undefined
}
