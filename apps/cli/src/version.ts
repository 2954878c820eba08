/** The version of this program; the build puts it in. */
declare const KEEPUP_VERSION: string | undefined

export const version: string = typeof KEEPUP_VERSION === "string" ? KEEPUP_VERSION : "0.0.0-source"
