/** NFTs: classes, instances, their history and provenance (D11). */
import * as v from 'valibot'
import { EVERYONE, SUBMITTERS } from '../endpoint/route.ts'
import { classSchema } from '../schemas/nft-class.ts'
import { mintSchema } from '../schemas/nft-mint.ts'
import {
  listedNftClassResponse,
  listedNftInstanceResponse,
  nftClassListResponse,
  nftClassResponse,
  nftInstanceListResponse,
  nftInstanceResponse,
  ownedNftListResponse,
  ownedNftResponse,
  ownershipEntryResponse,
  ownershipHistoryResponse,
  provenanceEntryResponse,
  provenanceResponse,
} from '../schemas/responses/nft.ts'
import type { Operation, Tag } from './model/operation.ts'
import { IDEMPOTENCY_KEY_HEADER, PAGING } from './parameters.ts'

export const createNftClass: Operation = {
  id: 'createNftClass',
  method: 'POST',
  path: '/v1/nft-classes',
  summary: 'Register an NFT class',
  description: `A class has an issuer, who alone mints in it, and a JSON Schema (2020-12; draft-07 where \`$schema\` says so) that the metadata of every instance satisfies.

The name is unique after NFC and case folding. The schema is refused when it is not valid, too large or deep, has a remote \`$ref\`, dynamic references, \`$async\` or \`$data\`, or a pattern that a linear-time engine cannot run. An issuer that nobody knows comes into being without a key; in production the issuer signs, or an administrator asks.`,
  roles: SUBMITTERS,
  changes: 'shard',
  parameters: [IDEMPOTENCY_KEY_HEADER],
  body: classSchema,
  answers: [
    {
      status: 201,
      description: 'The class is registered.',
      content: nftClassResponse,
      headers: ['Location', 'Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
  ],
  refusals: {
    ERR_CONFLICT: 'The name is taken.',
    ERR_NOT_FOUND: 'The client is scoped to accounts, and the issuer is none of them.',
    ERR_SIGNATURE_MISMATCH: 'The signature is not the issuer’s, or is missing in production.',
    ERR_UNKNOWN_FIELD: 'A signed registration has a field that nobody knows; without a signature it is ignored.',
  },
}

export const listNftClasses: Operation = {
  id: 'listNftClasses',
  method: 'GET',
  path: '/v1/nft-classes',
  summary: 'List all NFT classes',
  description: 'By class ID, without descriptions and schemas.',
  roles: EVERYONE,
  parameters: PAGING,
  answers: [
    { status: 200, description: 'One page.', content: nftClassListResponse, headers: ['X-Total-Count-Relation'] },
  ],
}

export const getNftClass: Operation = {
  id: 'getNftClass',
  method: 'GET',
  path: '/v1/nft-classes/:classId',
  summary: 'Get an NFT class',
  description: 'With its description and the schema of its metadata.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The class.', content: nftClassResponse }],
}

export const mintNft: Operation = {
  id: 'mintNft',
  method: 'POST',
  path: '/v1/nft-classes/:classId/instances',
  summary: 'Mint an NFT',
  description: `Signed by the class’s issuer (\`account_id\`); the answer is a 201 once it is durable. An instance that exists, or ever existed, is a 409: an NFT is minted once.

The same \`idempotency_key\` again gets the first answer again; a refusal does not use the key up. Instances are transferred, exchanged and burned with POST /v1/transactions.`,
  roles: SUBMITTERS,
  changes: 'shard',
  body: mintSchema,
  answers: [
    {
      status: 201,
      description: 'The NFT is its owner’s.',
      content: nftInstanceResponse,
      headers: ['Location', 'Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
  ],
  refusals: {
    ERR_NOT_FOUND: 'The class, the account or the owner does not exist.',
    ERR_CONFLICT: 'The instance exists or existed, the issuer is frozen, or the owner cannot take it in.',
    ERR_FORBIDDEN: 'The role does not permit this, or the account has no key.',
    ERR_SIGNATURE_MISMATCH: '',
    ERR_NOT_ISSUER: 'The account is not the issuer of the class.',
    ERR_WRONG_LEDGER: 'It was signed for another ledger; in production `ledger_id` is required.',
    ERR_INVALID_FIELD:
      'A field is missing or wrong, or the metadata does not satisfy the class’s schema: `errors` has the path of each fault.',
  },
}

export const listNftInstances: Operation = {
  id: 'listNftInstances',
  method: 'GET',
  path: '/v1/nft-classes/:classId/instances',
  summary: 'List the NFTs of a class',
  description: 'By instance ID, burned ones among them.',
  roles: EVERYONE,
  parameters: PAGING,
  answers: [{ status: 200, description: 'One page.', content: nftInstanceListResponse }],
}

export const getNftInstance: Operation = {
  id: 'getNftInstance',
  method: 'GET',
  path: '/v1/nft-classes/:classId/instances/:instanceId',
  summary: 'Get an NFT',
  description: 'One that is burned stays readable, with its last owner.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The NFT.', content: nftInstanceResponse }],
}

export const listNftHistory: Operation = {
  id: 'listNftHistory',
  method: 'GET',
  path: '/v1/nft-classes/:classId/instances/:instanceId/history',
  summary: 'List the owners of an NFT',
  description: 'From the mint to the owner of now, or to the burn.',
  roles: EVERYONE,
  parameters: PAGING,
  answers: [{ status: 200, description: 'One page.', content: ownershipHistoryResponse }],
}

const MAX_DEPTH = 1000
const DEFAULT_DEPTH = 10

export const listNftProvenance: Operation = {
  id: 'listNftProvenance',
  method: 'GET',
  path: '/v1/nft-classes/:classId/instances/:instanceId/provenance',
  summary: 'List everything that is known of an NFT',
  description:
    'The mint, then transfers, the burn, attestations and revocations in the order in which they happened. `depth` counts ' +
    'changes of owner: the mint has 0, the first transfer 1; an attestation has the depth of the ownership during which it was made.',
  roles: EVERYONE,
  parameters: [
    {
      name: 'max_depth',
      in: 'query',
      description: 'Only entries up to this depth.',
      schema: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_DEPTH)), DEFAULT_DEPTH),
    },
    ...PAGING,
  ],
  answers: [{ status: 200, description: 'One page.', content: provenanceResponse }],
}

export const listAccountNfts: Operation = {
  id: 'listAccountNfts',
  method: 'GET',
  path: '/v1/accounts/:accountId/nfts',
  summary: 'List the NFTs of an account',
  description: 'What it owns, by class and instance. One that a transaction or a group holds is still its sender’s.',
  roles: EVERYONE,
  parameters: PAGING,
  answers: [{ status: 200, description: 'One page.', content: ownedNftListResponse }],
}

const INSTANCE_FIELDS = {
  owner: 'Who owns it; of one that is burned, the last owner.',
  status: '`active`; `held` by a transaction or a group, and still its sender’s; `burned`.',
  metadata: 'What it is: satisfies the class’s schema.',
  minted_at: 'When it came into being.',
}
const CLASS_FIELDS = { name: 'Its name, unique.', issuer: 'The account that alone mints in it.' }

export const NFTS: Tag = {
  name: 'NFTs',
  description: 'Things of which there is one: classes say what they are, instances are owned.',
  schemas: {
    NftClassRegistration: {
      schema: classSchema,
      description: 'A new class.',
      fields: {
        ...CLASS_FIELDS,
        description: 'What it is, for people.',
        metadata_schema: 'The JSON Schema that the metadata of every instance satisfies.',
        signature: 'The issuer’s, over the body without `signature`.',
      },
    },
    NftClass: {
      schema: nftClassResponse,
      description: 'An NFT class.',
      fields: {
        ...CLASS_FIELDS,
        description: 'What it is, for people.',
        metadata_schema: 'The JSON Schema of the metadata.',
      },
    },
    NftClassSummary: {
      schema: listedNftClassResponse,
      description: 'An NFT class, as lists show it.',
      fields: CLASS_FIELDS,
    },
    NftClassList: {
      schema: nftClassListResponse,
      description: 'One page of classes.',
      fields: { classes: 'The classes of this page.' },
    },
    NftMint: {
      schema: mintSchema,
      description: 'A signed mint.',
      closed: true,
      fields: {
        class_id: 'The class of the path, so that it is signed.',
        instance_id: 'The NFT’s ID within the class, chosen by the issuer.',
        account_id: 'The issuer of the class, whose key signs.',
        owner: 'Who gets it; the issuer, unless said.',
        metadata: 'What it is.',
        ledger_id: 'The ledger that this is for, as `/readyz` tells it. Required in production.',
      },
    },
    NftInstance: { schema: nftInstanceResponse, description: 'An NFT.', fields: INSTANCE_FIELDS },
    NftInstanceSummary: {
      schema: listedNftInstanceResponse,
      description: 'An NFT, as the list of its class shows it.',
      fields: INSTANCE_FIELDS,
    },
    NftInstanceList: {
      schema: nftInstanceListResponse,
      description: 'One page of NFTs.',
      fields: { instances: 'The NFTs of this page.' },
    },
    OwnedNft: {
      schema: ownedNftResponse,
      description: 'An NFT that the account owns.',
      fields: {
        class_name: 'The name of its class.',
        status: '`active`, or `held` by a transaction or a group.',
        metadata: 'What it is.',
        acquired_at: 'When it became the account’s.',
      },
    },
    OwnedNftList: {
      schema: ownedNftListResponse,
      description: 'One page of what an account owns.',
      fields: { nfts: 'The NFTs of this page.' },
    },
    OwnershipEntry: {
      schema: ownershipEntryResponse,
      description: 'One change of hands.',
      fields: {
        from: 'Who had it; null for the mint.',
        to: 'Who got it; for the burn, its last owner.',
        type: 'What happened.',
        timestamp: 'When.',
      },
    },
    OwnershipHistory: {
      schema: ownershipHistoryResponse,
      description: 'One page of the owners of an NFT.',
      fields: { history: 'The entries of this page.' },
    },
    ProvenanceEntry: {
      schema: provenanceEntryResponse,
      description: 'Something that happened to an NFT, or was said of it.',
      fields: {
        depth: 'Changes of owner up to this entry: 0 for the mint.',
        event: 'What happened.',
        actor: 'The account whose transaction it was, or in whose name it was stated.',
        revoked_by: 'Of a revocation: the client that took the statement back.',
        txn_id: 'The transaction, where it was one.',
        attestation_id: 'The attestation, where it was one.',
        timestamp: 'When.',
        details: 'What was stated, or why it was taken back.',
      },
    },
    Provenance: {
      schema: provenanceResponse,
      description: 'One page of the provenance of an NFT.',
      fields: { provenance: 'The entries of this page.' },
    },
  },
  operations: [
    createNftClass,
    listNftClasses,
    getNftClass,
    mintNft,
    listNftInstances,
    getNftInstance,
    listNftHistory,
    listNftProvenance,
    listAccountNfts,
  ],
}
