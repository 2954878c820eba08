/** Mounts the page. */
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { App } from "./app.js"
import "./styles/tokens.css"
import "./styles/base.css"
import "./styles/parts.css"
import "./styles/shell.css"
import "./styles/dialog.css"
import "./styles/lists.css"
import "./styles/graph.css"
import "./styles/messages.css"
import "./styles/replay.css"
import "./styles/diff.css"
import { applyTheme, readTheme } from "./theme.js"
import { takeCode } from "./token.js"

applyTheme(readTheme())
const code = takeCode()
const root = document.getElementById("root") as HTMLElement
createRoot(root).render(
  <StrictMode>
    <App code={code} />
  </StrictMode>,
)
