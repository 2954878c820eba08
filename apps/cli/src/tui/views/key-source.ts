/** Keys from the terminal to whoever listens: what lies on top is asked first; what it does not take goes further down. */
import { createContext, useContext, useLayoutEffect, useRef } from "react"
import { createKeyDecoder, type Key } from "../input/keys.js"

/** Who is asked first: what lies over the rest, then the prompt, then the screen as a whole. */
export type KeyLevel = "overlay" | "prompt" | "screen"

const levels: readonly KeyLevel[] = ["overlay", "prompt", "screen"]

/** Returns whether the key was taken. */
export type KeyListener = (key: Key) => boolean

export interface KeySource {
  listen(level: KeyLevel, listener: KeyListener): () => void
  close(): void
}

/** The parts of standard input that are used. */
export interface KeyInput {
  on(event: "data", listener: (chunk: string | Buffer) => void): unknown
  off(event: "data", listener: (chunk: string | Buffer) => void): unknown
}

/** So long after an Escape nothing more belongs to it. */
const escapeWait = 40

export function openKeySource(input: KeyInput): KeySource {
  const decoder = createKeyDecoder()
  const listeners = new Map<KeyListener, KeyLevel>()
  let timer: NodeJS.Timeout | undefined
  const ask = (key: Key): boolean => {
    const asked = levels.flatMap((level) => [...listeners].filter(([, own]) => own === level))
    return asked.some(([listener]) => listener(key))
  }
  const hand = (keys: readonly Key[]) => {
    for (const key of keys) {
      if (!ask(key) && key.id.startsWith("alt-")) for (const half of splitAlt(key)) ask(half)
    }
  }
  const onData = (chunk: string | Buffer) => {
    clearTimeout(timer)
    hand(decoder.push(String(chunk)))
    if (decoder.isWaiting) timer = setTimeout(() => hand(decoder.flush()), escapeWait)
  }
  input.on("data", onData)
  return {
    listen(level, listener) {
      listeners.set(listener, level)
      return () => {
        listeners.delete(listener)
      }
    },
    close() {
      clearTimeout(timer)
      input.off("data", onData)
    },
  }
}

/** A terminal sends Alt with a key as Escape and the key: what means nothing with Alt was two keys. */
function splitAlt({ id }: Key): Key[] {
  const name = id.slice("alt-".length)
  const second = [...name].length === 1 ? { id: "text", text: name } : { id: name, text: "" }
  return [{ id: "escape", text: "" }, second]
}

export const KeyContext = createContext<KeySource>({ listen: () => () => {}, close: () => {} })

/** Listens while it is shown; always with the newest listener. */
export function useKeys(level: KeyLevel, listener: KeyListener): void {
  const source = useContext(KeyContext)
  const newest = useRef(listener)
  newest.current = listener
  useLayoutEffect(() => source.listen(level, (key) => newest.current(key)), [source, level])
}
