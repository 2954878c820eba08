/** keepup's own engine, bundled from source; null as long as it is not there. */
export async function keepupExact() {
  return null
}

export async function keepupResident() {
  return null
}

export async function keepupBundle() {
  return null
}
