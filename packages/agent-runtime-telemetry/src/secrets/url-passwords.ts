/** Passwords in connection strings and other addresses: `scheme://user:password@host`. User and host stay readable. */
import { type Detector, redactedMark } from "./detector.js"
import { isPlaceholder } from "./values.js"

/** Neither part can hold a slash, so no run is scanned twice. The last `@` before a slash ends the password. */
const userAndPassword = /(:\\?\/\\?\/[^\s/@:"'`<>\\]*:)([^\s/"'`<>\\]+)(?=@)/g

export const redactUrlPasswords: Detector = (text, redact) => {
  if (!text.includes("@")) return text
  return text.replace(userAndPassword, (whole, before: string, password: string) =>
    password === redactedMark || isPlaceholder(password) ? whole : before + redact(),
  )
}
