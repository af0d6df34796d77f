/** A cluster of the simulation without faults: two nodes, one edge, virtual time; and what its checkers find. */
import { createHash } from 'node:crypto'
import { type ActorAddress, actorKey } from '../../actors/address.ts'
import type { Answer } from '../../actors/account/outcome.ts'
import type { GatewayOutcome, GatewayRequest } from '../../runtime/edge/ledger-gateway.ts'
import { LEDGER_ID, RECEIPT_KEY_ID, startEdge, startNode, type World } from '../simulation/cluster-node.ts'
import { createClusterWires } from '../simulation/cluster-wires.ts'
import { ClientChecker } from '../simulation/invariants-clients.ts'
import { LedgerChecker } from '../simulation/invariants.ts'
import { createKernel, type Kernel } from '../simulation/kernel.ts'
import { ImportBook } from '../simulation/reference-imports.ts'
import { createSimLeaseServer } from '../simulation/sim-lease-store.ts'
import { SimDatabase } from '../simulation/sim-ledger-store-database.ts'
import { simReceiptPublicKey, simVerify } from '../simulation/sim-signer.ts'
import { createSimNetwork } from '../simulation/sim-transport.ts'

export interface SimulatedLedger {
  readonly kernel: Kernel
  readonly database: SimDatabase
  readonly homeOf: (actor: ActorAddress) => number
  /** Asks as a client does, again until there is an answer. */
  readonly ask: (request: GatewayRequest) => Promise<Answer>
  /** Lets that much virtual time pass, and tells what the checkers have found, and what has not ended. */
  readonly findingsAfter: (durationMs: number) => Promise<readonly string[]>
}

const SHARD_COUNT = 4
const NODES = ['node-a', 'node-b']
const MAX_ATTEMPTS = 20
/** Virtual. */
const START_MS = 20_000
const ANSWER_MS = 60_000
const RETRY_MS = 100

export async function startSimulatedLedger(seed: number): Promise<SimulatedLedger> {
  const kernel = createKernel({ seed, maxTimeMs: Infinity })
  const database = new SimDatabase({ kernel, shardCount: SHARD_COUNT })
  const network = createSimNetwork(kernel)
  const startedAtMs = kernel.wallMs() - kernel.now()
  const imports = new ImportBook()
  const checker: LedgerChecker = new LedgerChecker(database, {
    ledgerId: LEDGER_ID,
    wallAt: (ms) => startedAtMs + ms,
    homeOf: (accountId) => homeOf({ kind: 'account', id: accountId }),
    verifies: (publicKey, payload, signature) => simVerify({ publicKey, payload, signature }),
    receiptVerifies: (keyId, payload, signature) =>
      keyId === RECEIPT_KEY_ID && simVerify({ publicKey: simReceiptPublicKey(keyId), payload, signature }),
    wasOrdered: (payload, signature) => clients.wasOrdered(payload, signature),
    rotationOrdered: (accountId, key, hash) => clients.rotationOrdered(accountId, key, hash),
    imports,
  })
  const clients = new ClientChecker(checker, kernel, homeOf)
  const leases = createSimLeaseServer(kernel, undefined, (name) => network.reachable(name))
  const world: World = {
    kernel,
    database,
    network,
    leases,
    checker,
    clients,
    imports,
    breaks: {},
    rareRates: new Map(),
    homeOf,
    wires: createClusterWires(kernel, 'next_to_each_other'),
    rowReplay: undefined,
  }
  const nodes = NODES.map((name) => startNode(world, name))
  const edge = startEdge(world, 'edge-a')
  const isOwned = (): boolean =>
    database
      .shards()
      .every(({ epoch, session, shardId }) =>
        nodes.some((node) => node.session === session && node.host.serving().get(shardId)?.epoch === epoch),
      )
  if (!(await kernel.runUntil(isOwned, START_MS))) throw new Error('The shards have no owners.')
  const tryOnce = (request: GatewayRequest): Promise<GatewayOutcome> => {
    const entry = clients.sends(request)
    const outcome = new Promise<GatewayOutcome>((resolve) => {
      edge.process.deliver(() => {
        void edge.gateway.ask(request).then((heard) => {
          clients.hears(entry, heard)
          resolve(heard)
        })
      })
    })
    return kernel.runToEnd(outcome, ANSWER_MS)
  }
  const ask = async (request: GatewayRequest): Promise<Answer> => {
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
      const outcome = await tryOnce(request)
      if (outcome.kind === 'answered') return outcome.answer
      await kernel.runFor(RETRY_MS)
    }
    throw new Error(`There is no answer to ${JSON.stringify(request)}.`)
  }
  return {
    kernel,
    database,
    homeOf,
    ask,
    findingsAfter: async (durationMs) => {
      await kernel.runFor(durationMs)
      checker.atEnd()
      clients.atEnd()
      return [...checker.violations, ...checker.unfinished()]
    },
  }
}

function homeOf(actor: ActorAddress): number {
  return createHash('sha256').update(actorKey(actor)).digest().readUInt32BE(0) % SHARD_COUNT
}
