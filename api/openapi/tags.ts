/** The subjects of the interface with their operations, in the order in which they are read. */
import type { Tag } from '../endpoint/operation.ts'
import { GET_ACCOUNT_ACTOR, PAUSE_ACCOUNT, RESUME_ACCOUNT } from '../routes/accounts/account-actor.ts'
import { CHANGE_STATUS } from '../routes/accounts/change-status.ts'
import { CREATE_ACCOUNT } from '../routes/accounts/create-account.ts'
import { ERASE_ACCOUNT } from '../routes/accounts/erase-account.ts'
import { GET_ACCOUNT_STATE } from '../routes/accounts/get-account-state.ts'
import { GET_ACCOUNT } from '../routes/accounts/get-account.ts'
import { GET_BALANCE } from '../routes/accounts/get-balance.ts'
import { LIST_ACCOUNT_NFTS } from '../routes/accounts/list-account-nfts.ts'
import { LIST_ACCOUNTS } from '../routes/accounts/list-accounts.ts'
import { LIST_AUDIT_CHAIN } from '../routes/accounts/list-audit-chain.ts'
import { LIST_BALANCES } from '../routes/accounts/list-balances.ts'
import { LIST_EXPECTATIONS } from '../routes/accounts/list-expectations.ts'
import { ROTATE_KEY } from '../routes/accounts/rotate-key.ts'
import { GET_LIABILITY_PROOF } from '../routes/assertions/get-liability-proof.ts'
import { LIST_NFT_PROVENANCE } from '../routes/assertions/get-provenance.ts'
import { PROVE_COMPLIANCE } from '../routes/assertions/prove-compliance.ts'
import { PROVE_LIABILITIES } from '../routes/assertions/prove-liabilities.ts'
import { PROVE_PROVENANCE } from '../routes/assertions/prove-provenance.ts'
import { VERIFY_ASSERTION } from '../routes/assertions/verify-assertion.ts'
import { CREATE_ATTESTATION } from '../routes/attestations/create-attestation.ts'
import { GET_ATTESTATION } from '../routes/attestations/get-attestation.ts'
import { LIST_ATTESTATIONS } from '../routes/attestations/list-attestations.ts'
import { REVOKE_ATTESTATION } from '../routes/attestations/revoke-attestation.ts'
import { CREATE_FUNGIBLE_TOKEN } from '../routes/fungible-tokens/create-fungible-token.ts'
import { GET_FUNGIBLE_TOKEN } from '../routes/fungible-tokens/get-fungible-token.ts'
import { LIST_FUNGIBLE_TOKENS } from '../routes/fungible-tokens/list-fungible-tokens.ts'
import { CREATE_NFT_CLASS } from '../routes/nfts/create-nft-class.ts'
import { GET_NFT_CLASS } from '../routes/nfts/get-nft-class.ts'
import { GET_NFT_INSTANCE } from '../routes/nfts/get-nft-instance.ts'
import { LIST_NFT_CLASSES } from '../routes/nfts/list-nft-classes.ts'
import { LIST_NFT_HISTORY } from '../routes/nfts/list-nft-history.ts'
import { LIST_NFT_INSTANCES } from '../routes/nfts/list-nft-instances.ts'
import { MINT_NFT } from '../routes/nfts/mint-nft.ts'
import { CREATE_EXPORT } from '../routes/portability/create-export.ts'
import { CREATE_IMPORT } from '../routes/portability/create-import.ts'
import { GET_IMPORT_KEY } from '../routes/portability/get-import-key.ts'
import { GET_IMPORT } from '../routes/portability/get-import.ts'
import { GET_DOCS } from '../routes/service/docs.ts'
import { GET_ERROR_PAGE } from '../routes/service/error-page.ts'
import { GET_HEALTH } from '../routes/service/health.ts'
import { ISSUE_TOKEN } from '../routes/service/issue-token.ts'
import { GET_KEY_SET } from '../routes/service/key-set.ts'
import { GET_OPEN_API } from '../routes/service/openapi.ts'
import { GET_READINESS } from '../routes/service/ready.ts'
import { GET_ROOT } from '../routes/service/root.ts'
import { CREATE_SETTLEMENT_GROUP } from '../routes/settlement-groups/create-settlement-group.ts'
import { DECLINE_SETTLEMENT_GROUP } from '../routes/settlement-groups/decline-settlement-group.ts'
import { GET_SETTLEMENT_GROUP } from '../routes/settlement-groups/get-settlement-group.ts'
import { LIST_GROUP_TRANSACTIONS } from '../routes/settlement-groups/list-group-transactions.ts'
import { REVERT_SETTLEMENT_GROUP } from '../routes/settlement-groups/revert-settlement-group.ts'
import { GET_SHARD } from '../routes/shards/get-shard.ts'
import { LIST_SHARDS } from '../routes/shards/list-shards.ts'
import { PUT_SHARD_HEALTH } from '../routes/shards/put-shard-health.ts'
import { GET_RECEIPT } from '../routes/transactions/get-receipt.ts'
import { GET_TRANSACTION } from '../routes/transactions/get-transaction.ts'
import { LIST_TRANSACTIONS } from '../routes/transactions/list-transactions.ts'
import { SUBMIT_BATCH } from '../routes/transactions/submit-batch.ts'
import { SUBMIT_TRANSACTION } from '../routes/transactions/submit-transaction.ts'

export const TAGS: readonly Tag[] = [
  {
    name: 'Authentication',
    description:
      'Tokens for clients. The operator provisions `client_id`, `client_secret` and one role: `viewer` reads everything, `transactor` submits too, `admin` may do all.',
    operations: [ISSUE_TOKEN],
  },
  {
    name: 'Accounts',
    description: 'Accounts are owned by keys. Reads come from what is committed.',
    operations: [
      CREATE_ACCOUNT,
      LIST_ACCOUNTS,
      GET_ACCOUNT,
      ROTATE_KEY,
      CHANGE_STATUS,
      ERASE_ACCOUNT,
      GET_ACCOUNT_ACTOR,
      PAUSE_ACCOUNT,
      RESUME_ACCOUNT,
      LIST_AUDIT_CHAIN,
      GET_ACCOUNT_STATE,
      LIST_BALANCES,
      GET_BALANCE,
    ],
  },
  {
    name: 'Transactions',
    description: 'Signed orders on accounts, what became of them, and the proof.',
    operations: [
      SUBMIT_TRANSACTION,
      SUBMIT_BATCH,
      LIST_TRANSACTIONS,
      LIST_GROUP_TRANSACTIONS,
      GET_TRANSACTION,
      GET_RECEIPT,
    ],
  },
  {
    name: 'Fungible tokens',
    description: 'Tokens that accounts hold balances of.',
    operations: [CREATE_FUNGIBLE_TOKEN, LIST_FUNGIBLE_TOKENS, GET_FUNGIBLE_TOKEN],
  },
  {
    name: 'NFTs',
    description: 'Things of which there is one: classes say what they are, instances are owned.',
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
  },
  {
    name: 'Settlement groups',
    description: 'Delivery against payment, and whatever else must happen together or not at all.',
    operations: [
      CREATE_SETTLEMENT_GROUP,
      GET_SETTLEMENT_GROUP,
      REVERT_SETTLEMENT_GROUP,
      DECLINE_SETTLEMENT_GROUP,
      LIST_EXPECTATIONS,
    ],
  },
  {
    name: 'Attestations',
    description: 'Signed, human-readable statements about NFTs.',
    operations: [CREATE_ATTESTATION, LIST_ATTESTATIONS, GET_ATTESTATION, REVOKE_ATTESTATION],
  },
  {
    name: 'Assertions',
    description: 'Statements about the whole ledger, which the service signs and anyone can verify.',
    operations: [PROVE_LIABILITIES, PROVE_PROVENANCE, PROVE_COMPLIANCE, VERIFY_ASSERTION, GET_LIABILITY_PROOF],
  },
  {
    name: 'Exports',
    description: 'Accounts on their way to another ledger.',
    operations: [CREATE_EXPORT],
  },
  {
    name: 'Imports',
    description: 'Accounts, and what belongs to them, from other ledgers.',
    operations: [GET_IMPORT_KEY, CREATE_IMPORT, GET_IMPORT],
  },
  {
    name: 'Shards',
    description: 'The parts of the ledger. Every account is on one, which one node owns.',
    operations: [LIST_SHARDS, GET_SHARD, PUT_SHARD_HEALTH],
  },
  {
    name: 'Operation',
    description: 'Outside `/v1`, without a token.',
    operations: [GET_ROOT, GET_HEALTH, GET_READINESS, GET_KEY_SET, GET_ERROR_PAGE, GET_OPEN_API, GET_DOCS],
  },
]
