/** The end of the conversation, while it still changes. Only the block of an answer that is still open is drawn again. */
import { memo, type ReactElement, useRef } from "react"
import type { Styles } from "../../output/text.js"
import { createMarkdownStream, type MarkdownStream } from "../render/markdown.js"
import type { AssistantItem, ChatItem } from "../state/chat-item.js"
import { hang, lastLines, renderItem, textColumns } from "./item-lines.js"
import { Lines } from "./lines.js"
import { useLook } from "./look.js"
import { continueFence, needsSpace } from "./print-settled.js"

export interface LiveItemsProps {
  readonly items: readonly ChatItem[]
  /** What was printed last, and the code block it was cut in. */
  readonly before: ChatItem | undefined
  readonly openFence: string
  /** Lines it may take. */
  readonly height: number
}

export const LiveItems = memo(function LiveItems(props: LiveItemsProps): ReactElement | null {
  const { columns, styles } = useLook()
  const streaming = useRef<StreamedLines | undefined>(undefined)
  if (props.items.length === 0) return null
  const lines: string[] = []
  let before = props.before
  for (const item of props.items) {
    if (needsSpace(before, item)) lines.push("")
    const whole = continueFence(item, props.openFence)
    if (whole.kind === "assistant" && whole.isStreaming) {
      streaming.current = follow(streaming.current, whole, columns, styles)
      lines.push(...hang([...streaming.current.lines, ...streaming.current.stream.tail()], "  "))
    } else lines.push(...renderItem(whole, columns, styles))
    before = item
  }
  return <Lines lines={lastLines(lines, props.height, styles)} />
})

interface StreamedLines {
  readonly id: number
  readonly columns: number
  readonly text: string
  readonly stream: MarkdownStream
  readonly lines: readonly string[]
}

/** Feeds what was added since; begins anew for another answer, another width, or a text that did not just grow. */
function follow(
  last: StreamedLines | undefined,
  { id, text }: AssistantItem,
  columns: number,
  styles: Styles,
): StreamedLines {
  if (last?.id === id && last.columns === columns && text.startsWith(last.text)) {
    const added = last.stream.push(text.slice(last.text.length))
    return { ...last, text, lines: added.length === 0 ? last.lines : [...last.lines, ...added] }
  }
  const stream = createMarkdownStream({ width: textColumns(columns), isColoured: styles.isOn })
  return { id, columns, text, stream, lines: stream.push(text) }
}
