/**
 * A list of any length of which only what is seen is in the page. Arrow keys, Home, End and the page keys move the focus;
 * one row at a time can be reached with Tab.
 */
import { useVirtualizer } from "@tanstack/react-virtual"
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react"

/** What a row gives to the link or button in it. */
export interface RowFocus {
  readonly tabIndex: 0 | -1
  readonly "data-row": number
}

export interface VirtualListProps<Item> {
  readonly label: string
  readonly items: readonly Item[]
  readonly keyOf: (item: Item, index: number) => string
  readonly estimate: (item: Item) => number
  readonly render: (item: Item, index: number, focus: RowFocus) => ReactNode
  /** Rows that have no link or button: headings. */
  readonly canFocus?: (item: Item) => boolean
  /** Rows are as high as what is in them. */
  readonly isMeasured?: boolean
  /** The row that is chosen: Tab goes there first. */
  readonly current?: number
  /** Scrolls to the end when it opens, and follows it while one is there. */
  readonly followsEnd?: boolean
  readonly onRange?: (first: number, last: number) => void
  readonly className?: string
}

export function VirtualList<Item>(props: VirtualListProps<Item>) {
  const { items, keyOf, estimate, render, canFocus = () => true, current = -1, onRange } = props
  const scroller = useRef<HTMLDivElement>(null)
  const [focused, setFocused] = useState(-1)
  const wanted = useRef<number | null>(null)
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => estimate(items[index] as Item),
    getItemKey: (index) => keyOf(items[index] as Item, index),
    overscan: 6,
  })
  const rows = virtualizer.getVirtualItems()
  const first = rows[0]?.index ?? 0
  const last = rows.at(-1)?.index ?? -1
  const entry = items.findIndex((item) => canFocus(item))
  const reachable = focused >= 0 && focused < items.length ? focused : current >= 0 ? current : entry

  useEffect(() => onRange?.(first, last), [first, last, onRange])
  useFollowEnd(scroller, items.length, props.followsEnd === true, (index) => virtualizer.scrollToIndex(index))
  useEffect(() => {
    if (wanted.current === null) return
    const row = scroller.current?.querySelector<HTMLElement>(`[data-row="${wanted.current}"]`)
    if (!row) return
    wanted.current = null
    row.focus({ preventScroll: true })
  })

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return
    const at = Number((event.target as HTMLElement).dataset["row"] ?? Number.NaN)
    if (Number.isNaN(at)) return
    const next = nextRow(event.key, at, items, canFocus)
    if (next === null) return
    event.preventDefault()
    wanted.current = next
    setFocused(next)
    virtualizer.scrollToIndex(next)
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the rows in it have the focus; it hears their keys
    <div
      className={`scroller ${props.className ?? ""}`}
      ref={scroller}
      onKeyDown={onKeyDown}
      onFocus={(event) => {
        const at = Number((event.target as HTMLElement).dataset["row"] ?? Number.NaN)
        if (!Number.isNaN(at)) setFocused(at)
      }}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: its rows are placed by hand */}
      <div className="virtual" role="list" aria-label={props.label} style={{ height: virtualizer.getTotalSize() }}>
        {rows.map((row) => (
          // biome-ignore lint/a11y/useSemanticElements: its rows are placed by hand
          <div
            key={row.key}
            role="listitem"
            aria-setsize={items.length}
            aria-posinset={row.index + 1}
            className="virtual-row"
            data-index={row.index}
            ref={props.isMeasured ? virtualizer.measureElement : undefined}
            style={{ transform: `translateY(${row.start}px)`, ...(props.isMeasured ? {} : { height: row.size }) }}
          >
            {render(items[row.index] as Item, row.index, {
              tabIndex: row.index === reachable ? 0 : -1,
              "data-row": row.index,
            })}
          </div>
        ))}
      </div>
    </div>
  )
}

function nextRow<Item>(key: string, at: number, items: readonly Item[], canFocus: (item: Item) => boolean) {
  const moves: Record<string, [start: number, step: number]> = {
    ArrowDown: [at + 1, 1],
    j: [at + 1, 1],
    ArrowUp: [at - 1, -1],
    k: [at - 1, -1],
    PageDown: [Math.min(at + 10, items.length - 1), -1],
    PageUp: [Math.max(at - 10, 0), 1],
    Home: [0, 1],
    End: [items.length - 1, -1],
  }
  const move = moves[key]
  if (move === undefined) return null
  for (let index = move[0]; index >= 0 && index < items.length; index += move[1]) {
    if (canFocus(items[index] as Item)) return index
  }
  return null
}

function useFollowEnd(
  scroller: { readonly current: HTMLElement | null },
  count: number,
  isOn: boolean,
  scrollTo: (index: number) => void,
) {
  const isAtEnd = useRef(true)
  const scroll = useRef(scrollTo)
  scroll.current = scrollTo
  useEffect(() => {
    const element = scroller.current
    if (!isOn || element === null) return
    const look = () => {
      isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 80
    }
    element.addEventListener("scroll", look, { passive: true })
    return () => element.removeEventListener("scroll", look)
  }, [isOn, scroller])
  useEffect(() => {
    if (isOn && count > 0 && isAtEnd.current) scroll.current(count - 1)
  }, [isOn, count])
}
