/** Numbered lines of text, of which only what is seen is in the page. */
import { useVirtualizer } from "@tanstack/react-virtual"
import { useRef } from "react"
import { visibleText } from "../visible-text.js"

const longestLine = 5_000

export function LineList({ label, lines }: { readonly label: string; readonly lines: readonly string[] }) {
  const scroller = useRef<HTMLElement>(null)
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 20,
    overscan: 20,
  })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
    <section className="scroller lines" ref={scroller} tabIndex={0} aria-label={label}>
      <div className="virtual" style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map((row) => (
          <div
            key={row.key}
            className="virtual-row line"
            data-index={row.index}
            ref={virtualizer.measureElement}
            style={{ transform: `translateY(${row.start}px)` }}
          >
            <span className="line-number">{row.index + 1}</span>
            <span className="line-text">{visibleText(cutLine(lines[row.index] as string))}</span>
          </div>
        ))}
      </div>
    </section>
  )
}

function cutLine(line: string): string {
  return line.length > longestLine
    ? `${line.slice(0, longestLine)} … ${line.length - longestLine} more characters`
    : line
}
