/** Published keys of a ledger, as its `/.well-known/jwks.json` shows them. */
import * as v from 'valibot'
import type { PublishedKey } from '../../runtime/ports/service-keys.ts'

const seconds = v.pipe(v.number(), v.minValue(0), v.maxValue(253_402_300_800))

export const jwksSchema = v.object({
  ledger_id: v.exactOptional(v.string()),
  keys: v.array(
    v.pipe(
      v.object({
        kid: v.string(),
        purpose: v.string(),
        x: v.string(),
        y: v.string(),
        nbf: seconds,
        exp: v.exactOptional(seconds),
        revoked: v.exactOptional(v.object({ revoked_at: seconds })),
      }),
      v.transform(({ kid, purpose, x, y, nbf, exp, revoked }): PublishedKey<string> => ({
        keyId: kid,
        purpose,
        x,
        y,
        activeFromMs: nbf * 1_000,
        retiredAtMs: exp === undefined ? null : exp * 1_000,
        revokedAtMs: revoked === undefined ? null : revoked.revoked_at * 1_000,
      })),
    ),
  ),
})
