/** A line plot as SVG: labelled axes, log or linear, a legend, light background. No library. */

const colours = [
  "#0b6e4f",
  "#1f77b4",
  "#d1495b",
  "#e08e0b",
  "#6a4c93",
  "#7f7f7f",
  "#17a2b8",
  "#8c564b",
  "#bc5090",
  "#3d405b",
]
const frame = { width: 900, height: 520, left: 78, right: 290, top: 56, bottom: 62 }
const escapeText = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/**
 * @param {{title: string, note?: string, x: {label: string, log?: boolean}, y: {label: string, log?: boolean},
 *          series: {name: string, points: [number, number][], dash?: boolean, bold?: boolean}[]}} plot
 */
export function linePlot(plot) {
  const points = plot.series.flatMap((series) => series.points)
  const scaleX = scale(
    points.map(([x]) => x),
    plot.x.log,
    frame.left,
    frame.width - frame.right,
  )
  const scaleY = scale(
    points.map(([, y]) => y),
    plot.y.log,
    frame.height - frame.bottom,
    frame.top,
  )
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${frame.width} ${frame.height}" font-family="Helvetica, Arial, sans-serif" font-size="13">`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    `<text x="${frame.left}" y="24" font-size="17" font-weight="bold" fill="#222">${escapeText(plot.title)}</text>`,
    `<text x="${frame.left}" y="43" fill="#666">${escapeText(plot.note ?? "")}</text>`,
    ...axes(scaleX, scaleY, plot),
  ]
  plot.series.forEach((series, i) => {
    const colour = colours[i % colours.length]
    const path = series.points
      .map(([x, y], n) => `${n === 0 ? "M" : "L"}${scaleX.at(x).toFixed(1)} ${scaleY.at(y).toFixed(1)}`)
      .join("")
    const stroke = `stroke="${colour}" stroke-width="${series.bold ? 3 : 1.7}"${series.dash ? ' stroke-dasharray="6 4"' : ""}`
    parts.push(`<path d="${path}" fill="none" ${stroke}/>`)
    if (series.points.length <= 20) {
      for (const [x, y] of series.points) {
        parts.push(`<circle cx="${scaleX.at(x).toFixed(1)}" cy="${scaleY.at(y).toFixed(1)}" r="3.5" fill="${colour}"/>`)
      }
    }
    const row = frame.top + 10 + i * 22
    const column = frame.width - frame.right + 18
    parts.push(`<line x1="${column}" x2="${column + 26}" y1="${row}" y2="${row}" ${stroke}/>`)
    parts.push(`<text x="${column + 34}" y="${row + 4}" fill="#222">${escapeText(series.name)}</text>`)
  })
  parts.push("</svg>")
  return `${parts.join("\n")}\n`
}

function axes(scaleX, scaleY, plot) {
  const right = frame.width - frame.right
  const bottom = frame.height - frame.bottom
  const parts = []
  for (const tick of scaleY.ticks) {
    const y = scaleY.at(tick).toFixed(1)
    parts.push(`<line x1="${frame.left}" x2="${right}" y1="${y}" y2="${y}" stroke="#e4e4e4"/>`)
    parts.push(`<text x="${frame.left - 8}" y="${Number(y) + 4}" text-anchor="end" fill="#444">${label(tick)}</text>`)
  }
  for (const tick of scaleX.ticks) {
    const x = scaleX.at(tick).toFixed(1)
    parts.push(`<line x1="${x}" x2="${x}" y1="${frame.top}" y2="${bottom}" stroke="#f0f0f0"/>`)
    parts.push(`<text x="${x}" y="${bottom + 18}" text-anchor="middle" fill="#444">${label(tick)}</text>`)
  }
  const middle = (frame.top + bottom) / 2
  parts.push(
    `<path d="M${frame.left} ${frame.top}V${bottom}H${right}" fill="none" stroke="#888"/>`,
    `<text x="${(frame.left + right) / 2}" y="${frame.height - 16}" text-anchor="middle" fill="#222">${escapeText(plot.x.label)}</text>`,
    `<text transform="translate(20 ${middle}) rotate(-90)" text-anchor="middle" fill="#222">${escapeText(plot.y.label)}</text>`,
  )
  return parts
}

function label(value) {
  if (value >= 1e6) return `${value / 1e6}M`
  if (value >= 1000) return `${value / 1000}k`
  return String(Number(value.toPrecision(3)))
}

/** Maps values to pixels and chooses the ticks. */
function scale(values, log, from, to) {
  const low = Math.min(...values)
  const high = Math.max(...values)
  if (log) {
    const start = Math.log10(low) - 0.05
    const end = Math.log10(high) + 0.05
    const at = (value) => from + ((Math.log10(value) - start) / (end - start)) * (to - from)
    const ticks = []
    for (let power = Math.floor(start); power <= Math.ceil(end); power++) {
      for (const digit of end - start > 3 ? [1] : [1, 2, 5]) {
        const tick = digit * 10 ** power
        if (Math.log10(tick) >= start && Math.log10(tick) <= end) ticks.push(tick)
      }
    }
    return { at, ticks }
  }
  const step = 10 ** Math.floor(Math.log10(high || 1)) / 2
  const end = Math.ceil(high / step) * step
  const ticks = []
  for (let tick = 0; tick <= end; tick += step) ticks.push(tick)
  return { at: (value) => from + (value / end) * (to - from), ticks }
}
