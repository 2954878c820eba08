/** The icons, drawn on a 16 × 16 grid with one line width. They say nothing by themselves: what they stand for has a name beside it. */

const paths = {
  back: "M10 3 5 8l5 5",
  branch: "M5 4.5v7M5 9c0-3 6-1.5 6-4.5M5 3.2a1.3 1.3 0 1 0 0 .1M11 3.2a1.3 1.3 0 1 0 0 .1M5 12.8a1.3 1.3 0 1 0 0 .1",
  check: "m3 8.5 3.2 3.2L13 5",
  chevron: "m6 4 4 4-4 4",
  close: "m4 4 8 8M12 4l-8 8",
  columns: "M2.5 3h11v10h-11zM8 3v10",
  compare: "M5 3v10m0 0-2.5-2.5M5 13l2.5-2.5M11 13V3m0 0L8.5 5.5M11 3l2.5 2.5",
  delete: "M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5M6.8 7v3.5M9.2 7v3.5",
  edit: "M3 13l.7-3L10.5 3.2l2.3 2.3L6 12.3zM9 4.7 11.3 7",
  eye: "M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8ZM8 6.3a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4",
  file: "M4 2h5l3 3v9H4zM9 2v3h3",
  folder: "M2 4h4l1.5 1.8H14V13H2z",
  guard: "M4 7.5h8V13H4zM5.5 7.5V5.3a2.5 2.5 0 0 1 5 0v2.2",
  link: "M6.5 9.5l3-3M7 4.8l1-1a2.6 2.6 0 0 1 3.7 3.7l-1 1M9 11.2l-1 1a2.6 2.6 0 0 1-3.7-3.7l1-1",
  message: "M2.5 3h11v8H7l-3 2.5V11H2.5z",
  moon: "M13 9.5A5.5 5.5 0 1 1 6.5 3a4.5 4.5 0 0 0 6.5 6.5Z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  pin: "M6 2.5h4l-.5 4 2 2.5h-7l2-2.5zM8 9v4.5",
  play: "M5 3.5v9l7-4.5z",
  plus: "M8 3v10M3 8h10",
  restore: "M3 3.5v3.7h3.7M3.3 7A5 5 0 1 1 3.5 10",
  rows: "M2.5 3h11v10h-11zM2.5 6.5h11M2.5 9.8h11",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.3 10.3l3.2 3.2",
  stepBack: "M11 3.5v9L5.5 8zM4 3.5v9",
  stepForward: "M5 3.5v9L10.5 8zM12 3.5v9",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6ZM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9",
  system: "M2 3h12v8H2zM6 13.5h4M8 11v2.5",
  tool: "M9.8 3.2a3 3 0 0 0-3.7 3.9L2.5 10.7l2.8 2.8 3.6-3.6a3 3 0 0 0 3.9-3.7L10.9 8 9 7.8 8.3 5z",
  undo: "M6 4 3 7l3 3M3 7h6.5a3.5 3.5 0 0 1 0 7H6",
  warning: "M8 2.5 14.5 13.5h-13zM8 6.5v3.5M8 11.9v.1",
} as const

export type IconName = keyof typeof paths

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg className="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  )
}
