/** How deep arrays and objects may lie inside each other in what is kept, so that whatever reads it can go as deep. */

/** Far from where the functions that call themselves for each level run out of stack. */
export const deepestJson = 2_000

/** Goes through the text once, without calling itself. The text may be anything. */
export function isNestedDeeper(json: string, levels: number): boolean {
  if (json.length <= levels) return false
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at)
    if (char === 0x22) at = findEndOfText(json, at)
    else if (char === 0x5b || char === 0x7b) {
      if (++depth > levels) return true
    } else if (char === 0x5d || char === 0x7d) depth--
  }
  return false
}

/** Where the quoted text ends that starts there: at a quote that no backslash speaks for. */
function findEndOfText(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let slashes = 0
    while (json.charCodeAt(at - 1 - slashes) === 0x5c) slashes++
    if (slashes % 2 === 0) return at
  }
  return json.length
}
