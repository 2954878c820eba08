/** Passwords in connection strings and other addresses: `scheme://user:password@host`. User and host stay readable. */
import { type Detector, redactedMark } from "./detector.js"
import { isPlaceholder } from "./values.js"

/** Where user and password may begin; the user can hold no slash, so no run is scanned twice. */
const beginning = /:\\?\/\\?\/[^\s/@:"'`<>\\]*:/g
/** What an address can't hold, not even one whose password was not escaped. */
const outside = /[\s"'`<>]|\\(?!\/)/g

export const redactUrlPasswords: Detector = (text, redact) => {
  if (!text.includes("@")) return text
  let result = ""
  let done = 0
  let addressEnd = 0
  beginning.lastIndex = 0
  for (let match = beginning.exec(text); match !== null; match = beginning.exec(text)) {
    const start = beginning.lastIndex
    if (start > addressEnd) addressEnd = findEnd(text, start)
    const end = findPasswordEnd(text.slice(start, addressEnd))
    const password = text.slice(start, start + end)
    if (end <= 0 || password === redactedMark || isPlaceholder(password)) continue
    result += text.slice(done, start) + redact()
    done = start + end
    beginning.lastIndex = done
  }
  return result + text.slice(done)
}

/** The end of the address: the next one in the same run begins where its scheme does. */
function findEnd(text: string, start: number): number {
  outside.lastIndex = start
  const end = outside.exec(text)?.index ?? text.length
  const next = text.slice(start, end).search(/[\w+.-]*:\\?\/\\?\//)
  return next < 0 ? end : start + next
}

/**
 * How long the password is; 0 if there is none. The last `@` before the first slash ends it. A password with a slash that
 * was not escaped goes on to the last `@` that something like a host follows; a port before the slash is no password.
 */
function findPasswordEnd(rest: string): number {
  const slash = rest.indexOf("/")
  const host = slash < 0 ? rest : rest.slice(0, slash)
  const plain = host.lastIndexOf("@")
  if (slash < 0 || /^\d{1,5}$/.test(host)) return Math.max(plain, 0)
  const query = rest.search(/[?#]/)
  const path = query < 0 ? rest : rest.slice(0, query)
  const last = path.lastIndexOf("@")
  if (last < slash) return Math.max(plain, 0)
  return hostAfter.test(path.slice(last + 1)) ? last : Math.max(plain, 0)
}

/** A name with a dot or a port, localhost, or a plain name that a path or nothing follows. */
const hostAfter = /^(?:\[[\da-fA-F:.]+\]|[\w-]+(?:\.[\w-]+)*)(?::\d+)?(?:\\?\/|,|$)/
