/** The content of a file or an artifact: text line by line, an image as a picture, anything else to be saved. */
import { useEffect, useMemo, useState } from "react"
import type { Bytes } from "../client.js"
import { formatBytes, plural } from "../format.js"
import { useLoad } from "../use-load.js"
import { visibleName, visibleText } from "../visible-text.js"
import { Loading, Problem } from "./basics.js"
import { LineList } from "./line-list.js"

interface BytesViewProps {
  readonly id: string
  readonly name: string
  readonly load: (signal: AbortSignal) => Promise<Bytes>
}

/** More than this is offered to be saved, not shown. */
const mostShown = 8_000_000

interface Content {
  readonly bytes: Bytes
  readonly text: string | null
}

export function BytesView({ id, name, load }: BytesViewProps) {
  const { data, error } = useLoad<Content>(id, async (signal) => {
    const bytes = await load(signal)
    const isText = bytes.mediaType.startsWith("text/") || bytes.mediaType.startsWith("application/json")
    return { bytes, text: isText && bytes.blob.size <= mostShown ? await bytes.blob.text() : null }
  })
  if (error) return <Problem error={error} />
  if (data === undefined) return <Loading what={visibleName(name)} />
  const { bytes, text } = data
  if (text !== null) return <TextView name={name} text={text} isLink={bytes.kind === "link"} bytes={bytes} />
  return <OtherView name={name} bytes={bytes} />
}

function TextView({ name, text, isLink, bytes }: { name: string; text: string; isLink: boolean; bytes: Bytes }) {
  const lines = useMemo(() => (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n"), [text])
  if (text === "") return <p className="muted">The file is empty.</p>
  if (isLink) {
    return (
      <p>
        A link to <code>{visibleText(text)}</code>
      </p>
    )
  }
  return (
    <>
      <p className="muted file-facts">
        {plural(lines.length, "line")} · {formatBytes(bytes.blob.size)} <SaveLink name={name} blob={bytes.blob} />
      </p>
      <LineList label={`Content of ${visibleName(name)}`} lines={lines} />
    </>
  )
}

function OtherView({ name, bytes }: { readonly name: string; readonly bytes: Bytes }) {
  const isImage = bytes.mediaType.startsWith("image/")
  return (
    <div className="other-file">
      {isImage ? <Picture name={name} blob={bytes.blob} /> : <p>This file is not text.</p>}
      <p className="muted">
        {visibleName(bytes.mediaType)} · {formatBytes(bytes.blob.size)} <SaveLink name={name} blob={bytes.blob} />
      </p>
    </div>
  )
}

function Picture({ name, blob }: { readonly name: string; readonly blob: Blob }) {
  const address = useObjectUrl(blob)
  return address === null ? null : <img src={address} alt={visibleName(name)} className="picture" />
}

function SaveLink({ name, blob }: { readonly name: string; readonly blob: Blob }) {
  const address = useObjectUrl(blob)
  if (address === null) return null
  return (
    <a href={address} download={visibleName(name.split("/").at(-1) ?? name)}>
      Save
    </a>
  )
}

function useObjectUrl(blob: Blob): string | null {
  const [address, setAddress] = useState<string | null>(null)
  useEffect(() => {
    const made = URL.createObjectURL(blob)
    setAddress(made)
    return () => URL.revokeObjectURL(made)
  }, [blob])
  return address
}
