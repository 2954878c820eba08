/** Shown when the server does not take the token: how to get in. */
import { toKeepupError } from "@ku0/agent-runtime-core"
import { type FormEvent, useState } from "react"
import { api } from "../client.js"
import { forgetToken, keepToken } from "../token.js"

export function TokenPage({ why, onToken }: { readonly why: string | null; readonly onToken: () => void }) {
  const [text, setText] = useState("")
  const [problem, setProblem] = useState(why)
  const [isAsking, setAsking] = useState(false)
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault()
    setAsking(true)
    keepToken(text.trim())
    try {
      await api.health()
      onToken()
    } catch (error) {
      forgetToken()
      const { code, message } = toKeepupError(error)
      setProblem(code === "UNAUTHORIZED" ? "This is not the token of this server." : message)
    } finally {
      setAsking(false)
    }
  }
  return (
    <main className="door" id="main">
      <h1>keepup</h1>
      <p>
        This page shows files and conversations, so it asks who you are. Open the address that{" "}
        <code>keepup serve --open</code> prints, or paste the token: it lies in the file <code>token</code> of the state
        directory.
      </p>
      <form onSubmit={onSubmit}>
        <label htmlFor="token">Token</label>
        <div className="field-row">
          <input
            id="token"
            type="password"
            autoComplete="off"
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.target.value)}
            aria-describedby="token-problem"
            aria-invalid={problem !== null}
          />
          <button type="submit" className="button button-primary" disabled={text.trim() === "" || isAsking}>
            Open
          </button>
        </div>
        <p id="token-problem" role="alert" className="problem-line">
          {problem}
        </p>
      </form>
    </main>
  )
}
