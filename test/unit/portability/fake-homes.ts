/**
 * Actors that import records, with exactly the states of `ArrivalState`. A record is staged for one import at a time, and
 * all operations are idempotent. Tests decide the fate of each request.
 */
import { actorKey } from '../../../actors/address.ts'
import type { ArrivalState, ArrivedFrom } from '../../../actors/arrival.ts'
import type { Answer } from '../../../actors/account/outcome.ts'
import type { GatewayOutcome, GatewayRequest, LedgerGateway } from '../../../runtime/edge/ledger-gateway.ts'

interface Home {
  held: ArrivedFrom | null
  arrived: ArrivedFrom | null
  /** How often something was taken here. */
  taken: number
  noted: number
}

/** `lost`: the request is executed, but the reply is lost. `dropped`: the request is lost. */
export type Fate = 'answered' | 'lost' | 'dropped' | 'refused'

export interface FakeHomes extends LedgerGateway {
  readonly homes: Map<string, Home>
  readonly asked: GatewayRequest[]
  /** Decides the fate of a request. */
  fate: (request: GatewayRequest) => Fate | Promise<Fate>
  /** Executes a request. */
  readonly deliver: (request: GatewayRequest) => Answer
}

const UNKNOWN: GatewayOutcome = { kind: 'unavailable', reason: 'shard_unavailable', outcome: 'unknown' }

export function createFakeHomes(): FakeHomes {
  const homes = new Map<string, Home>()
  const fake: FakeHomes = {
    homes,
    asked: [],
    fate: () => 'answered',
    ask: async (request) => {
      fake.asked.push(request)
      const fate = await fake.fate(request)
      if (fate === 'dropped') return UNKNOWN
      if (fate === 'refused') return { kind: 'answered', answer: refused('account_exists') }
      const answer = fake.deliver(request)
      return fate === 'lost' ? UNKNOWN : { kind: 'answered', answer }
    },
    deliver: (request) => judge(homes, request),
  }
  return fake
}

function judge(homes: Map<string, Home>, { actor, operation }: GatewayRequest): Answer {
  const key = actorKey(actor)
  const home = homes.get(key) ?? { held: null, arrived: null, taken: 0, noted: 0 }
  const say = (state: ArrivalState): Answer => {
    homes.set(key, home)
    return { kind: 'arrival', state }
  }
  switch (operation.kind) {
    case 'hold_arrival': {
      const { from, arrival } = operation
      if (home.arrived?.ledgerId === from.ledgerId && home.arrived.recordHash === from.recordHash) return say('present')
      if (home.held?.importId === from.importId && home.held.recordHash === from.recordHash) return say('held')
      if (arrival.kind === 'account' && arrival.account === null && homes.has(key)) return say('present')
      if (home.held !== null || home.arrived !== null) return refused('account_exists')
      home.held = from
      return say('held')
    }
    case 'note_used_keys':
      if (home.held?.importId !== operation.importId)
        return home.arrived === null ? refused('arrival_not_held') : say('noted')
      if (operation.part > home.noted) return refused('arrival_out_of_order')
      home.noted = Math.max(home.noted, operation.part + 1)
      return say('noted')
    case 'take_arrival':
      if (home.held?.importId !== operation.importId) {
        return home.arrived?.importId === operation.importId ? say('taken') : refused('arrival_not_held')
      }
      home.arrived = home.held
      home.held = null
      home.taken += 1
      return say('taken')
    case 'drop_arrival':
      if (home.held?.importId === operation.importId) home.held = null
      return say('dropped')
    default:
      throw new Error(`a home was asked to ${operation.kind}`)
  }
}

function refused(code: 'account_exists' | 'arrival_not_held' | 'arrival_out_of_order'): Answer {
  return { kind: 'refused', code, detail: 'There is another.', field: null }
}
