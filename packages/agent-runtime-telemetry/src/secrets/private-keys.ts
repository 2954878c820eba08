/** Private keys in PEM or PGP armour, also with escaped line ends, and also when the text breaks off in the key. */
import type { Detector } from "./detector.js"

const header = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
const footer = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y
/** One line of key material; prose and code that only speak about keys have none. */
const material = /[A-Za-z0-9+/=]{24}/
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
    result += text.slice(copied, match.index) + redact()
    copied = end
    header.lastIndex = end
  }
  return result + text.slice(copied)
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
