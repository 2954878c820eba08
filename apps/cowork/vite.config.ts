/** Builds the page into `dist/page`: plain files from one origin, no inline script or style, so that a strict policy holds. */
import react from "@vitejs/plugin-react"
import { defineConfig } from "vite"

// whoever builds, a test run too: the page is never made of development code
process.env["NODE_ENV"] = "production"

export default defineConfig({
  mode: "production",
  root: import.meta.dirname,
  base: "./",
  plugins: [react()],
  resolve: { conditions: ["@ku0/source", "module", "browser", "import", "default"] },
  build: {
    outDir: "dist/page",
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
})
