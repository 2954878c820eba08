/**
 * Paths are bytes. Inside the snapshot engine a path is a string with one character per byte (latin1), relative to the
 * workspace, with forward slashes and "" for the workspace itself. Comparing such strings compares bytes, and a name
 * that is not UTF-8 survives the way to git and back.
 */

/** A path with one character per byte. Never show one to a person: use `displayPath`. */
export type BytePath = string

/** Made when first needed, which takes a millisecond; plain ASCII never needs it. */
let utf8: InstanceType<typeof TextDecoder> | undefined
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII starts at NUL
const ascii = /^[\x00-\x7f]*$/

export function isAscii(text: string): boolean {
  return ascii.test(text)
}

/** An ordinary string as bytes. */
export function toBytePath(path: string): BytePath {
  return ascii.test(path) ? path : Buffer.from(path, "utf8").toString("latin1")
}

/** What Node's file functions take: the string itself, or its bytes where it is not plain ASCII. */
export function toSystemPath(path: BytePath): string | Buffer {
  return ascii.test(path) ? path : Buffer.from(path, "latin1")
}

export function joinPath(parent: BytePath, name: BytePath): BytePath {
  return parent === "" ? name : `${parent}/${name}`
}

export function parentOf(path: BytePath): BytePath {
  const slash = path.lastIndexOf("/")
  return slash < 0 ? "" : path.slice(0, slash)
}

export function nameOf(path: BytePath): BytePath {
  return path.slice(path.lastIndexOf("/") + 1)
}

/** Every folder above a path, outermost first, without the workspace itself. */
export function foldersAbove(path: BytePath): BytePath[] {
  const folders: BytePath[] = []
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) folders.push(path.slice(0, at))
  return folders
}

export function isInside(path: BytePath, folder: BytePath): boolean {
  return folder === "" || path === folder || path.startsWith(`${folder}/`)
}

/** For people and JSON: UTF-8 where the bytes are, `\xHH` for each byte where they are not. */
export function displayPath(path: BytePath): string {
  if (ascii.test(path)) return path
  const bytes = Buffer.from(path, "latin1")
  try {
    utf8 ??= new TextDecoder("utf-8", { fatal: true })
    return utf8.decode(bytes)
  } catch {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: everything that is not ASCII is escaped
    return path.replace(/[^\x00-\x7f]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`)
  }
}

/** One line of printable ASCII without spaces, for the text of a commit; `unescapePath` takes it back. */
export function escapePath(path: BytePath): string {
  return path.replace(/[^!-$&-~]/g, (char) => `%${char.charCodeAt(0).toString(16).padStart(2, "0")}`)
}

export function unescapePath(text: string): BytePath {
  return text.replace(/%([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
