/** The server about itself, and the way in. */
import * as api from "../../api.js"
import { type AnyRoute, route } from "../route.js"
import type { Doorkeeper } from "../token.js"

export function houseRoutes(facts: () => Omit<api.Health, "ok">, door: Doorkeeper, port: () => number): AnyRoute[] {
  const health = route({
    method: "get",
    path: "/api/health",
    summary: "the server is there",
    answer: api.healthSchema,
    handle: async () => facts(),
  })
  const login = route({
    method: "post",
    path: "/api/login",
    summary: "trade a code for the token, once",
    body: api.loginBodySchema,
    answer: api.loginSchema,
    handle: async ({ body }) => ({ token: door.trade(body.code) }),
  })
  const proof = route({
    method: "post",
    path: "/api/proof",
    summary: "show that this server has the token, without telling it",
    body: api.proofBodySchema,
    answer: api.proofSchema,
    handle: async ({ body }) => ({ proof: door.prove(body.challenge, port()) }),
  })
  const codes = route({
    method: "post",
    path: "/api/codes",
    summary: "a fresh code for one more page",
    answer: api.codeSchema,
    handle: async () => door.createCode(),
  })
  return [health, login, proof, codes]
}
