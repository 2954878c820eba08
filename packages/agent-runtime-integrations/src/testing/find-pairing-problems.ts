/** The rule all services share: calls are directly followed by their results, each exactly once, and no id comes twice. */

export type Step =
  | { readonly kind: "calls"; readonly ids: readonly string[] }
  | { readonly kind: "results"; readonly ids: readonly string[] }
  | { readonly kind: "other" }

export function findPairingProblems(steps: readonly Step[]): string[] {
  const problems: string[] = []
  const seen = new Set<string>()
  steps.forEach((step, position) => {
    const before = steps[position - 1]
    const after = steps[position + 1]
    if (step.kind === "calls") {
      for (const id of step.ids) {
        if (seen.has(id)) problems.push(`call id ${id} comes twice`)
        if (!/^[A-Za-z0-9_-]{1,64}$/.test(id)) problems.push(`call id ${JSON.stringify(id)} can't be used`)
        seen.add(id)
      }
      const answered = after?.kind === "results" ? [...after.ids].sort() : []
      if (answered.join() !== [...step.ids].sort().join())
        problems.push(`${step.ids} is followed by results ${answered}`)
    }
    if (step.kind === "results" && before?.kind !== "calls") problems.push(`results ${step.ids} follow no call`)
  })
  return problems
}

/** Texts that services refuse or models trip over. */
export function findTextProblem(text: unknown, where: string): string[] {
  if (typeof text !== "string") return [`${where} is no text`]
  if (text.trim() === "") return [`${where} is empty`]
  return /\p{Surrogate}/u.test(text) ? [`${where} holds half a character`] : []
}
