/** Text from files, models and other people as it may be shown: what is invisible, or turns the direction round, becomes visible. */

const isolated = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufff9-\ufffb]/
const hidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters it is about
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\ufff9-\ufffb]/g

/** Lines stay lines and tabs stay tabs; everything else that can't be seen is shown as a sign. */
export function visibleText(text: string): string {
  return text.replace(hidden, (one) => (one === "\n" || one === "\t" ? one : showCharacter(one)))
}

/** A name on one line: a line end or a tab in it is shown as a sign too. */
export function visibleName(text: string): string {
  return text.replace(hidden, showCharacter)
}

/** The first line, cut to `limit` characters. */
export function firstLine(text: string, limit = 200): string {
  const line = text.trimStart().split("\n", 1)[0] ?? ""
  const name = visibleName(line.length > limit * 2 ? line.slice(0, limit * 2) : line)
  return name.length > limit ? `${name.slice(0, limit - 1)}…` : name
}

function showCharacter(one: string): string {
  const code = one.codePointAt(0) as number
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  if (code === 0x7f) return "\u2421"
  return isolated.test(one) || code > 0x7f ? `\u27e8U+${code.toString(16).toUpperCase().padStart(4, "0")}\u27e9` : one
}
