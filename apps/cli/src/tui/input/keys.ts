/**
 * Keys from what a terminal sends. A chunk may hold many keys, half a key, or a part of a paste; however it is cut, the
 * keys come out the same. Enter inside a paste is text; Enter after text in the same chunk is Enter.
 */

/** `id` is `text`, `paste`, or a key's name with its modifiers in this order: `ctrl-alt-shift-left`, `alt-enter`, `ctrl-c`. */
export interface Key {
  readonly id: string
  /** What was typed or pasted; empty for other keys. */
  readonly text: string
}

export interface KeyDecoder {
  push(chunk: string): Key[]
  /** Escape alone and the beginning of a sequence look the same: after a short silence, call `flush`. */
  readonly isWaiting: boolean
  flush(): Key[]
}

const esc = "\u001b"
const pasteStart = `${esc}[200~`
const pasteEnd = `${esc}[201~`

export function createKeyDecoder(): KeyDecoder {
  let rest = ""
  let pasted: string[] | undefined

  function push(chunk: string): Key[] {
    const keys: Key[] = []
    let input = rest + chunk
    rest = ""
    while (input !== "") {
      if (pasted !== undefined) {
        const end = input.indexOf(pasteEnd)
        if (end < 0) {
          // the end mark itself may be cut in two
          const held = heldBack(input)
          pasted.push(input.slice(0, input.length - held))
          rest = input.slice(input.length - held)
          return keys
        }
        pasted.push(input.slice(0, end))
        keys.push({ id: "paste", text: pasted.join("") })
        pasted = undefined
        input = input.slice(end + pasteEnd.length)
        continue
      }
      const found = readKey(input)
      if (found === undefined) {
        rest = input
        return keys
      }
      if (input.startsWith(pasteStart)) pasted = []
      else if (found.key !== undefined) keys.push(found.key)
      input = input.slice(found.length)
    }
    return keys
  }

  function flush(): Key[] {
    if (pasted !== undefined || rest === "") return []
    const left = rest
    rest = ""
    if (left === esc) return [named("escape")]
    if (left.startsWith(esc)) return left.length === 2 ? [named(`alt-${left[1]}`)] : []
    return [{ id: "text", text: left }]
  }

  return {
    push,
    flush,
    get isWaiting() {
      return pasted === undefined && rest !== ""
    },
  }
}

function heldBack(input: string): number {
  for (let length = Math.min(pasteEnd.length - 1, input.length); length > 0; length--) {
    if (pasteEnd.startsWith(input.slice(-length))) return length
  }
  return 0
}

interface FoundKey {
  readonly length: number
  /** A sequence that means nothing to us has none. */
  readonly key: Key | undefined
}

/** The first key of the input; nothing when the rest of it has yet to come. */
function readKey(input: string): FoundKey | undefined {
  if (input[0] === esc) return readEscaped(input)
  const code = input.charCodeAt(0)
  if (code < 0x20 || code === 0x7f) return { length: 1, key: named(controlName(code)) }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they end a run of text
  const end = input.search(/[\u0000-\u001f\u007f]/)
  const text = end < 0 ? input : input.slice(0, end)
  if (end < 0 && /[\ud800-\udbff]$/.test(text)) {
    return text.length === 1 ? undefined : { length: text.length - 1, key: { id: "text", text: text.slice(0, -1) } }
  }
  return { length: text.length, key: { id: "text", text } }
}

function readEscaped(input: string): FoundKey | undefined {
  if (input.length === 1) return undefined
  const next = input[1] as string
  if (next === "[") return readSequence(input)
  if (next === "O") {
    if (input.length === 2) return undefined
    return { length: 3, key: fromLetter(input[2] as string, 1) }
  }
  if (next === esc) {
    // Escape before a sequence is Alt on some terminals; before anything else it is Escape
    if (input.length === 2) return undefined
    if (input[2] !== "[" && input[2] !== "O") return { length: 1, key: named("escape") }
    const inner = readEscaped(input.slice(1))
    if (inner === undefined) return undefined
    return { length: inner.length + 1, key: inner.key && named(`alt-${inner.key.id}`) }
  }
  const code = next.charCodeAt(0)
  if (code < 0x20 || code === 0x7f) return { length: 2, key: named(`alt-${controlName(code)}`) }
  const character = String.fromCodePoint(input.codePointAt(1) as number)
  if (/^[\ud800-\udbff]$/.test(character) && input.length === 2) return undefined
  return { length: 1 + character.length, key: named(`alt-${character}`) }
}

function readSequence(input: string): FoundKey | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character begins a sequence
  const match = /^\u001b\[(\[?[0-?]*)([ -/]*)([@-~])/.exec(input)
  if (match === null) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character begins a sequence
    const isWhole = !/^\u001b\[\[?[0-?]*[ -/]*$/.test(input)
    if (!isWhole) return undefined
    // broken off: what follows is read for itself
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character begins a sequence
    return { length: (/^\u001b\[\[?[0-?]*[ -/]*/.exec(input) as RegExpExecArray)[0].length, key: undefined }
  }
  const [whole, parameters = "", , final = ""] = match
  // a sign of its own, or a mouse: an answer of the terminal, no key
  if (/^[<=>?]/.test(parameters) || final === "M") return { length: whole.length, key: undefined }
  const numbers = parameters.split(";").map((part) => Number.parseInt(part, 10) || 0)
  return { length: whole.length, key: fromSequence(numbers, final) }
}

const numbered: Readonly<Record<number, string>> = {
  1: "home",
  2: "insert",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
}

const lettered: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  F: "end",
  H: "home",
  M: "enter",
  Z: "shift-tab",
}

function fromSequence(numbers: readonly number[], final: string): Key | undefined {
  const [first = 0, modifiers = 1, third = 0] = numbers
  if (final === "~") {
    if (first === 27) return fromCode(third, modifiers)
    return modified(numbered[first], modifiers)
  }
  if (final === "u") return fromCode(first, modifiers)
  return fromLetter(final, modifiers)
}

function fromLetter(letter: string, modifiers: number): Key | undefined {
  return modified(lettered[letter], modifiers)
}

/** A key named by its character's code, as terminals do that tell Shift-Enter from Enter. */
function fromCode(code: number, modifiers: number): Key | undefined {
  if (code < 0x20 || code === 0x7f) return code === 0 ? undefined : modified(controlName(code), modifiers)
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) || (code >= 0xe000 && code <= 0xf8ff)) return undefined
  const character = String.fromCodePoint(code)
  return (modifiers - 1) & 6
    ? modified(character.toLowerCase(), modifiers)
    : { id: "text", text: (modifiers - 1) & 1 ? character.toUpperCase() : character }
}

function modified(name: string | undefined, modifiers: number): Key | undefined {
  if (name === undefined) return undefined
  const bits = Math.max(0, modifiers - 1)
  return named(`${bits & 4 ? "ctrl-" : ""}${bits & 2 ? "alt-" : ""}${bits & 1 ? "shift-" : ""}${name}`)
}

function controlName(code: number): string {
  if (code === 13) return "enter"
  if (code === 9) return "tab"
  if (code === 27) return "escape"
  if (code === 127 || code === 8) return "backspace"
  if (code === 0) return "ctrl-space"
  return code <= 26 ? `ctrl-${String.fromCharCode(code + 96)}` : `ctrl-${String.fromCharCode(code + 64)}`
}

function named(id: string): Key {
  return { id, text: "" }
}
