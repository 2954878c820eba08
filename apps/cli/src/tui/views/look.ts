/** What every view is drawn for: how much room there is, whether there are colours, and what time it is. */
import { createContext, useContext } from "react"
import { createStyles, type Styles } from "../../output/text.js"

export interface Look {
  readonly columns: number
  readonly rows: number
  readonly styles: Styles
  readonly now: () => number
}

export const LookContext = createContext<Look>({ columns: 80, rows: 24, styles: createStyles(false), now: () => 0 })

export function useLook(): Look {
  return useContext(LookContext)
}
