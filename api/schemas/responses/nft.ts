/** Responses about NFTs (D11). */
import * as v from 'valibot'
import { accountIdField, attesterField } from '../fields.ts'
import {
  attestationId,
  classId,
  count,
  countRelation,
  instanceId,
  jsonObject,
  pageToken,
  text,
  timestamp,
  transactionId,
} from './values.ts'

export const nftClassResponse = v.object({
  class_id: classId,
  name: text,
  description: v.string(),
  issuer: accountIdField,
  metadata_schema: jsonObject,
  created_at: timestamp,
})

export const listedNftClassResponse = v.object({
  class_id: classId,
  name: text,
  issuer: accountIdField,
  created_at: timestamp,
})

export const nftClassListResponse = v.object({
  classes: v.array(listedNftClassResponse),
  next_page_token: pageToken,
  total_count: count,
  total_count_relation: countRelation,
})

const listedInstanceEntries = {
  instance_id: instanceId,
  owner: accountIdField,
  status: v.picklist(['active', 'held', 'burned']),
  metadata: jsonObject,
  minted_at: timestamp,
}

export const listedNftInstanceResponse = v.object(listedInstanceEntries)
export const nftInstanceResponse = v.object({ class_id: classId, ...listedInstanceEntries })

export const nftInstanceListResponse = v.object({
  class_id: classId,
  instances: v.array(listedNftInstanceResponse),
  next_page_token: pageToken,
})

export const ownedNftResponse = v.object({
  class_id: classId,
  instance_id: instanceId,
  class_name: text,
  status: v.picklist(['active', 'held']),
  metadata: jsonObject,
  acquired_at: timestamp,
})

export const ownedNftListResponse = v.object({
  account_id: accountIdField,
  nfts: v.array(ownedNftResponse),
  next_page_token: pageToken,
})

export const ownershipEntryResponse = v.pipe(
  v.object({
    from: v.nullable(accountIdField),
    to: accountIdField,
    txn_id: transactionId,
    type: v.picklist(['mint', 'transfer', 'burn']),
    timestamp,
  }),
  v.check(({ from, type }) => (from === null) === (type === 'mint'), 'has from unless it is the mint'),
)

export const ownershipHistoryResponse = v.object({
  class_id: classId,
  instance_id: instanceId,
  history: v.array(ownershipEntryResponse),
  next_page_token: pageToken,
})

export const provenanceEntryResponse = v.object({
  depth: count,
  event: v.picklist(['mint', 'transfer', 'burn', 'attestation', 'revocation']),
  actor: attesterField,
  txn_id: v.exactOptional(transactionId),
  attestation_id: v.exactOptional(attestationId),
  timestamp,
  revoked_by: v.exactOptional(text),
  details: v.exactOptional(text),
})

export const provenanceResponse = v.object({
  class_id: classId,
  instance_id: instanceId,
  provenance: v.array(provenanceEntryResponse),
  next_page_token: pageToken,
})
