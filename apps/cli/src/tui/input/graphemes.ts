/** What a person sees as one character: the cursor stands between these, never inside one. */

let made: Intl.Segmenter | undefined

/** Made when first needed: plain ASCII never needs it. */
function segmenter(): Intl.Segmenter {
  made ??= new Intl.Segmenter("en", { granularity: "grapheme" })
  return made
}

export function splitGraphemes(text: string): string[] {
  if (/^[\x20-\x7e]*$/.test(text)) return text.split("")
  return Array.from(segmenter().segment(text), ({ segment }) => segment)
}

/** The border before `at`; 0 at the start. */
export function previousBorder(text: string, at: number): number {
  if (at <= 1) return 0
  if (isPlain(text, at - 1) && isPlain(text, at - 2)) return at - 1
  return (
    segmenter()
      .segment(text)
      .containing(at - 1)?.index ?? 0
  )
}

/** The border after `at`; the text's length at the end. */
export function nextBorder(text: string, at: number): number {
  return at >= text.length ? text.length : borderAt(text, at + 1)
}

/** The next border at or after `at`. */
export function borderAt(text: string, at: number): number {
  if (at <= 0) return 0
  if (at >= text.length) return text.length
  if (isPlain(text, at - 1) && isPlain(text, at)) return at
  const found = segmenter().segment(text).containing(at)
  if (found === undefined) return text.length
  return found.index === at ? at : found.index + found.segment.length
}

function isPlain(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === 10 || (code >= 0x20 && code < 0x7f)
}

const wordPart = /[\p{L}\p{N}\p{M}_]/u

/** Where the word before `at` begins: over what is no word, then over the word. */
export function previousWord(text: string, at: number): number {
  return walk(text, at, (place) => [previousBorder(text, place), previousBorder(text, place)])
}

/** Where the word after `at` ends. */
export function nextWord(text: string, at: number): number {
  return walk(text, at, (place) => [place, nextBorder(text, place)])
}

/** `step` gives where the next character begins, and where one stands after it. */
function walk(text: string, from: number, step: (at: number) => readonly [number, number]): number {
  let at = from
  let isInWord = false
  for (;;) {
    const [start, next] = step(at)
    if (next === at) return at
    const isWord = wordPart.test(String.fromCodePoint(text.codePointAt(start) as number))
    if (isInWord && !isWord) return at
    isInWord ||= isWord
    at = next
  }
}
