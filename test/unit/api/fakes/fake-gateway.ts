/** A gateway to the ledger that replies as a test says. */
import type { GatewayOutcome, GatewayRequest } from '../../../../runtime/edge/ledger-gateway.ts'

export interface FakeGateway {
  /** Without their trails, which `trails` has in the same order. */
  readonly asked: Omit<GatewayRequest, 'trail'>[]
  readonly trails: GatewayRequest['trail'][]
  outcome: GatewayOutcome | Error
  readonly ask: (request: GatewayRequest) => Promise<GatewayOutcome>
}

export function createFakeGateway(): FakeGateway {
  const fake: FakeGateway = {
    asked: [],
    trails: [],
    outcome: { kind: 'unavailable', reason: 'shard_unavailable', outcome: 'not_applied' },
    async ask({ trail, ...request }) {
      fake.asked.push(request)
      fake.trails.push(trail)
      if (fake.outcome instanceof Error) throw fake.outcome
      return fake.outcome
    },
  }
  return fake
}
