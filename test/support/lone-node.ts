/** A shard node and an edge's gateway in this process, on a real database and nothing else: no NATS, no HTTP. */
import { type ActorAddress, actorKey } from '../../actors/address.ts'
import type { Caller } from '../../actors/account/commands.ts'
import type { Answer } from '../../actors/account/outcome.ts'
import type { KeyRing } from '../../infra/keys/wrapping-keys.ts'
import { createShardHash } from '../../infra/keys/shard-hash.ts'
import { readPublicKey } from '../../infra/keys/public-key.ts'
import { createNodeSigner } from '../../infra/keys/signer-node.ts'
import { createPostgresLedgerStore } from '../../infra/postgres/store/ledger-store-postgres.ts'
import { createServiceKeys, type PostgresServiceKeys } from '../../infra/postgres/access/service-keys-postgres.ts'
import { createSystemClock } from '../../infra/system/clock-system.ts'
import { createSystemRandom } from '../../infra/system/random-system.ts'
import { Gateway, GATEWAY_DEFAULTS } from '../../runtime/edge/gateway.ts'
import type { Operation } from '../../runtime/protocol/messages.ts'
import { LedgerNode } from '../../runtime/node/ledger-node.ts'
import type { LedgerGateway } from '../../runtime/edge/ledger-gateway.ts'
import type { LeaseStore, SessionRecord } from '../../runtime/ports/lease-store.ts'
import { NOT_DELIVERED, type Transport } from '../../runtime/ports/transport.ts'
import { NO_RARE_PATHS } from '../../runtime/ports/rare-paths.ts'
import { Routes } from '../../runtime/routing/routes.ts'
import { DEFAULT_SHARD_COUNT, secretsOf, TEST_MASTER_KEYS } from './postgres/ledger-database.ts'
import { SILENT, until } from './postgres/ledger-store-postgres.ts'

export interface LoneNode {
  readonly ledgerId: string
  readonly keys: PostgresServiceKeys
  readonly gateway: LedgerGateway
  /** Throws when there is no answer, or a refusal. */
  readonly ask: (actor: ActorAddress, operation: Operation) => Promise<Answer>
  readonly close: () => Promise<void>
}

const CALLER: Caller = { clientId: 'tester', role: 'admin', boundary: true }

export async function startLoneNode(
  url: string,
  ledgerId: string,
  masterKeys: KeyRing = TEST_MASTER_KEYS,
): Promise<LoneNode> {
  const clock = createSystemClock()
  const random = createSystemRandom()
  const session = random.hex(16)
  const { serviceKeys: seals, vault } = await secretsOf(url, masterKeys)
  const keys = await createServiceKeys({ url, seals, clock })
  const store = await createPostgresLedgerStore({ url, nodeId: 'lone', session, ledgerId, log: SILENT, vault })
  const shardOf = createShardHash(Buffer.alloc(32, 7), DEFAULT_SHARD_COUNT)
  const homeOf = (actor: ActorAddress): number => shardOf(actorKey(actor))
  const [leases, transport] = [aloneLeases(), loopback()]
  const node = new LedgerNode({
    nodeId: 'lone',
    session,
    store,
    leases,
    transport,
    signer: createNodeSigner({ keys }),
    readPublicKey,
    clock,
    random,
    log: SILENT,
    ledgerId,
    production: false,
    homeOf,
    onStoreWentBack: () => undefined,
  })
  await node.start()
  const routes = new Routes({ store, leases, clock, rare: NO_RARE_PATHS })
  await routes.start()
  await until(() => node.load().shards === DEFAULT_SHARD_COUNT)
  const gateway = new Gateway({
    transport,
    routes,
    clock,
    random,
    rare: NO_RARE_PATHS,
    homeOf,
    settings: GATEWAY_DEFAULTS,
  })
  return {
    ledgerId,
    keys,
    gateway,
    ask: async (actor, operation) => {
      const outcome = await gateway.ask({ actor, caller: CALLER, operation })
      if (outcome.kind !== 'answered') throw new Error(`${operation.kind}: ${JSON.stringify(outcome)}`)
      if (outcome.answer.kind === 'refused') throw new Error(`${operation.kind}: ${JSON.stringify(outcome.answer)}`)
      return outcome.answer
    },
    close: async () => {
      routes.stop()
      await node.stop()
      await store.close()
      await keys.close()
    },
  }
}

/** There is only one node: no peer to notify. */
function aloneLeases(): LeaseStore {
  let held: { readonly record: SessionRecord; readonly revision: number } | undefined
  return {
    renew: (record, seen) => {
      if ((held?.revision ?? 0) !== seen) return Promise.resolve('conflict')
      held = { record, revision: seen + 1 }
      return Promise.resolve(seen + 1)
    },
    list: () => Promise.resolve(held === undefined ? [] : [{ ...held.record, revision: held.revision }]),
    end: () => {
      held = undefined
      return Promise.resolve()
    },
    hint: () => Promise.resolve(),
    watchHints: () => ({ stop: () => undefined }),
  }
}

function loopback(): Transport {
  const handlers = new Map<string, (message: string, reply: (message: string) => void) => void>()
  return {
    maxMessageBytes: () => 8 * 1_048_576,
    serve: (subject, handler) => {
      handlers.set(subject, handler)
      return {
        drain: () => {
          handlers.delete(subject)
          return Promise.resolve()
        },
      }
    },
    request: (subject, message, _timeoutMs, onReply) => {
      let open = true
      const reply = (answer: string | typeof NOT_DELIVERED): void => {
        setImmediate(() => {
          if (open) onReply(answer)
        })
      }
      setImmediate(() => {
        const handler = handlers.get(subject)
        if (handler === undefined) reply(NOT_DELIVERED)
        else handler(message, reply)
      })
      return {
        close: () => {
          open = false
        },
      }
    },
  }
}
