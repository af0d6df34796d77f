/** The client of the ledger, for Node.js and browsers: published as `ledger/client`. */
export { LedgerClient } from './ledger-client.ts'
export type {
  GroupOptions,
  LedgerClientOptions,
  RefundFields,
  RegisteredGroup,
  RegistrationOptions,
  TransferFields,
} from './ledger-client.ts'
export type { Credentials, Tokens, TokenStore } from './access-tokens.ts'
export type { FinalGroup, FinalTransaction } from './final-states.ts'
export type { EventFilter, FollowedEvent } from './events.ts'
export type { HttpReply, RetryPolicy } from './http.ts'
export { exportJwk, exportPem, generateKey, importKey, thumbprint } from './signing/keys.ts'
export type { AccountKey, KeyOptions, PrivateJwk, PrivateKey } from './signing/keys.ts'
export { isLedgerError, LedgerError } from './ledger-error.ts'
export type { LedgerErrorCode, Outcome } from './ledger-error.ts'
export type { CallOptions, ItemOf, ListId, OperationId, ReplyOf, RequestOf } from './operations-call.ts'
export { verifyLogProof } from './log/log-proof.ts'
export type { ExpectedLogPlace, VerifiedInclusion } from './log/log-proof.ts'
export { Ed25519Missing } from './log/signed-note.ts'
export { parsePolicy, PolicyMalformed } from './log/trust-policy.ts'
export type { TrustedHead, TrustPolicy } from './log/trust-policy.ts'
export { termsHash } from './signing/settlement-terms.ts'
export type { AgreedGroup, GroupTerms } from './signing/settlement-terms.ts'
export { canonicalOrder, orderHash, signOrder } from './signing/sign-order.ts'
export type { Order, SigningKey, Unsigned } from './signing/sign-order.ts'
export { verifyAssertion } from './verify/verify-assertion.ts'
export type { Assertion, AssertionExpectation } from './verify/verify-assertion.ts'
export { verifyChain } from './verify/verify-chain.ts'
export type { BrokenChain, ChainExpectation, GivenEntry, VerifiedChain, VerifiedEntry } from './verify/verify-chain.ts'
export { verifyLiabilityProof } from './verify/verify-liabilities.ts'
export type { LiabilityExpectation } from './verify/verify-liabilities.ts'
export { verifyReceipt } from './verify/verify-receipt.ts'
export type { ReceiptExpectation } from './verify/verify-receipt.ts'
export { verifyStatement } from './verify/verify-statement.ts'
export type { StatementExpectation } from './verify/verify-statement.ts'
export { verifyTerms } from './verify/verify-terms.ts'
export type { TermsExpectation } from './verify/verify-terms.ts'
export type { TrustedKey, TrustedKeys } from './verify/service-signature.ts'
export type { Invalid, Valid, Verdict } from './verify/verdict.ts'
export type { WaitOptions } from './waiting.ts'
export type * from './generated/api-types.ts'
