/** The title of the window says where one is. */
import { useEffect } from "react"
import { visibleName } from "./visible-text.js"

export function useTitle(words: string): void {
  useEffect(() => {
    document.title = `${visibleName(words)} · keepup`
  }, [words])
}
