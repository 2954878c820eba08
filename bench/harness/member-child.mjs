/** The other side of `hire`: makes the member, then answers one call after another. */
let member

async function answer({ module, name, method, args }) {
  if (method !== undefined) return await member[method](...args)
  member = await (await import(module))[name](...args)
  return member ? Object.keys(member).filter((key) => typeof member[key] === "function") : null
}

let last = Promise.resolve()
process.on("message", (request) => {
  last = last.then(async () => {
    try {
      const start = performance.now()
      const value = await answer(request)
      process.send({ value, ms: performance.now() - start })
    } catch (error) {
      process.send({ error: error.stack ?? String(error) })
    }
  })
})
