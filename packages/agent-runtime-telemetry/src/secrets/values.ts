/** Whether the value behind a telling name is a secret, or words, code, a type, a path, a placeholder. */
import { redactedMark } from "./detector.js"
import type { NameKind } from "./names.js"

const notValues = new Set(
  (
    "string str number integer int float double boolean bool object array any unknown never void null nil none undefined " +
    "true false yes no on off text password passwd secret token optional required default input output value values key " +
    "inherit public private readonly static const let var await async new function return self this super type interface " +
    "bytes buffer char varchar secretstr option vec map list dict require import export from env disabled enabled " +
    "pass passed fail failed skip skipped ok error placeholder redacted bearer basic"
  ).split(" "),
)

const placeholder =
  /^(?:\$|%\w+%|%[sdv]|\{\{|\{[\w.-]+\}|<[^<>]*>$|\*+$|[xX]{3,}$|\.{2,}|…|your[-_ ]|(?:replace|change|insert|put|enter)[-_ ]|op:\/\/|arn:|vault:)/i

/** Stands for a value instead of being one: `${TOKEN}`, `<password>`, `***`, `your-key-here`. */
export function isPlaceholder(value: string): boolean {
  return placeholder.test(value) || value.includes("${") || value.includes("{{")
}

const path = /^(?:~|\.{1,2}|[A-Za-z]:)?[\\/][\w.@ \\/-]*$/
const proseWord =
  /(?:^|\s)(?:a|an|and|are|argument|as|be|by|can|enter|field|flag|for|from|has|if|in|instead|invalid|is|it|key|missing|must|not|of|on|options?|or|parameter|password|please|required|secret|should|that|the|this|to|token|used|via|was|when|will|with|your)[.,:;!?]*(?:\s|$)/i

const numberOrVersion = /^(?:-?\d{1,15}(?:\.\d+)?|[\^~>=v]{0,2}\d+\.\d+\.[\w.-]+)$/

/** The value of a field in a JSON document. Under the name of a password, words are a password too. */
export function isSecretField(kind: NameKind, value: string): boolean {
  return kind === "password" ? isValue(value.trim()) : isSecretText(kind, value)
}

/** A value between quotes in a text. */
export function isSecretText(kind: NameKind, value: string): boolean {
  const text = value.trim()
  if (!isValue(text) || (/\s/.test(text) && proseWord.test(text))) return false
  if (kind === "password") return !/^\/[\w.-]+(?:\/[\w.-]+)+$/.test(text)
  if (kind === "maybe") return looksMade(text)
  return !path.test(text) && !/^https?:\/\//.test(text) && !numberOrVersion.test(text)
}

function isValue(text: string): boolean {
  return text !== "" && text !== redactedMark && !isPlaceholder(text) && !notValues.has(text.toLowerCase())
}

export interface BareContext {
  /** `NAME=value`, as in an environment file: what follows is the value, whatever it looks like. */
  readonly isEnvironment: boolean
  /** Nothing between name and value but `=`, or a command line option: no type can stand there. */
  readonly isTight: boolean
  /** The name begins its line and the value ends it, as in YAML. */
  readonly isWholeLine: boolean
  readonly name: string
}

const code = /[([{]|^[!:*]|^\/\*|^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+!?$/
const letters = /^[A-Za-z_$-]+[.!?:]*$/

/** A value without quotes. It may as well be code or words, so what surrounds it decides. */
export function isSecretBare(kind: NameKind, value: string, context: BareContext): boolean {
  if (!isSecretText(kind, value)) return false
  if (context.isEnvironment) return true
  if (value.length < 4 || code.test(value) || proseWord.test(value)) return false
  if (!letters.test(value)) return true
  if (isSaidAgain(value, context.name)) return false
  return context.isTight || (context.isWholeLine && value === value.toLowerCase())
}

/** The value is the name: a label, or a variable that is named as such. */
export function isItsName(value: string, name: string): boolean {
  return bare(value) === bare(name)
}

/** `password=user_password`: a variable that hands the value on. */
function isSaidAgain(value: string, name: string): boolean {
  const [ours, theirs] = [bare(name), bare(value)]
  return ours.endsWith(theirs) || /(?:password|passwd|pwd|secret|token|key|credentials?)$/.test(theirs)
}

function bare(text: string): string {
  return text.replace(/[^A-Za-z0-9]/g, "").toLowerCase()
}

/** Long, without spaces, letters and digits mixed, and no hash. */
export function looksMade(value: string): boolean {
  return /^[\w.~+/=-]{16,}$/.test(value) && !/^[0-9a-f]+$/i.test(value) && /[0-9]/.test(value) && /[A-Za-z]/.test(value)
}
