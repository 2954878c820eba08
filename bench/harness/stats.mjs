/** Plain statistics over lists of numbers: medians and minima, because the machine is noisy and means lie. */

export function quantile(values, q) {
  if (values.length === 0) return Number.NaN
  const sorted = [...values].sort((a, b) => a - b)
  const at = (sorted.length - 1) * q
  const low = Math.floor(at)
  const high = Math.ceil(at)
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low)
}

export const median = (values) => quantile(values, 0.5)
export const min = (values) => values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY)

/** Least-squares line through (index, value): the slope, and what it adds over the whole run against the median. */
export function line(values) {
  const n = values.length
  const middle = (n - 1) / 2
  const mean = values.reduce((sum, value) => sum + value, 0) / n
  let above = 0
  let below = 0
  for (let i = 0; i < n; i++) {
    above += (i - middle) * (values[i] - mean)
    below += (i - middle) ** 2
  }
  const slope = below === 0 ? 0 : above / below
  return { slope, rise: (slope * (n - 1)) / median(values) }
}

/** How a cost grows over N: the median of the first and the last part, their ratio, and the fitted line. */
export function growth(values, part = Math.max(1, Math.floor(values.length / 10))) {
  const first = median(values.slice(0, part))
  const last = median(values.slice(-part))
  // The line is fitted to medians of small groups, so that a few outliers do not tilt it.
  const groups = []
  const size = Math.max(1, Math.floor(values.length / 50))
  for (let i = 0; i + size <= values.length; i += size) groups.push(median(values.slice(i, i + size)))
  const fitted = line(groups)
  return { first, last, ratio: last / first, slopePerStep: fitted.slope / size, rise: fitted.rise }
}

/** The quiet time is what something takes when nobody else has the processor or the disk: its lower tenth. */
export const quiet = (values) => quantile(values, 0.1)

export function summarise(values) {
  return {
    n: values.length,
    median: median(values),
    min: min(values),
    quiet: quiet(values),
    p90: quantile(values, 0.9),
  }
}
