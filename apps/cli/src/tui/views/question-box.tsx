/** A question in place of the prompt: its keys answer, Escape takes the safe answer, up and down scroll what it is about. */
import type { ReactElement } from "react"
import type { ChatController } from "../chat-controller.js"
import type { Question } from "../state/chat-state.js"
import { useKeys } from "./key-source.js"
import { Lines } from "./lines.js"
import { useLook } from "./look.js"
import { renderQuestion } from "./question-lines.js"
import { scrollBy } from "./scroll.js"
import { useLatest } from "./use-latest.js"

export interface QuestionBoxProps {
  readonly question: Question
  readonly controller: ChatController
  readonly height: number
}

export function QuestionBox({ question, controller, height }: QuestionBoxProps): ReactElement {
  const { columns, styles } = useLook()
  const [scroll, setScroll] = useLatest(0)
  const { lines, furthest } = renderQuestion(question, { columns, height: height - 1, scroll: scroll() }, styles)
  useKeys("overlay", (key) => {
    const next = scrollBy(key, Math.min(scroll(), furthest), furthest, Math.max(1, height - 6))
    if (next !== undefined) setScroll(next)
    else if (key.id === "escape") controller.answer(question.fallback)
    else if (key.id === "text") {
      // what is written too fast must not answer the next question
      const choice = question.choices.find((one) => one.key === key.text.toLowerCase())
      if (choice !== undefined) controller.answer(choice.key)
    } else if (key.id === "enter") {
      const choice = question.choices.find((one) => one.key === "enter" || one.key === "")
      if (choice !== undefined) controller.answer(choice.key)
    } else return false
    return true
  })
  return <Lines lines={["", ...lines]} />
}
