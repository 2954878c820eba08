/** Path globs: `*` within a name, `**` across folders, `?`, `{a,b}`. Paths are relative, with forward slashes. */

/** Compiles a glob. One without a slash fits a name in any folder; one that fits a folder fits all in it, and the other way round. */
export function compileGlob(glob: string): (path: string) => boolean {
  const clean = glob.replace(/^\.?\//, "").replace(/\/$/, "")
  const anywhere = clean.includes("/") || clean === "**" ? "" : "(?:.*/)?"
  const folder = clean.replace(/\/\*\*$/, "")
  const pattern = new RegExp(`^${anywhere}${translate(folder)}(?:/.*)?$`, "su")
  return (path) => pattern.test(path === "." ? "" : path)
}

function translate(glob: string): string {
  let out = ""
  let depth = 0
  for (let at = 0; at < glob.length; at++) {
    const char = glob[at] as string
    if (glob.startsWith("**/", at)) {
      out += "(?:.*/)?"
      at += 2
    } else if (glob.startsWith("**", at)) {
      out += ".*"
      at += 1
    } else if (char === "*") out += "[^/]*"
    else if (char === "?") out += "[^/]"
    else if (char === "{" && glob.indexOf("}", at) > at) {
      out += "(?:"
      depth++
    } else if (char === "}" && depth > 0) {
      out += ")"
      depth--
    } else if (char === "," && depth > 0) out += "|"
    else out += char.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
  }
  return out
}
