/**
 * Patterns in the language of .gitignore. Paths are relative, with forward slashes; patterns and paths must be written
 * alike: both in characters, or both with one character a byte.
 */

export interface PatternList {
  readonly isEmpty: boolean
  /** What the last matching pattern says of this very path: true, false for `!pattern`, undefined for no match. */
  match(path: string, isFolder: boolean): boolean | undefined
  /** The same, and true also when a folder above the path matches. */
  matchWithFolders(path: string, isFolder: boolean): boolean
  /** Whether an anchored pattern could match something inside this folder. */
  canMatchInside(folder: string): boolean
}

interface Pattern {
  readonly regex: RegExp
  readonly negated: boolean
  readonly foldersOnly: boolean
  readonly anchored: boolean
  /** One expression per leading folder of an anchored pattern; stops before `**`. */
  readonly folders: readonly RegExp[]
  readonly deep: boolean
}

export function createPatternList(lines: readonly string[]): PatternList {
  const patterns = lines.map((line) => parsePattern(line)).filter((pattern) => pattern !== undefined)

  function match(path: string, isFolder: boolean): boolean | undefined {
    for (let i = patterns.length - 1; i >= 0; i--) {
      const pattern = patterns[i] as Pattern
      if (pattern.foldersOnly && !isFolder) continue
      if (pattern.regex.test(pattern.anchored ? path : nameOf(path))) return !pattern.negated
    }
    return undefined
  }

  return {
    isEmpty: patterns.length === 0,
    match,
    matchWithFolders(path, isFolder) {
      if (patterns.length === 0) return false
      return foldersAbove(path).some((folder) => match(folder, true) === true) || match(path, isFolder) === true
    },
    canMatchInside(folder) {
      const names = folder.split("/")
      return patterns.some(
        (pattern) =>
          pattern.anchored &&
          !pattern.negated &&
          (pattern.deep || names.length < pattern.folders.length + 1) &&
          names.every((name, i) => pattern.folders[i]?.test(name) ?? pattern.deep),
      )
    },
  }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1)
}

/** Every folder above a path, outermost first. */
function foldersAbove(path: string): string[] {
  const folders: string[] = []
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) folders.push(path.slice(0, at))
  return folders
}

function parsePattern(line: string): Pattern | undefined {
  // Three stars and more are as good as two.
  let text = line
    .replace(/\r$/, "")
    .replace(/(?<!\\) +$/, "")
    .replace(/\*{3,}/g, "**")
  if (text === "" || text.startsWith("#")) return undefined
  const negated = text.startsWith("!")
  if (negated) text = text.slice(1)
  const foldersOnly = text.endsWith("/")
  if (foldersOnly) text = text.slice(0, -1)
  const anchored = text.includes("/")
  if (text.startsWith("/")) text = text.slice(1)
  if (text === "") return undefined
  try {
    const segments = text.split("/")
    const { length } = plainStart(text)
    const isDeepName = text.startsWith("**/", length) // `a**/b`
    const deepAt = isDeepName ? text.slice(0, length).split("/").length - 1 : segments.indexOf("**")
    const folders = segments.slice(0, deepAt < 0 ? segments.length - 1 : deepAt)
    return {
      regex: anchored ? toPathRegex(text) : toRegex(text),
      negated,
      foldersOnly,
      anchored,
      folders: folders.map(toRegex),
      deep: deepAt >= 0,
    }
  } catch {
    return undefined // a bracket that never closes matches nothing, as in git
  }
}

/** Git takes the plain beginning of a pattern off before it looks at the rest: `a**\/b` begins with `**\/` for it. */
function toPathRegex(glob: string): RegExp {
  const plain = plainStart(glob)
  const rest = glob.slice(plain.length)
  const isInName = plain !== "" && !plain.endsWith("/")
  const { source } = rest === "**" && isInName ? /^.*$/s : toRegex(rest)
  return new RegExp(`^${escapeAll(plain)}${source.slice(1)}`, "s")
}

function plainStart(glob: string): string {
  return /^[^*?[\\]*/.exec(glob)?.[0] ?? ""
}

function escapeAll(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")
}

function toRegex(glob: string): RegExp {
  let source = ""
  for (let i = 0; i < glob.length; ) {
    const rest = glob.slice(i)
    if (glob === "**") {
      source += ".+"
      i += 2
    } else if (i === 0 && rest.startsWith("**/")) {
      source += "(?:.*/)?"
      i += 3
    } else if (rest.startsWith("/**/")) {
      source += "/(?:.*/)?"
      i += 4
    } else if (rest === "/**") {
      source += "/.+"
      i += 3
    } else if (rest.startsWith("*")) {
      source += "[^/]*"
      while (glob[i] === "*") i++
    } else if (rest.startsWith("?")) {
      source += "[^/]"
      i++
    } else if (rest.startsWith("[")) {
      const [set, length] = toCharacterSet(rest)
      source += set
      i += length
    } else {
      if (rest.startsWith("\\")) i++
      if (i >= glob.length) throw new SyntaxError("a lone backslash")
      source += escapeAll(glob[i] as string)
      i++
    }
  }
  return new RegExp(`^${source}$`, "s")
}

const classes: Readonly<Record<string, string>> = {
  alnum: "A-Za-z0-9",
  alpha: "A-Za-z",
  blank: " \\t",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`{-~",
  space: "\\s",
  upper: "A-Z",
  xdigit: "A-Fa-f0-9",
}

function toCharacterSet(text: string): [string, number] {
  let i = 1
  const negated = text[i] === "!" || text[i] === "^"
  if (negated) i++
  let set = ""
  for (let first = true; first || text[i] !== "]"; first = false) {
    if (i >= text.length) throw new SyntaxError("an open bracket")
    const named = /^\[:([a-z]+):\]/.exec(text.slice(i))
    if (named) {
      const known = classes[named[1] as string]
      if (known === undefined) throw new SyntaxError("an unknown class")
      set += known
      i += named[0].length
      continue
    }
    if (text[i] === "\\") i++
    if (i >= text.length) throw new SyntaxError("an open bracket")
    const isRange = text[i] === "-" && !first && text[i + 1] !== "]"
    set += isRange ? "-" : (text[i] as string).replace(/[\\\]^[-]/g, "\\$&")
    i++
  }
  return [`(?!/)[${negated ? "^" : ""}${set}]`, i + 1]
}
