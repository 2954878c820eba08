/** Holds the facts of the sources against the import table. Pure: what it is given is all it knows. */
import { isBuiltin } from "node:module"
import { posix } from "node:path"
import { findRule, type ImportRule, openDoors } from "./import-table.js"
import { parseSource, type SourceFacts, type SourceFile, type UseFact } from "./parse-source.js"

export interface Member {
  readonly name: string
  /** From the root, without a slash at the end. */
  readonly folder: string
  /** What its package.json lists for those who install it. */
  readonly dependencies: readonly string[]
  /** Source files that `exports` names. */
  readonly entries: readonly string[]
}

const cycleReason =
  "none of these files can be understood, tested or moved without the others, and which loads first is luck"

/** One line for each broken rule: where, what, and why the rule exists. */
export function findViolations(sources: readonly SourceFile[], members: readonly Member[]): string[] {
  const facts = sources.map(parseSource)
  const lines = facts.flatMap((file) => checkFile(file, members))
  const cycles = findCycles(facts).map((cycle) => `${cycle.join(" → ")}: a cycle; ${cycleReason}.`)
  return [...lines, ...cycles]
}

/** Test code may use the machine and the test tools; the borders between packages hold for it too. */
export function isTestCode(path: string): boolean {
  return /\.test\.tsx?$/.test(path) || /^[^/]+\/[^/]+\/(test|src\/testing)\//.test(path)
}

function checkFile(file: SourceFacts, members: readonly Member[]): string[] {
  const member = members.find((one) => file.path.startsWith(`${one.folder}/`))
  if (!member) return []
  const rule = findRule(file.path)
  if (!rule) return [`${file.path}: no row of the import table is about it; a package without a border has none.`]
  const lines: string[] = []
  for (const { specifier, line } of file.imports) {
    const problem = checkImport(file.path, specifier, rule, member, members)
    if (problem) lines.push(`${file.path}:${line}: imports "${specifier}": ${problem}`)
  }
  if (!isTestCode(file.path)) {
    for (const use of file.uses) {
      const problem = checkUse(use, rule)
      if (problem) lines.push(`${file.path}:${use.line}: uses ${use.what}: ${problem}`)
    }
  }
  if (file.isBarrel && !member.entries.includes(file.path)) {
    lines.push(
      `${file.path}: re-exports only; one index.ts per package is the list of what is public, a second one hides where things are.`,
    )
  }
  return lines
}

function checkImport(path: string, specifier: string, rule: ImportRule, member: Member, members: readonly Member[]) {
  if (specifier.startsWith(".")) return checkRelative(path, specifier, rule, member)
  // node:sqlite is a module of newer versions than the one that runs this.
  if (specifier.startsWith("node:") || isBuiltin(specifier)) {
    if (!rule.node && !isTestCode(path)) return `no Node module here; ${rule.why}`
    return specifier.startsWith("node:")
      ? undefined
      : `write "node:${specifier}", so that no npm package can stand in for it.`
  }
  const [name, subpath] = splitSpecifier(specifier)
  if (name.startsWith("@ku0/") || members.some((one) => one.name === name))
    return checkWorkspace(path, name, subpath, rule, member)
  if (isTestCode(path)) return undefined
  if (rule.npm !== "declared" && !rule.npm.includes(name)) {
    return `may use ${rule.npm.join(", ") || "no npm package"}; ${rule.why}`
  }
  if (!member.dependencies.includes(name))
    return `${member.folder}/package.json does not declare it, so an install without this workspace lacks it.`
  return undefined
}

function checkRelative(path: string, specifier: string, rule: ImportRule, member: Member) {
  const target = posix.join(posix.dirname(path), specifier)
  if (!target.startsWith(`${member.folder}/`)) {
    return "a relative path out of the package; use the package's name, so that what it promises is what is used."
  }
  const source = target.replace(/\.js$/, ".ts")
  const isOwn = rule.own === undefined || rule.own.some((prefix) => source.startsWith(prefix))
  return isOwn || isTestCode(path)
    ? undefined
    : `may import ${rule.own?.join(", ") || "none of its package's files"}; ${rule.why}`
}

function checkWorkspace(path: string, name: string, subpath: string, rule: ImportRule, member: Member) {
  if (name === member.name) {
    return isTestCode(path)
      ? undefined
      : "its own package; use a relative path, or it loads what was built instead of what is written."
  }
  if (!rule.workspace.includes(name)) {
    const allowed = rule.workspace.join(", ") || "no package of this workspace"
    return `may import ${allowed}; ${rule.why}`
  }
  if (subpath === "") return undefined
  if (!openDoors.some((door) => door.test(`${name}/${subpath}`))) {
    return "the inside of a package; only its main entry, ./testing, ./agents/*, ./models/* and core's ./schemas are open, so that the inside can change."
  }
  if (subpath === "testing" && !isTestCode(path))
    return "./testing is for tests; it brings test tools into the product."
  return undefined
}

function checkUse(use: UseFact, rule: ImportRule): string | undefined {
  if (use.kind === "machine" && !rule.machine) {
    return "only apps read the environment, the home directory, the arguments, or print; a package takes options, so that a caller decides and a test can."
  }
  if (use.kind === "clock" && !rule.clock) return `no clock and no chance of its own; ${rule.why}`
  if (use.kind === "node" && !rule.node) return `only Node has it; ${rule.why}`
  return undefined
}

function splitSpecifier(specifier: string): [name: string, subpath: string] {
  const parts = specifier.split("/")
  const length = specifier.startsWith("@") ? 2 : 1
  return [parts.slice(0, length).join("/"), parts.slice(length).join("/")]
}

/** Cycles of files that load each other at start; each once, as the way round. */
export function findCycles(files: readonly SourceFacts[]): string[][] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const state = new Map<string, "open" | "done">()
  const way: string[] = []
  const cycles: string[][] = []
  const visit = (file: SourceFacts): void => {
    state.set(file.path, "open")
    way.push(file.path)
    for (const { specifier, kind } of file.imports) {
      const target = kind === "static" ? resolveFile(file.path, specifier, byPath) : undefined
      if (!target) continue
      const seen = state.get(target.path)
      if (seen === "open") cycles.push([...way.slice(way.indexOf(target.path)), target.path])
      else if (seen === undefined) visit(target)
    }
    way.pop()
    state.set(file.path, "done")
  }
  for (const file of files) if (!state.has(file.path)) visit(file)
  return cycles
}

function resolveFile(
  from: string,
  specifier: string,
  byPath: ReadonlyMap<string, SourceFacts>,
): SourceFacts | undefined {
  if (!specifier.startsWith(".")) return undefined
  const target = posix.join(posix.dirname(from), specifier)
  const stem = target.replace(/\.jsx?$/, "")
  for (const path of [target, `${stem}.ts`, `${stem}.tsx`, `${target}/index.ts`]) {
    const found = byPath.get(path)
    if (found) return found
  }
  return undefined
}
