export * from "./clock.js"
export * from "./errors.js"
export * from "./ids.js"
export * from "./snapshot.js"
