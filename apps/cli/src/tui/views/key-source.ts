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
  const hand = (keys: readonly Key[]) => {
    for (const key of keys) {
      const asked = levels.flatMap((level) => [...listeners].filter(([, own]) => own === level))
      for (const [listener] of asked) if (listener(key)) break
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

export const KeyContext = createContext<KeySource>({ listen: () => () => {}, close: () => {} })

/** Listens while it is shown; always with the newest listener. */
export function useKeys(level: KeyLevel, listener: KeyListener): void {
  const source = useContext(KeyContext)
  const newest = useRef(listener)
  newest.current = listener
  useLayoutEffect(() => source.listen(level, (key) => newest.current(key)), [source, level])
}
