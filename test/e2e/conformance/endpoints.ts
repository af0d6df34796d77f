/** Every endpoint under /v1, with an address that is there; those that take a body, and who may send it. */
import type { LedgerClient } from '../../support/client.ts'
import { membersOf, textOf } from '../../support/client.ts'
import type { Stage } from './stage.ts'

export type Access = 'public' | 'everyone' | 'submitters' | 'admins'

export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly path: string
  readonly access: Access
}

/** Lists, all of which are paged. */
export function lists({ cast }: Stage): readonly Endpoint[] {
  const account = `/v1/accounts/${cast.alice.accountId}`
  const instance = `/v1/nft-classes/${cast.classId}/instances/deed-1`
  const group = textOf(cast.transferred.detail, 'group_id')
  return [
    read('/v1/transactions'),
    read(`/v1/transactions/group/${group}`),
    { ...read('/v1/accounts'), access: 'admins' },
    read(`${account}/balances`),
    read(`${account}/nfts`),
    read(`${account}/audit-chain`),
    read('/v1/fungible-tokens'),
    read('/v1/nft-classes'),
    read(`/v1/nft-classes/${cast.classId}/instances`),
    read(`${instance}/history`),
    read(`${instance}/provenance`),
    read('/v1/attestations'),
    read('/v1/shards'),
  ]
}

export function bodied({ cast }: Stage): readonly Endpoint[] {
  const account = `/v1/accounts/${cast.alice.accountId}`
  const attestation = textOf(membersOf(cast.attestation), 'attestation_id')
  const group = textOf(cast.transferred.detail, 'group_id')
  const proofs = ['proof-of-liabilities', 'proof-of-provenance', 'proof-of-compliance', 'verify']
  return [
    write('/v1/auth/token', 'public'),
    write('/v1/transactions'),
    write('/v1/fungible-tokens'),
    write('/v1/nft-classes'),
    write(`/v1/nft-classes/${cast.classId}/instances`),
    ...proofs.map((proof) => write(`/v1/assertions/${proof}`, 'everyone')),
    write('/v1/attestations'),
    write(`/v1/attestations/${attestation}/revoke`),
    write('/v1/accounts'),
    write(`${account}/keys`),
    write(`${account}/status`, 'admins'),
    write(`${account}/erase`, 'admins'),
    write('/v1/settlement-groups'),
    write(`/v1/settlement-groups/${group}/revert`),
    { method: 'PUT', path: '/v1/shards/0/health', access: 'admins' },
  ]
}

export function endpoints(stage: Stage): readonly Endpoint[] {
  const { cast } = stage
  const account = `/v1/accounts/${cast.alice.accountId}`
  const attestation = textOf(membersOf(cast.attestation), 'attestation_id')
  const group = textOf(cast.transferred.detail, 'group_id')
  return [
    ...bodied(stage),
    ...lists(stage),
    read(`/v1/transactions/${cast.credited.txnId}`),
    read(`/v1/transactions/${cast.credited.txnId}/receipt`),
    read(account),
    read(`${account}/state`),
    read(`${account}/balances/COIN`),
    read(`${account}/liability-proof`),
    read('/v1/fungible-tokens/COIN'),
    read(`/v1/nft-classes/${cast.classId}`),
    read(`/v1/nft-classes/${cast.classId}/instances/deed-1`),
    read(`/v1/attestations/${attestation}`),
    read(`/v1/settlement-groups/${group}`),
    read('/v1/shards/0'),
  ]
}

/** A client that may use the endpoint; of the public one, any. */
export function entitled(stage: Stage, { access }: Endpoint): LedgerClient {
  return access === 'admins' ? stage.admin : stage.transactor
}

function read(path: string): Endpoint {
  return { method: 'GET', path, access: 'everyone' }
}

function write(path: string, access: Access = 'submitters'): Endpoint {
  return { method: 'POST', path, access }
}
