/** Adapters to the outside. Each can be loaded alone from its subpath; this entry loads none of them by itself. */
export * from "./models/create-model.js"
