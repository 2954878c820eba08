/** The slow proofs: crashes, a real PostgreSQL server, full disks, many processes, a browser. */
import { defineConfig } from "vitest/config"

export default defineConfig({
  resolve: { conditions: ["@ku0/source"] },
  ssr: { resolve: { conditions: ["@ku0/source"] } },
  test: {
    include: ["{packages,apps}/*/{src,test}/**/*.{slow,browser}.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    testTimeout: 300_000,
    hookTimeout: 120_000,
    passWithNoTests: false,
    coverage: { include: ["packages/*/src/**"], exclude: ["**/*.test.ts", "**/testing/**"] },
  },
})
