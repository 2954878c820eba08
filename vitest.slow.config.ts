/** The slow proofs: crashes, a real PostgreSQL server, full disks, many processes. */
import { defineConfig } from "vitest/config"

export default defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: ["packages/*/test/**/*.slow.test.ts", "packages/*/src/**/*.slow.test.ts", "apps/*/test/**/*.slow.test.ts"],
    testTimeout: 300_000,
    hookTimeout: 120_000,
    passWithNoTests: false,
  },
})
