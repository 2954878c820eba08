/** What every detector of secrets has in common: it gets a text, and gives it back with the secrets replaced. */

/** Stands in a text where a secret was. No detector sees a secret in it, so redacting twice is redacting once. */
export const redactedMark = "[REDACTED]"

/**
 * Replaces every secret it finds by what `redact` returns, calling it once for each. Takes time in proportion to the
 * length of the text, also for a text made to be slow, and cuts no escape sequence of a JSON text in two.
 */
export type Detector = (text: string, redact: () => string) => string

const unicodeEscape = /u[0-9a-fA-F]{4}/y

/** Moves an index that stands within an escape sequence, such as at the `n` of `\n`, to the end of that sequence. */
export function skipEscape(text: string, index: number): number {
  for (let letter = index; letter > index - 5 && letter > 0; letter--) {
    if (text[letter - 1] !== "\\") continue
    let first = letter - 1
    while (first > letter - 8 && text[first - 1] === "\\") first--
    if ((letter - first) % 2 === 0) return index
    unicodeEscape.lastIndex = letter
    return Math.max(index, unicodeEscape.test(text) ? letter + 5 : letter + 1)
  }
  return index
}
