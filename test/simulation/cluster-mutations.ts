/**
 * Rules of the runtime and of the domain, each broken on purpose, to see that a seed finds out. What they replace of a
 * node or an edge is in the files beside this one, by room; rules of the store are its own mutations.
 */
import { type StepActor, stepActor } from '../../actors/step-actor.ts'
import type { LedgerNodeDependencies } from '../../runtime/node/ledger-node.ts'
import type { ShardHost } from '../../runtime/node/shard-host.ts'
import type { Transport } from '../../runtime/ports/transport.ts'
import type { Routes } from '../../runtime/routes.ts'
import { DOMAIN_MUTATIONS, type DomainMutation } from './cluster-mutations-domain.ts'
import { believingOldRefusals, takingSilenceForNobody } from './cluster-mutations-edge.ts'
import { releasingUnemptied, servingOnWord, takingMovesForRefusals } from './cluster-mutations-ownership.ts'
import {
  acknowledgingOnEntry,
  carryingUncommitted,
  createHastyRefusals,
  forgettingElsewhere,
  forgettingIds,
  gaps,
  hastyGate,
  forgettingAttempts,
  ignoringDeadlines,
  keepingSignatures,
  loadingBeforeFence,
  noPins,
  sayingMoved,
  takingUnknownForFailed,
} from './cluster-mutations-runtime.ts'
import type { SimProcess } from './kernel-process.ts'

export interface RuntimeMutations {
  /** Nothing that was looked up is pinned. */
  readonly noPins: boolean
  /** Answers leave as soon as they are decided. */
  readonly replyBeforeCommit: boolean
  /** Refusals and repeats leave as soon as they are decided; what has an effect waits for its commit. */
  readonly refuseBeforeCommit: boolean
  /** Any message above the mark is the next, and the mark the highest that came. */
  readonly gapsInInbox: boolean
  /** A node hands messages to its own shards before they are committed. */
  readonly carriesUncommitted: boolean
  /** What another node delivers is acknowledged as it enters the mailbox. */
  readonly acknowledgesOnEntry: boolean
  /** Of what has entered a mailbox and was lost there it is said that it never entered. */
  readonly saysMoved: boolean
  /** A commit without an answer has failed: its commands are stepped again, by the same attempt. */
  readonly takesUnknownForFailed: boolean
  /** After a commit without an answer the shard is read before that commit is fenced. */
  readonly loadsBeforeFence: boolean
  /** A receipt's signature is kept from the first batch that its transaction was in. */
  readonly keepsSignatures: boolean
  /** A new owner does not ask which transaction ID its shard gave last. */
  readonly forgetsIds: boolean
  /** An owner does not remember that it has seen a later attempt of a request. */
  readonly forgetsAttempts: boolean
  /** What nobody waits for any more is stepped all the same. */
  readonly ignoresDeadlines: boolean
  /** An edge takes silence for proof that nobody was there. */
  readonly takesSilenceForNobody: boolean
  /** An edge takes what refuses an earlier attempt for the answer to its latest. */
  readonly believesOldRefusals: boolean
  /** A shard is given away as it is, with what waits in it. */
  readonly releasesUnemptied: boolean
  /** What a node is told of it serves, without asking the store for it. */
  readonly servesOnWord: boolean
  /** An edge takes it for proof that an attempt was turned away that its shard has another owner since. */
  readonly takesMovesForRefusals: boolean
  /** What an account used elsewhere is not asked for where it has to be loaded first. */
  readonly forgetsElsewhere: boolean
  /** The rule of an actor that is broken, if any. */
  readonly domain: DomainMutation | null
}

export const NO_RUNTIME_MUTATIONS: RuntimeMutations = {
  noPins: false,
  replyBeforeCommit: false,
  refuseBeforeCommit: false,
  gapsInInbox: false,
  carriesUncommitted: false,
  acknowledgesOnEntry: false,
  saysMoved: false,
  takesUnknownForFailed: false,
  loadsBeforeFence: false,
  keepsSignatures: false,
  forgetsIds: false,
  forgetsAttempts: false,
  ignoresDeadlines: false,
  takesSilenceForNobody: false,
  believesOldRefusals: false,
  releasesUnemptied: false,
  servesOnWord: false,
  takesMovesForRefusals: false,
  forgetsElsewhere: false,
  domain: null,
}

/** A node's parts as these mutations leave them. `host`: the node's own, once there is one. */
export function mutated<Parts extends Pick<LedgerNodeDependencies, 'store' | 'transport' | 'signer'>>(
  mutations: RuntimeMutations,
  parts: Parts,
  host: () => ShardHost,
) {
  let { store, transport, signer } = parts
  if (mutations.carriesUncommitted) store = carryingUncommitted(store, host)
  if (mutations.takesUnknownForFailed) store = takingUnknownForFailed(store)
  if (mutations.loadsBeforeFence) store = loadingBeforeFence(store)
  if (mutations.forgetsIds) store = forgettingIds(store)
  if (mutations.forgetsElsewhere) store = forgettingElsewhere(store)
  if (mutations.servesOnWord) transport = servingOnWord(transport, store, host)
  if (mutations.acknowledgesOnEntry) transport = acknowledgingOnEntry(transport)
  if (mutations.saysMoved) transport = sayingMoved(transport)
  if (mutations.forgetsAttempts) transport = forgettingAttempts(transport)
  if (mutations.ignoresDeadlines) transport = ignoringDeadlines(transport)
  if (mutations.keepsSignatures) signer = keepingSignatures(signer)
  return {
    ...parts,
    store,
    transport,
    signer,
    ...(mutations.noPins ? { pins: noPins } : {}),
    ...(mutations.replyBeforeCommit ? { gate: hastyGate } : {}),
    ...(mutations.refuseBeforeCommit ? { gate: createHastyRefusals() } : {}),
    ...(mutations.gapsInInbox ? { inboxOrder: gaps } : {}),
    step: stepOf(mutations),
  }
}

/** A node's host as these mutations leave it. */
export function mutateHost({ releasesUnemptied }: RuntimeMutations, host: ShardHost): void {
  if (releasesUnemptied) releasingUnemptied(host)
}

/** An edge's transport as these mutations leave it. */
export function mutatedEdge(
  mutations: RuntimeMutations,
  transport: Transport,
  process: SimProcess,
  routes: Routes,
): Transport {
  if (mutations.takesMovesForRefusals) return takingMovesForRefusals(transport, routes, process)
  if (mutations.takesSilenceForNobody) return takingSilenceForNobody(transport, process)
  return mutations.believesOldRefusals ? believingOldRefusals(transport) : transport
}

/** How a node steps its actors. */
export function stepOf({ domain }: RuntimeMutations): StepActor {
  return domain === null ? stepActor : DOMAIN_MUTATIONS[domain]
}
