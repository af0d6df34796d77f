/** Responses about NFTs (D11). */
import * as v from 'valibot'
import { accountIdField, attesterField } from '../fields.ts'
import {
  attestationId,
  classId,
  count,
  countedPage,
  instanceId,
  jsonObject,
  pageToken,
  text,
  timestamp,
  transactionId,
} from '../values.ts'
import { define, withRule } from '../named-schema.ts'

export const nftClassResponse = define('NftClass', 'An NFT class.', {
  class_id: classId,
  name: [text, 'Its name, unique.'],
  description: [v.string(), 'A description, for people.'],
  issuer: [accountIdField, 'The account that alone mints in it.'],
  metadata_schema: [jsonObject, 'The JSON Schema of the metadata.'],
  created_at: timestamp,
})

export const listedNftClassResponse = define('NftClassSummary', 'An NFT class, as lists show it.', {
  class_id: classId,
  name: [text, 'Its name, unique.'],
  issuer: [accountIdField, 'The account that alone mints in it.'],
  created_at: timestamp,
})

export const nftClassListResponse = define('NftClassList', 'One page of classes.', {
  classes: [v.array(listedNftClassResponse), 'The classes of this page.'],
  ...countedPage,
})

const listedInstanceFields = {
  instance_id: instanceId,
  owner: [accountIdField, 'The owner; of a burned NFT, the last owner.'],
  status: [
    v.picklist(['active', 'held', 'burned']),
    '`active`; `held` by a transaction or a group, and still its sender’s; `burned`.',
  ],
  metadata: [jsonObject, 'Data that satisfies the schema of the class.'],
  minted_at: [timestamp, 'When it came into being.'],
} as const

export const listedNftInstanceResponse = define(
  'NftInstanceSummary',
  'An NFT, as the list of its class shows it.',
  listedInstanceFields,
)
export const nftInstanceResponse = define('NftInstance', 'An NFT.', {
  class_id: classId,
  ...listedInstanceFields,
})

export const nftInstanceListResponse = define('NftInstanceList', 'One page of NFTs.', {
  class_id: classId,
  instances: [v.array(listedNftInstanceResponse), 'The NFTs of this page.'],
  next_page_token: pageToken,
})

export const ownedNftResponse = define('OwnedNft', 'An NFT that the account owns.', {
  class_id: classId,
  instance_id: instanceId,
  class_name: [text, 'The name of its class.'],
  status: [v.picklist(['active', 'held']), '`active`, or `held` by a transaction or a group.'],
  metadata: [jsonObject, 'Data about the NFT.'],
  acquired_at: [timestamp, 'When it became the account’s.'],
})

export const ownedNftListResponse = define('OwnedNftList', 'One page of what an account owns.', {
  account_id: accountIdField,
  nfts: [v.array(ownedNftResponse), 'The NFTs of this page.'],
  next_page_token: pageToken,
})

export const ownershipEntryResponse = withRule(
  define('OwnershipEntry', 'One change of hands.', {
    from: [v.nullable(accountIdField), 'The previous owner; null for the mint.'],
    to: [accountIdField, 'The new owner; for the burn, the last owner.'],
    txn_id: transactionId,
    type: [v.picklist(['mint', 'transfer', 'burn']), 'The type of the event.'],
    timestamp: [timestamp, 'When.'],
  }),
  ({ from, type }) => (from === null) === (type === 'mint'),
  'has from unless it is the mint',
)

export const ownershipHistoryResponse = define('OwnershipHistory', 'One page of the owners of an NFT.', {
  class_id: classId,
  instance_id: instanceId,
  history: [v.array(ownershipEntryResponse), 'The entries of this page.'],
  next_page_token: pageToken,
})

export const provenanceEntryResponse = define(
  'ProvenanceEntry',
  'Something that happened to an NFT, or was said of it.',
  {
    depth: [count, 'Changes of owner up to this entry: 0 for the mint.'],
    event: [v.picklist(['mint', 'transfer', 'burn', 'attestation', 'revocation']), 'The type of the event.'],
    actor: [attesterField, 'The account whose transaction it was, or in whose name it was stated.'],
    txn_id: [v.exactOptional(transactionId), 'The transaction, where it was one.'],
    attestation_id: [v.exactOptional(attestationId), 'The attestation, where it was one.'],
    timestamp: [timestamp, 'When.'],
    revoked_by: [v.exactOptional(text), 'Of a revocation: the client that took the statement back.'],
    details: [v.exactOptional(text), 'The statement, or the reason of its revocation.'],
  },
)

export const provenanceResponse = define('Provenance', 'One page of the provenance of an NFT.', {
  class_id: classId,
  instance_id: instanceId,
  provenance: [v.array(provenanceEntryResponse), 'The entries of this page.'],
  next_page_token: pageToken,
})
