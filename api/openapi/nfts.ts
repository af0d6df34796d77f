/** NFTs: classes, instances, their history and provenance (D11). */
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
import type { Tag } from '../endpoint/operation.ts'
import { LIST_ACCOUNT_NFTS } from '../routes/accounts/list-account-nfts.ts'
import { LIST_NFT_PROVENANCE } from '../routes/assertions/get-provenance.ts'
import { CREATE_NFT_CLASS } from '../routes/nfts/create-nft-class.ts'
import { GET_NFT_CLASS } from '../routes/nfts/get-nft-class.ts'
import { GET_NFT_INSTANCE } from '../routes/nfts/get-nft-instance.ts'
import { LIST_NFT_CLASSES } from '../routes/nfts/list-nft-classes.ts'
import { LIST_NFT_HISTORY } from '../routes/nfts/list-nft-history.ts'
import { LIST_NFT_INSTANCES } from '../routes/nfts/list-nft-instances.ts'
import { MINT_NFT } from '../routes/nfts/mint-nft.ts'

const INSTANCE_FIELDS = {
  owner: 'The owner; of a burned NFT, the last owner.',
  status: '`active`; `held` by a transaction or a group, and still its sender’s; `burned`.',
  metadata: 'Data that satisfies the schema of the class.',
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
        description: 'A description, for people.',
        metadata_schema: 'The JSON Schema that the metadata of every instance satisfies.',
        signature: 'The issuer’s, over the body without `signature`.',
      },
    },
    NftClass: {
      schema: nftClassResponse,
      description: 'An NFT class.',
      fields: {
        ...CLASS_FIELDS,
        description: 'A description, for people.',
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
        owner: 'The first owner; the issuer by default.',
        metadata: 'Data about the NFT.',
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
        metadata: 'Data about the NFT.',
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
        from: 'The previous owner; null for the mint.',
        to: 'The new owner; for the burn, the last owner.',
        type: 'The type of the event.',
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
        event: 'The type of the event.',
        actor: 'The account whose transaction it was, or in whose name it was stated.',
        revoked_by: 'Of a revocation: the client that took the statement back.',
        txn_id: 'The transaction, where it was one.',
        attestation_id: 'The attestation, where it was one.',
        timestamp: 'When.',
        details: 'The statement, or the reason of its revocation.',
      },
    },
    Provenance: {
      schema: provenanceResponse,
      description: 'One page of the provenance of an NFT.',
      fields: { provenance: 'The entries of this page.' },
    },
  },
  operations: [
    CREATE_NFT_CLASS,
    LIST_NFT_CLASSES,
    GET_NFT_CLASS,
    MINT_NFT,
    LIST_NFT_INSTANCES,
    GET_NFT_INSTANCE,
    LIST_NFT_HISTORY,
    LIST_NFT_PROVENANCE,
    LIST_ACCOUNT_NFTS,
  ],
}
