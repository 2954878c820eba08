/** Where a long answer that still streams can be cut: its first part settles, so that drawing the rest stays cheap. */

/** Below this many characters an answer is kept whole. */
const longest = 4_000

/** The length of the part that may settle: up to an empty line outside of a code block. 0 if there is none yet. */
export function settleLength(text: string): number {
  if (text.length <= longest) return 0
  let isCode = false
  let at = 0
  let found = 0
  for (const line of text.split("\n")) {
    const end = at + line.length + 1
    if (/^\s*(```|~~~)/.test(line)) isCode = !isCode
    if (!isCode && line.trim() === "" && end < text.length) found = end
    at = end
  }
  // a code block longer than this is cut at a line all the same: its lines are drawn alike
  if (found === 0 && text.length > 4 * longest) return text.lastIndexOf("\n", text.length - 1) + 1
  return found
}
