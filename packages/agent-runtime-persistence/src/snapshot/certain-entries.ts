/**
 * What of the user's index is certain: which of its entries say what a file is and may be in a snapshot. Large indexes
 * nearly always can be taken as they are, and telling that takes a fraction of going through all of their names.
 */
import { type BytePath, foldersAbove, joinPath, nameOf, parentOf } from "./byte-path.js"
import { type NameBytes, nameAt } from "./folder-names.js"
import { assumeUnchanged, isPlain, modeAt, newestSecondOf, readHeader, readShort, sizeOf } from "./git-index.js"
import { type IgnoreRules, isExcludedAnywhere } from "./ignore-rules.js"
import { visitNames } from "./index-names.js"
import { isDotted } from "./own-files.js"

export interface CertainEntries {
  /** Where they start. */
  readonly starts: Uint32Array
  /** Which of all entries of the index each of them is. Undefined: it is all of them. */
  readonly numbers?: Uint32Array
  /** Folders in the workspace some of whose entries are not among them. */
  readonly touched: ReadonlySet<BytePath>
  /** Files of which the index does not say anything certain after all: their content must be read. */
  readonly uncertain: BytePath[]
  /** Whether the index as it is has exactly these entries, and git may scan with it. */
  readonly isWhole: boolean
  readonly hasAttributes: boolean
}

export interface IndexToRead {
  readonly data: Buffer
  /** Where all its entries start. */
  readonly starts: Uint32Array
  /** When it was written. */
  readonly second: number
}

export interface FindCertainOptions {
  readonly rules: IgnoreRules
  /** What a folder of the repository is called in the workspace; undefined for one outside. */
  readonly innerPath: (folder: BytePath) => BytePath | undefined
  /** The workspace is all of the repository. */
  readonly isAll: boolean
  /** Larger files are not captured, tracked or not. */
  readonly maxFileSize: number
}

const dot = 0x2e

/** Throws `CORRUPT` for a damaged index. */
export function findCertain(index: IndexToRead, options: FindCertainOptions): CertainEntries {
  return (options.isAll ? takeWhole(index, options) : undefined) ?? chooseEntries(index, options)
}

const extended = 0x4000
/** Of an entry without extended flags: where its path starts. */
const pathAt = 62

/** Undefined when some entry must be left out or is odd, or when only all names could tell. */
function takeWhole(
  { data, starts, second }: IndexToRead,
  { rules, maxFileSize }: FindCertainOptions,
): CertainEntries | undefined {
  // In version 4 names are not in one piece.
  if (readHeader(data).version === 4 || !rules.onlyDottedExcluded) return undefined
  const uncertain: BytePath[] = []
  const entry = { bytes: data, at: 0 }
  for (let i = 0; i < starts.length; i++) {
    const at = starts[i] as number
    const flags = readShort(data, at + 60)
    if ((flags & (assumeUnchanged | extended)) !== 0 || !isPlain(modeAt(data, at), flags)) return undefined
    entry.at = at
    if (isYoung(entry, second) || sizeOf(entry) > maxFileSize) uncertain.push(readPath(data, at + pathAt))
  }
  const dotted = listDotted(data, starts)
  if (dotted.some((path) => isExcludedAnywhere(rules, path))) return undefined
  const hasAttributes = dotted.some((path) => nameOf(path) === ".gitattributes")
  return { starts, touched: new Set(), uncertain, isWhole: true, hasAttributes }
}

/** A file as young as the index may have changed after it. */
function isYoung(entry: Parameters<typeof newestSecondOf>[0], second: number): boolean {
  return newestSecondOf(entry) >= second - 1
}

/** Paths in which a name starts with a dot. */
function listDotted(data: Buffer, starts: Uint32Array): BytePath[] {
  const dotted: BytePath[] = []
  let next = 0
  for (let i = 0; i < starts.length; i++) {
    const start = (starts[i] as number) + pathAt
    if (next >= 0 && next < start) next = data.indexOf("/.", start, "latin1") // perhaps in a time or an id
    if (data[start] !== dot && (next < 0 || next >= (starts[i + 1] ?? data.length))) continue
    const path = readPath(data, start)
    if (isDotted(path)) dotted.push(path)
  }
  return dotted
}

function readPath(data: Buffer, start: number): BytePath {
  return data.toString("latin1", start, data.indexOf(0, start))
}

/** One by one. */
function chooseEntries(
  index: IndexToRead,
  { rules, innerPath, isAll, maxFileSize }: FindCertainOptions,
): CertainEntries {
  const { data, second } = index
  const touched = new Set<BytePath>()
  const uncertain: BytePath[] = []
  const excludedFolders = new Map<BytePath, boolean>()
  const source: NameBytes = { bytes: Buffer.alloc(0) }
  let isWhole = isAll
  let hasAttributes = false
  let folder: ReturnType<typeof describe> | undefined
  const starts = new Uint32Array(index.starts.length)
  const numbers = new Uint32Array(index.starts.length)
  let count = 0
  let number = 0
  const entry = { bytes: data, at: 0 }
  visitNames(data, source, enter, (start, at, mode, flags) => {
    numbers[count] = number++
    starts[count] = at
    if (isTaken(start, at, mode, flags)) count++
  })
  const taken = { starts: starts.subarray(0, count), numbers: numbers.subarray(0, count) }
  return { ...taken, touched, uncertain, isWhole, hasAttributes }

  function enter(fullPath: BytePath): void {
    const path = innerPath(fullPath)
    folder = path === undefined ? undefined : describe(path)
  }

  function describe(path: BytePath) {
    const isSuspect = !rules.onlyDottedExcluded || isDotted(path)
    return { path, isSuspect, isExcluded: isSuspect && isFolderExcluded(path, rules, excludedFolders) }
  }

  function isTaken(start: number, at: number, mode: number, flags: number): boolean {
    if (folder === undefined) return false
    const path = () => joinPath(folder?.path ?? "", nameAt(source.bytes, start))
    const isDottedName = source.bytes[start] === dot
    const isSuspect = isDottedName || folder.isSuspect
    // Also one that is left out: it decides about others.
    if (isDottedName && nameAt(source.bytes, start) === ".gitattributes") hasAttributes = true
    if (!isPlain(mode, flags) || folder.isExcluded || (isSuspect && rules.isExcluded(path(), false))) {
      isWhole = false
      for (const one of ["", ...foldersAbove(folder.path), folder.path]) touched.add(one)
      return false
    }
    const isAssumed = (flags & assumeUnchanged) !== 0
    if (isAssumed) isWhole = false
    entry.at = at
    if (isAssumed || isYoung(entry, second) || sizeOf(entry) > maxFileSize) uncertain.push(path())
    return true
  }
}

function isFolderExcluded(folder: BytePath, rules: IgnoreRules, known: Map<BytePath, boolean>): boolean {
  if (folder === "") return false
  let excluded = known.get(folder)
  if (excluded === undefined) {
    excluded = rules.isExcluded(folder, true) || isFolderExcluded(parentOf(folder), rules, known)
    known.set(folder, excluded)
  }
  return excluded
}
