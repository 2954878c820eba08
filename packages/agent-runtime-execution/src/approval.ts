/** Which tool calls may run: `ask`, `auto` or `deny`, with rules for a tool and for paths. Pure but for the asking. */
import { compileGlob } from "./glob.js"

export const approvalModes = ["ask", "auto", "deny"] as const

export type ApprovalMode = (typeof approvalModes)[number]

export interface ApprovalRule {
  /** A tool's name, or `*`. */
  readonly tool: string
  /** A glob of paths in the workspace; without one the rule is about every call of the tool. */
  readonly path?: string
  readonly decision: ApprovalMode
}

export interface ApprovalRequest {
  readonly callId: string
  readonly name: string
  readonly arguments: unknown
  readonly hasEffects: boolean
  /** Where it would act, relative to the workspace. */
  readonly targets: readonly string[]
}

export interface ApprovalAnswer {
  readonly isAllowed: boolean
  /** What the model is told when it is not. */
  readonly reason?: string
}

export interface ApprovalOptions {
  /** For calls no rule is about. Tools without effects are only ever held up by a rule. */
  readonly mode: ApprovalMode
  /** The first one that fits a target decides about it; of several targets the strictest decision counts. */
  readonly rules?: readonly ApprovalRule[]
  /** Asks a person. Without it, what would have to be asked is refused. May throw: then the run fails. */
  readonly ask?: (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>
}

export interface Approval {
  /** What is to be done with a call, without asking anyone. */
  decide(request: ApprovalRequest): ApprovalMode
  /** The answer about a call that has to be asked for. */
  ask(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>
  /** Whether a tool that looks at many files may show this one. */
  isVisible(tool: string, path: string): boolean
}

const strictness: Readonly<Record<ApprovalMode, number>> = { auto: 0, ask: 1, deny: 2 }

export function createApproval(options: ApprovalOptions): Approval {
  const rules = (options.rules ?? []).map((rule) => ({
    ...rule,
    fitsPath: rule.path === undefined ? undefined : compileGlob(rule.path),
  }))

  function decideOne(name: string, target: string | undefined, fallback: ApprovalMode): ApprovalMode {
    const rule = rules.find(
      (one) =>
        (one.tool === "*" || one.tool === name) &&
        (one.fitsPath === undefined || (target !== undefined && one.fitsPath(target))),
    )
    return rule?.decision ?? fallback
  }

  return {
    decide({ name, hasEffects, targets }) {
      const fallback = hasEffects ? options.mode : "auto"
      const places = targets.length === 0 ? [undefined] : targets
      const decisions = places.map((target) => decideOne(name, target, fallback))
      return decisions.reduce((worst, one) => (strictness[one] > strictness[worst] ? one : worst), "auto")
    },
    async ask(request, signal) {
      if (options.ask !== undefined) return await options.ask(request, signal)
      return { isAllowed: false, reason: "it needs approval and nobody is there to give it" }
    },
    isVisible: (tool, path) => decideOne(tool, path, "auto") === "auto",
  }
}
