/**
 * Where one writes. Its state is its own: a key draws these few lines again and nothing of the conversation. It stays
 * when something else takes its place for a while, so that nothing written is lost.
 */
import { type ReactElement, useEffect, useReducer, useRef } from "react"
import type { ChatController } from "../chat-controller.js"
import { useKeys } from "../views/key-source.js"
import { Lines } from "../views/lines.js"
import { useLook } from "../views/look.js"
import { type Editor, emptyEditor, fullText } from "./editor.js"
import { promptColumns, renderList, renderPrompt } from "./prompt-lines.js"
import { createPromptState, fillPrompt, offerCompletions, type PromptState, pressInPrompt } from "./prompt-state.js"

export interface PromptProps {
  readonly controller: ChatController
  readonly handedBack: { readonly serial: number; readonly text: string }
  /** Rows for the text and the list together. */
  readonly height: number
  /** Something else has its place and the keys. */
  readonly isHidden: boolean
}

export function Prompt({ controller, handedBack, height, isHidden }: PromptProps): ReactElement | null {
  const { columns, styles } = useLook()
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const state = useRef<PromptState | undefined>(undefined)
  state.current ??= createPromptState([...controller.listInputHistory()].reverse())
  const serial = useRef(0)
  if (handedBack.serial !== serial.current) {
    serial.current = handedBack.serial
    if (handedBack.text !== "") state.current = fillPrompt(state.current, handedBack.text)
  }
  const isShown = useRef(true)
  useEffect(
    () => () => {
      isShown.current = false
    },
    [],
  )

  const change = (next: PromptState) => {
    const before = state.current as PromptState
    state.current = next
    if (next.editor.text !== before.editor.text) controller.keepDraft(fullText(next.editor))
    if (next !== before) redraw()
  }

  const ask = (editor: Editor) => {
    void controller.complete(editor.text, editor.cursor).then((offered) => {
      if (isShown.current) change(offerCompletions(state.current as PromptState, offered, editor))
    })
  }

  useKeys("prompt", (key) => {
    if (isHidden) return false
    const now = state.current as PromptState
    // while the agent works it is meant for the agent
    const isWorking = ["running", "stopping"].includes(controller.getState().phase)
    if (key.id === "ctrl-c" && now.editor.text !== "" && !isWorking) {
      change({ ...now, editor: { ...emptyEditor, killed: now.editor.text, folds: now.editor.folds }, list: undefined })
      return true
    }
    if (key.text === "?" && now.editor.text === "") {
      controller.openHelp()
      return true
    }
    const step = pressInPrompt(now, key, promptColumns(columns))
    change(step.state)
    if (step.sent !== undefined) controller.send(step.sent)
    if (step.isAsking) ask(step.state.editor)
    return step.isForeign !== true
  })

  if (isHidden) return null
  const { editor, list } = state.current
  const lines = renderPrompt(editor, { columns, height: Math.max(1, list === undefined ? height : height - 4) }, styles)
  const left = Math.max(1, height - lines.length)
  const options = list === undefined ? [] : renderList(list, { columns, height: left }, styles)
  return <Lines lines={[...lines, ...options]} />
}
