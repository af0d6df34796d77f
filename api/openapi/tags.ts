/** The subjects of the interface with their endpoints, in the order in which they are read. */
import type { Tag } from '../endpoint/route.ts'
import { getAccountActor, pauseAccount, resumeAccount } from '../routes/accounts/account-actor.ts'
import { changeStatus } from '../routes/accounts/change-status.ts'
import { createAccount } from '../routes/accounts/create-account.ts'
import { eraseAccount } from '../routes/accounts/erase-account.ts'
import { getAccountState } from '../routes/accounts/get-account-state.ts'
import { getAccount } from '../routes/accounts/get-account.ts'
import { getBalance } from '../routes/accounts/get-balance.ts'
import { listAccountNfts } from '../routes/accounts/list-account-nfts.ts'
import { listAccounts } from '../routes/accounts/list-accounts.ts'
import { listAuditChain } from '../routes/accounts/list-audit-chain.ts'
import { getStatement } from '../routes/accounts/get-statement.ts'
import { listHolds } from '../routes/accounts/list-holds.ts'
import { listBalances } from '../routes/accounts/list-balances.ts'
import { listExpectations } from '../routes/accounts/list-expectations.ts'
import { rotateKey } from '../routes/accounts/rotate-key.ts'
import { listAdministrativeChain } from '../routes/administration/list-administrative-chain.ts'
import { getLiabilityProof } from '../routes/assertions/get-liability-proof.ts'
import { getProvenance } from '../routes/assertions/get-provenance.ts'
import { proveCompliance } from '../routes/assertions/prove-compliance.ts'
import { proveLiabilities } from '../routes/assertions/prove-liabilities.ts'
import { proveProvenance } from '../routes/assertions/prove-provenance.ts'
import { verifyAssertion } from '../routes/assertions/verify-assertion.ts'
import { createAttestation } from '../routes/attestations/create-attestation.ts'
import { getAttestation } from '../routes/attestations/get-attestation.ts'
import { listAttestations } from '../routes/attestations/list-attestations.ts'
import { revokeAttestation } from '../routes/attestations/revoke-attestation.ts'
import { listEvents } from '../routes/events/list-events.ts'
import { createFungibleToken } from '../routes/fungible-tokens/create-fungible-token.ts'
import { getFungibleToken } from '../routes/fungible-tokens/get-fungible-token.ts'
import { listFungibleTokens } from '../routes/fungible-tokens/list-fungible-tokens.ts'
import { captureHold } from '../routes/holds/capture-hold.ts'
import { createHold } from '../routes/holds/create-hold.ts'
import { getHold } from '../routes/holds/get-hold.ts'
import { releaseHold } from '../routes/holds/release-hold.ts'
import { createNftClass } from '../routes/nfts/create-nft-class.ts'
import { getNftClass } from '../routes/nfts/get-nft-class.ts'
import { getNftInstance } from '../routes/nfts/get-nft-instance.ts'
import { listNftClasses } from '../routes/nfts/list-nft-classes.ts'
import { listNftHistory } from '../routes/nfts/list-nft-history.ts'
import { listNftInstances } from '../routes/nfts/list-nft-instances.ts'
import { getAccountLogKey } from '../routes/log/get-account-log-key.ts'
import { getLogHead, getLogKey, getLogTile } from '../routes/log/get-log.ts'
import { getLogProof } from '../routes/log/get-log-proof.ts'
import { mintNft } from '../routes/nfts/mint-nft.ts'
import { createClient } from '../routes/clients/create-client.ts'
import { deleteClient } from '../routes/clients/delete-client.ts'
import { listClients } from '../routes/clients/list-clients.ts'
import { createExport } from '../routes/portability/create-export.ts'
import { createImport } from '../routes/portability/create-import.ts'
import { getImportKey } from '../routes/portability/get-import-key.ts'
import { getImport } from '../routes/portability/get-import.ts'
import { getConsole, getConsoleAsset } from '../routes/service/console.ts'
import { getDocs, getDocsAsset, getGuide, getGuides, getPlainDocs } from '../routes/service/docs.ts'
import { getErrorList, getErrorPage } from '../routes/service/error-page.ts'
import { getHealth } from '../routes/service/health.ts'
import { issueToken } from '../routes/service/issue-token.ts'
import { getKeySet } from '../routes/service/key-set.ts'
import { getOpenApi } from '../routes/service/openapi.ts'
import { getReadiness } from '../routes/service/ready.ts'
import { getRoot } from '../routes/service/root.ts'
import { createSettlementGroup } from '../routes/settlement-groups/create-settlement-group.ts'
import { declineSettlementGroup } from '../routes/settlement-groups/decline-settlement-group.ts'
import { getSettlementGroup } from '../routes/settlement-groups/get-settlement-group.ts'
import { listGroupTransactions } from '../routes/settlement-groups/list-group-transactions.ts'
import { revertSettlementGroup } from '../routes/settlement-groups/revert-settlement-group.ts'
import { getShard } from '../routes/shards/get-shard.ts'
import { listShards } from '../routes/shards/list-shards.ts'
import { putShardHealth } from '../routes/shards/put-shard-health.ts'
import { getReceipt } from '../routes/transactions/get-receipt.ts'
import { getTransaction } from '../routes/transactions/get-transaction.ts'
import { listTransactions } from '../routes/transactions/list-transactions.ts'
import { dryRunTransaction } from '../routes/transactions/dry-run-transaction.ts'
import { submitBatch } from '../routes/transactions/submit-batch.ts'
import { submitTransaction } from '../routes/transactions/submit-transaction.ts'
import { deleteWebhook, enableWebhook, rotateWebhookSecret } from '../routes/webhooks/change-webhook.ts'
import { createWebhook } from '../routes/webhooks/create-webhook.ts'
import { getWebhook, listWebhookDeliveries, listWebhooks } from '../routes/webhooks/read-webhooks.ts'
import { testWebhook } from '../routes/webhooks/test-webhook.ts'

export const TAGS: readonly Tag[] = [
  {
    name: 'Authentication',
    description:
      'Tokens for clients. The operator provisions `client_id`, `client_secret` and one role: `viewer` reads everything, `transactor` submits too, `admin` may do all.',
    endpoints: [issueToken],
  },
  {
    name: 'Accounts',
    description: 'Accounts are owned by keys. Reads come from what is committed.',
    endpoints: [
      createAccount,
      listAccounts,
      getAccount,
      rotateKey,
      changeStatus,
      eraseAccount,
      getAccountActor,
      pauseAccount,
      resumeAccount,
      listAuditChain,
      getAccountState,
      listBalances,
      getBalance,
      getStatement,
    ],
  },
  {
    name: 'Transactions',
    description: 'Signed orders on accounts, what became of them, and the proof.',
    endpoints: [
      submitTransaction,
      dryRunTransaction,
      submitBatch,
      listTransactions,
      listGroupTransactions,
      getTransaction,
      getReceipt,
    ],
  },
  {
    name: 'Holds',
    description: 'Value that is reserved for another account, which captures it in parts or whole.',
    endpoints: [createHold, captureHold, releaseHold, getHold, listHolds],
  },
  {
    name: 'Events',
    description: 'Everything that became final, once and in order.',
    endpoints: [listEvents],
  },
  {
    name: 'Fungible tokens',
    description: 'Tokens that accounts hold balances of.',
    endpoints: [createFungibleToken, listFungibleTokens, getFungibleToken],
  },
  {
    name: 'NFTs',
    description: 'Things of which there is one: classes say what they are, instances are owned.',
    endpoints: [
      createNftClass,
      listNftClasses,
      getNftClass,
      mintNft,
      listNftInstances,
      getNftInstance,
      listNftHistory,
      getProvenance,
      listAccountNfts,
    ],
  },
  {
    name: 'Settlement groups',
    description: 'Delivery against payment, and whatever else must happen together or not at all.',
    endpoints: [
      createSettlementGroup,
      getSettlementGroup,
      revertSettlementGroup,
      declineSettlementGroup,
      listExpectations,
    ],
  },
  {
    name: 'Webhooks',
    description: 'Events that the ledger sends to a URL.',
    endpoints: [
      createWebhook,
      listWebhooks,
      getWebhook,
      deleteWebhook,
      listWebhookDeliveries,
      testWebhook,
      enableWebhook,
      rotateWebhookSecret,
    ],
  },
  {
    name: 'Attestations',
    description: 'Signed, human-readable statements about NFTs.',
    endpoints: [createAttestation, listAttestations, getAttestation, revokeAttestation],
  },
  {
    name: 'Assertions',
    description: 'Statements about the whole ledger, which the service signs and anyone can verify.',
    endpoints: [proveLiabilities, proveProvenance, proveCompliance, verifyAssertion, getLiabilityProof],
  },
  {
    name: 'Log',
    description:
      'One Merkle tree over the entries of all chains, for witnesses and monitors; it tells nothing of accounts.',
    endpoints: [getLogHead, getLogKey, getLogTile, getLogProof, getAccountLogKey],
  },
  {
    name: 'Exports',
    description: 'Accounts on their way to another ledger.',
    endpoints: [createExport],
  },
  {
    name: 'Imports',
    description: 'Accounts, and what belongs to them, from other ledgers.',
    endpoints: [getImportKey, createImport, getImport],
  },
  {
    name: 'Clients',
    description: 'The clients of the API, for administrators that are not limited to accounts.',
    endpoints: [listClients, createClient, deleteClient],
  },
  {
    name: 'Shards',
    description: 'The parts of the ledger. Every account is on one, which one node owns.',
    endpoints: [listShards, getShard, putShardHealth],
  },
  {
    name: 'Administration',
    description: 'The acts of administrators, for those who review them.',
    endpoints: [listAdministrativeChain],
  },
  {
    name: 'Operation',
    description: 'Outside `/v1`, without a token.',
    endpoints: [
      getRoot,
      getHealth,
      getReadiness,
      getKeySet,
      getErrorList,
      getErrorPage,
      getOpenApi,
      getDocs,
      getPlainDocs,
      getGuides,
      getGuide,
      getDocsAsset,
      getConsole,
      getConsoleAsset,
    ],
  },
]
