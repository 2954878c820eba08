/** Tells a PNG, JPEG or WebP by its bytes, never by its name, and reads its size from the header. */

export interface ImageFacts {
  readonly mediaType: "image/png" | "image/jpeg" | "image/webp"
  readonly width: number
  readonly height: number
}

/** `undefined` if the bytes are no such image or end before its size is told. Nothing is decoded. */
export function recognizeImage(bytes: Uint8Array): ImageFacts | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const facts = readPng(view) ?? readJpeg(view) ?? readWebp(view)
  return facts !== undefined && facts.width > 0 && facts.height > 0 ? facts : undefined
}

function readPng(view: DataView): ImageFacts | undefined {
  if (view.byteLength < 33 || view.getUint32(0) !== 0x89504e47 || view.getUint32(4) !== 0x0d0a1a0a) return undefined
  if (view.getUint32(8) !== 13 || !hasText(view, 12, "IHDR")) return undefined
  return { mediaType: "image/png", width: view.getUint32(16), height: view.getUint32(20) }
}

/** Walks the segments to the one that starts a frame. */
function readJpeg(view: DataView): ImageFacts | undefined {
  if (view.byteLength < 4 || view.getUint16(0) !== 0xffd8) return undefined
  for (let at = 2; at + 4 <= view.byteLength; ) {
    if (view.getUint8(at) !== 0xff) return undefined
    const marker = view.getUint8(at + 1)
    if (marker === 0xff) {
      at++ // A fill byte.
      continue
    }
    const length = view.getUint16(at + 2)
    if (isFrame(marker)) {
      if (length < 8 || at + 9 > view.byteLength) return undefined
      return { mediaType: "image/jpeg", width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
    }
    if (length < 2 || marker === 0xda || marker === 0xd9) return undefined
    at += 2 + length
  }
  return undefined
}

/** SOF0 to SOF15, without the three of those numbers that are tables. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

function readWebp(view: DataView): ImageFacts | undefined {
  if (view.byteLength < 30 || !hasText(view, 0, "RIFF") || !hasText(view, 8, "WEBP")) return undefined
  if (hasText(view, 12, "VP8X")) return webp(1 + readUint24(view, 24), 1 + readUint24(view, 27))
  if (hasText(view, 12, "VP8L") && view.getUint8(20) === 0x2f) {
    const packed = view.getUint32(21, true)
    return webp(1 + (packed & 0x3fff), 1 + ((packed >>> 14) & 0x3fff))
  }
  if (hasText(view, 12, "VP8 ") && view.getUint16(23) === 0x9d01 && view.getUint8(25) === 0x2a) {
    return webp(view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff)
  }
  return undefined
}

function webp(width: number, height: number): ImageFacts {
  return { mediaType: "image/webp", width, height }
}

function readUint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
}

function hasText(view: DataView, at: number, text: string): boolean {
  return [...text].every((char, i) => view.getUint8(at + i) === char.charCodeAt(0))
}
