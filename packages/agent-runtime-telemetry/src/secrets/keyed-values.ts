/**
 * Values whose name says they are secret: `PASSWORD=…`, `"apiKey": "…"`, `token: …`, `--token …`, `<password>…</…>`,
 * `Authorization: …`, `Cookie: …`, in environment files, JSON (also escaped inside JSON), YAML, headers and code.
 * Only the value goes, so that a reader still sees what was there.
 */
import { type Detector, redactedMark } from "./detector.js"
import { kindOfName, type NameKind } from "./names.js"
import { isItsName, isPlaceholder, isSecretBare, isSecretText, looksMade } from "./values.js"

/** A name, perhaps in quotes, then a separator, then perhaps the quote that opens the value. All parts are bounded. */
const nameAndSeparator =
  /(?<![\w-])(?:(?<=\\)[nrt])?([\w-]{2,80})((?:\\|\\{3})?["'`])?\]?([ \t]{0,8}(?:=>|:=|[:=])[ \t]{0,8})((?:\\|\\{3})?["'`])?/g
const option = /(?<![\w-])(--[A-Za-z][\w-]{1,60})[ \t]{1,4}(?=[^\s-])((?:\\|\\{3})?["'`])?/g
const element = /(<([\w:-]{2,60})>)([^<>\s"\\]{1,512})(?=<\/)/g
const loginAndPassword = /(\blogin[ \t]+[^\s"\\]{1,256}[ \t]+password[ \t]+)([^\s"\\]{1,512})/g
const curlUser = /((?<![\w-])(?:-u|--user)[ \t=]{1,3}(?:\\?["'])?[^\s:"'\\]{1,128}:)([^\s"'\\]{1,256})/g
const scheme = /(bearer|basic)([ \t]{1,4})([\w.~+/=-]{8,})/gi

/** What no value without quotes begins with: a reference to a variable, a placeholder, the second half of `==`. */
const neverSecret = /[$<=]/
/** How much of a value without quotes is looked at to judge it; if it is secret, all of it goes. */
const judged = 256
const tightEnd = /[\s"'`\\]/
const lineEnd = /["'`\\\r\n]/
const headerEnd = new RegExp(lineEnd, "g")
const looseEnd = /[\s"'`\\,;&<>)}\]]/

/** Without one of these there is no telling name. */
const hint = /pass|pwd|secret|token|key|auth|cred|cookie|jwt|bearer|basic|sig|pat|curl/i

export const redactKeyedValues: Detector = (text, redact) => {
  if (!hint.test(text)) return text
  let result = replaceValues(text, nameAndSeparator, redact, valueFinder())
  if (result.includes("--")) result = replaceValues(result, option, redact, findOptionValue)
  if (result.includes("</")) {
    result = result.replace(element, (whole, open: string, name: string, value: string) =>
      isSecretKind(kindOfName(name)) && isSecretText(kindOfName(name), value) ? open + redact() : whole,
    )
  }
  if (result.includes("login")) result = result.replace(loginAndPassword, unlessPlaceholder(redact))
  if (result.includes("curl")) result = redactCurlUsers(result, redact)
  return result.replace(scheme, (whole, name: string, space: string, value: string) =>
    isSchemeSecret(name, value) ? name + space + redact() : whole,
  )
}

interface Found {
  readonly start: number
  readonly end: number
  /** What the mark needs around it so that a number in JSON becomes a string. */
  readonly quote?: string
}

type FindValue = (text: string, match: RegExpExecArray) => Found | readonly Found[] | undefined

/** Runs over all places the pattern names, and replaces what `find` says is the secret there. */
function replaceValues(text: string, pattern: RegExp, redact: () => string, find: FindValue): string {
  let result = ""
  let copied = 0
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    for (const { start, end, quote = "" } of [find(text, match) ?? []].flat()) {
      result += text.slice(copied, start) + quote + redact() + quote
      copied = end
      pattern.lastIndex = end
    }
  }
  return result + text.slice(copied)
}

function valueFinder(): FindValue {
  const findCookies = cookieFinder()
  return (text, match) => findValue(text, match, findCookies)
}

function findValue(text: string, match: RegExpExecArray, findCookies: FindCookies): ReturnType<FindValue> {
  const [whole, name = "", nameQuote, separator = "", quote] = match
  const kind = kindOfName(name)
  if (kind === "plain" || kind === "reference") return
  const start = match.index + whole.length
  if (kind === "cookie") return findCookies(text, start, quote, separator)
  if (kind === "authorization") return findCredentials(text, start, quote)
  const end = quote === undefined ? undefined : endOfQuoted(text, start, quote)
  if (end !== undefined) {
    const value = text.slice(start, end)
    if ((nameQuote !== quote && isStructure(value)) || isItsName(value, name)) return
    const shortest = kind === "password" || nameQuote !== undefined ? 1 : 4
    return value.length >= shortest && isSecretText(kind, value) ? { start, end } : undefined
  }
  if (separator.includes("=>") || neverSecret.test(text[start] ?? "")) return
  const isTight = separator === "="
  const isEnvironment = isTight && name === name.toUpperCase()
  const ending = isEnvironment ? tightEnd : looseEnd
  const value = readBare(text, start, ending)
  const after = start + value.length
  const typed = kind === "password" || kind === "token" ? findTyped(text, after, kind, separator) : undefined
  if (typed !== undefined) return typed
  const isWholeLine = isLineStart(text, match.index) && isLineEnd(text, after)
  if (!isSecretBare(kind, value, { isEnvironment, isTight, isWholeLine, name })) return
  return { start, end: endOfBare(text, start, value, ending), ...(nameQuote === undefined ? {} : { quote: nameQuote }) }
}

const typedAssignment = /[ \t]{0,4}=[ \t]{0,4}(["'`])/y

/** `const password: string = "…"`: the value stands behind the type. */
function findTyped(text: string, after: number, kind: NameKind, separator: string): Found | undefined {
  if (!separator.includes(":")) return
  typedAssignment.lastIndex = after
  const quote = typedAssignment.exec(text)?.[1]
  if (quote === undefined) return
  const start = typedAssignment.lastIndex
  const end = endOfQuoted(text, start, quote) ?? start
  return isQuotedSecret(kind, text.slice(start, end)) ? { start, end } : undefined
}

function findOptionValue(text: string, match: RegExpExecArray): Found | undefined {
  const [whole, name = "", quote] = match
  const kind = kindOfName(name)
  if (!isSecretKind(kind)) return
  const start = match.index + whole.length
  const end = (quote === undefined ? undefined : endOfQuoted(text, start, quote)) ?? start
  if (end > start) return isQuotedSecret(kind, text.slice(start, end)) ? { start, end } : undefined
  const value = readBare(text, start, looseEnd)
  const context = { isEnvironment: false, isTight: true, isWholeLine: false, name }
  return isSecretBare(kind, value, context) ? { start, end: endOfBare(text, start, value, looseEnd) } : undefined
}

const schemeName = /(?:bearer|basic|token|digest|negotiate|apikey|aws4-hmac-sha256|hmac|key)[ \t]{1,4}/iy

/** What stands behind a scheme that is only spoken about. With a digit in it, it is a token that begins like a word. */
const schemeWord = /^(?!\S*\d)(?:token|credentials?|key|auth\w*|scheme|header)\b/i

/** The credentials of an Authorization header: all that follows the scheme, or the first word if there is none. */
function findCredentials(text: string, start: number, quote: string | undefined): Found | undefined {
  schemeName.lastIndex = start
  const from = schemeName.test(text) ? schemeName.lastIndex : start
  const hasScheme = from > start
  const ending = hasScheme ? lineEnd : looseEnd
  const value = readBare(text, from, ending)
  if (value === "" || text.startsWith(redactedMark, from) || isPlaceholder(value)) return
  const isSecret = hasScheme ? !schemeWord.test(value) : looksMade(value)
  const isInQuotes = !hasScheme && quote !== undefined && isSecretText("token", value)
  return isSecret || isInQuotes ? { start: from, end: endOfBare(text, from, value, ending) } : undefined
}

const cookiePair = /(?<![^\s;,])=*([^\s=;,]+)=([^\s;,]+)/g
const cookieAttribute = /^(?:path|domain|expires|max-age|samesite|priority|version)$/i

type FindCookies = (text: string, start: number, quote: string | undefined, separator: string) => readonly Found[]

/** Every value in a Cookie or Set-Cookie header, however long, except attributes such as `Path`. */
function cookieFinder(): FindCookies {
  let searched = 0 // a line that names cookies again and again is read once
  return (text, start, quote, separator) => {
    if (start < searched || (quote === undefined && !separator.includes(":"))) return []
    searched = endOfHeader(text, start)
    return [...text.slice(start, searched).matchAll(cookiePair)].flatMap(
      ({ 0: pair, 1: name = "", 2: value = "", index }) => {
        const isOpen = cookieAttribute.test(name) || isPlaceholder(value) || value.startsWith("=")
        const end = start + index + pair.length
        return isOpen || value === redactedMark ? [] : [{ start: end - value.length, end }]
      },
    )
  }
}

function endOfHeader(text: string, start: number): number {
  headerEnd.lastIndex = start
  return headerEnd.exec(text)?.index ?? text.length
}

function redactCurlUsers(text: string, redact: () => string): string {
  return text.replace(curlUser, (whole, before: string, password: string, offset: number) => {
    const isCurl = text.slice(Math.max(0, offset - 400), offset).includes("curl")
    return !isCurl || password === redactedMark || isPlaceholder(password) ? whole : before + redact()
  })
}

function unlessPlaceholder(redact: () => string) {
  return (whole: string, before: string, value: string) =>
    value === redactedMark || isPlaceholder(value) ? whole : before + redact()
}

/** `Bearer` and `Basic` also stand in prose, so what follows must look the part. */
function isSchemeSecret(name: string, value: string): boolean {
  return name.toLowerCase() === "bearer" ? looksMade(value) : isUserAndPassword(value)
}

function isUserAndPassword(base64: string): boolean {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(base64) || base64.replace(/=+$/, "").length % 4 === 1) return false
  const decoded = atob(base64.replace(/=+$/, "").replaceAll("-", "+").replaceAll("_", "/"))
  return /^[\x20-\x7e]+:[\x20-\x7e]*$/.test(decoded)
}

function isSecretKind(kind: NameKind): boolean {
  return kind === "password" || kind === "token" || kind === "maybe"
}

/** The end of a JSON string: a value that began in it ends there too. */
const stringEnd = /"\s{0,80}[,:}\]]/y

/** Where the closing quote stands; `undefined` if there is none on the line. */
function endOfQuoted(text: string, start: number, quote: string): number | undefined {
  for (let index = start; index < text.length; index++) {
    const char = text[index]
    if (text.startsWith(quote, index)) return index
    if (char === "\n" || char === "\r") return
    if (char === "\\" && quote.length > 1) return
    if (char === '"' && (quote.length > 1 || isMatchAt(stringEnd, text, index))) return
    if (char === "\\") index++
  }
}

function isMatchAt(pattern: RegExp, text: string, index: number): boolean {
  pattern.lastIndex = index
  return pattern.test(text)
}

function isQuotedSecret(kind: NameKind, value: string): boolean {
  return !isStructure(value) && isSecretText(kind, value)
}

/** The quote did not open a value but closed the JSON string that the name stands in; what ends it opens the next. */
function isStructure(value: string): boolean {
  return /^\s*[,}\]]/.test(value) && /^[\s,:{}[\]\w.+-]*$/.test(value) && /[\s,:{[]$/.test(value)
}

/** The beginning of a value without quotes. */
function readBare(text: string, start: number, ending: RegExp): string {
  const value = text.slice(start, start + judged)
  const end = value.search(ending)
  return end === -1 ? value : value.slice(0, end)
}

/** Where a value ends whose beginning was read. */
function endOfBare(text: string, start: number, value: string, ending: RegExp): number {
  let end = start + value.length
  if (value.length === judged) while (end < text.length && !ending.test(text[end] as string)) end++
  return end
}

function isLineStart(text: string, index: number): boolean {
  return /(?:^|[\n\r]|\\n)[ \t]*(?:- )?["'`]?$/.test(text.slice(Math.max(0, index - 80), index))
}

function isLineEnd(text: string, index: number): boolean {
  return index >= text.length || /^[ \t]*(?:[\r\n]|\\[nr]|#|$)/.test(text.slice(index, index + 80))
}
