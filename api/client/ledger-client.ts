import { untilAborted } from './clock.ts'
import { collected } from './collected.ts'
import { type EventFilter, followEvents, type FollowedEvent } from './events.ts'
import type {
  Account,
  Attestation,
  AttestationSubmission,
  AuditEntry,
  DeclinedGroup,
  DryRunResult,
  FungibleToken,
  GroupLegTerms,
  Hold,
  HoldCapture,
  HoldOrder,
  KeyRotation,
  KeySet,
  LiabilityProof,
  NftInstance,
  NftMint,
  NftTransfer,
  Receipt,
  SettlementGroup,
  Statement,
  Submission,
  SubmissionReceipt,
  TokenRegistration,
  TransferRefund,
  TransferToAccount,
} from './generated/api-types.ts'
import { type FinalGroup, type FinalTransaction, isFinal, isFinalGroup } from './final-states.ts'
import { Http, type HttpOptions, type HttpReply, keyOf } from './http.ts'
import { type AccountKey, signText } from './signing/keys.ts'
import { isLedgerError, LedgerError } from './ledger-error.ts'
import { logProofText, openLogText } from './log-texts.ts'
import {
  type AnyRequest,
  type Arguments,
  type CallOptions,
  type ItemOf,
  itemsOf,
  type ListId,
  type OperationId,
  type ReplyOf,
  type RequestOf,
  requestOf,
} from './operations-call.ts'
import { type AgreedGroup, legOrder, termsHash } from './signing/settlement-terms.ts'
import {
  canonicalOrder,
  type Order,
  type SigningKey,
  signMembers,
  signOrder,
  type Unsigned,
} from './signing/sign-order.ts'
import { DEFAULT_WAIT_MS, waitFor, type WaitOptions, waitSeconds } from './waiting.ts'

export type LedgerClientOptions = HttpOptions

export interface RegistrationOptions extends CallOptions {
  /** Of the request: random by default. */
  readonly idempotencyKey?: string
}

export interface GroupOptions extends RegistrationOptions {
  /** A UUID: random by default. It is also the default of `idempotencyKey`, which a LedgerError has. */
  readonly groupId?: string
  /** 1 to 86,400: 900 by default. */
  readonly timeoutSeconds?: number
}

/** A group with terms. Groups that only link transactions have none. */
export type RegisteredGroup = SettlementGroup & AgreedGroup

type WithoutType<Body> = Body extends unknown ? Omit<Body, 'type'> : never
export type TransferFields = WithoutType<Unsigned<TransferToAccount | NftTransfer>>
export type RefundFields = WithoutType<Unsigned<TransferRefund>>

const DEFAULT_GROUP_TIMEOUT_S = 900

/**
 * A client of one ledger. Amounts are decimal strings. Every method rejects with a LedgerError, or with the reason of its
 * signal. A transaction that fails is no error: `submitAndWait` resolves with `status` `failed`, and `failure`.
 */
export class LedgerClient {
  private readonly http: Http
  private ledgerId: Promise<string> | undefined

  /** Throws a TypeError unless `url` is an HTTP URL. Sends nothing. */
  constructor(options: LedgerClientOptions) {
    this.http = new Http(options)
    if (options.ledgerId !== undefined) this.ledgerId = Promise.resolve(options.ledgerId)
  }

  /** Checks the credentials now. Without it, the first request does. */
  login(): Promise<void> {
    return this.http.tokens.login()
  }

  /**
   * Calls an operation of the OpenAPI document by its ID, and resolves with the body of the response. Rejects with
   * ERR_PAYLOAD_MISMATCH for the reply to another request with the same idempotency key: this request has no effect.
   */
  async call<Id extends OperationId>(id: Id, ...[request]: Arguments<Id>): Promise<ReplyOf<Id>> {
    const sent = requestOf(id, request)
    const { status, headers, body } = await this.http.request<ReplyOf<Id>>(sent)
    if (headers.get('idempotency-payload-mismatch') !== 'true') return body
    throw new LedgerError('The idempotency key was used for another request.', {
      codes: ['ERR_PAYLOAD_MISMATCH'],
      status,
      outcome: 'not_applied',
      idempotencyKey: keyOf(sent),
    })
  }

  /** The same, with the status and the headers of the response. */
  respond<Id extends OperationId>(id: Id, ...[request]: Arguments<Id>): Promise<HttpReply<ReplyOf<Id>>> {
    return this.http.request(requestOf(id, request))
  }

  /** The pages of a list. */
  async *pages<Id extends ListId>(id: Id, ...[request]: Arguments<Id>): AsyncGenerator<ReplyOf<Id>> {
    const given: AnyRequest = request ?? {}
    for (let token: string | undefined; token !== '';) {
      const query = token === undefined ? given.query : { ...given.query, page_token: token }
      const { body } = await this.http.request<ReplyOf<Id> & { readonly next_page_token: string }>(
        requestOf(id, { ...given, ...(query === undefined ? {} : { query }) }),
      )
      token = body.next_page_token
      yield body
    }
  }

  /** The rows of a list, page by page. With `order` `asc` transactions are a feed without end: use `pages`. */
  async *list<Id extends ListId>(id: Id, ...args: Arguments<Id>): AsyncGenerator<ItemOf<Id>> {
    for await (const page of this.pages(id, ...args)) yield* itemsOf(id, page)
  }

  /** Events in the order of the log, from `after` on, without end. Continues after a lost connection. */
  events(filter: EventFilter = {}): AsyncGenerator<FollowedEvent> {
    return followEvents(this.http, filter)
  }

  registerAccount(
    accountId: string,
    { publicKey }: Pick<AccountKey, 'publicKey'>,
    options: RegistrationOptions = {},
  ): Promise<Account> {
    return this.call('createAccount', { ...options, body: { account_id: accountId, public_key: { ...publicKey } } })
  }

  /** Replaces the key of an account. Both keys sign. */
  async rotateKey(accountId: string, key: SigningKey, newKey: AccountKey, options: CallOptions = {}): Promise<Account> {
    const rotation = await this.named({ account_id: accountId, public_key: { ...newKey.publicKey } }, options.signal)
    const signed = await signOrder<KeyRotation>(rotation, key)
    const proof = await signText(newKey, canonicalOrder(signed))
    return this.call('rotateKey', { ...options, path: { accountId }, body: { ...signed, proof } })
  }

  /** Registers a token. `key`: of the issuer, which production requires of a client that is no administrator. */
  async createToken(
    token: Omit<TokenRegistration, 'signature'>,
    { key, ...options }: RegistrationOptions & { readonly key?: SigningKey } = {},
  ): Promise<FungibleToken> {
    return this.call('createFungibleToken', {
      ...options,
      body: key === undefined ? token : await signMembers(token, key),
    })
  }

  /** Signs an order for this ledger. To retry after a crash, store it and submit it again with `call`. */
  async sign(order: Order, key: SigningKey, { signal }: CallOptions = {}): Promise<Submission> {
    return signOrder(await this.named(order, signal), key)
  }

  /** Signs and submits. Resolves once the order is durable, which does not mean completed. */
  async submit(order: Order, key: SigningKey, options: CallOptions = {}): Promise<SubmissionReceipt> {
    const body = await this.sign(order, key, options)
    return (await this.call('submitTransaction', { ...options, body })) as SubmissionReceipt
  }

  /** Signs, submits and waits. Resolves also with a failed transaction: check `status`. */
  async submitAndWait(order: Order, key: SigningKey, options: WaitOptions = {}): Promise<FinalTransaction> {
    const body = await this.sign(order, key, options)
    const { timeoutMs = DEFAULT_WAIT_MS, signal } = options
    const untilMs = this.http.clock.nowMs() + timeoutMs
    const reply = await this.call('submitTransaction', { body, signal, waitS: waitSeconds(timeoutMs) })
    if ('created_at' in reply && isFinal(reply)) return reply
    const rest = { signal, timeoutMs: untilMs - this.http.clock.nowMs() }
    return this.waitForOrder(reply.txn_id, body.idempotency_key, rest)
  }

  /** Transfers value, or an NFT with `class_id`, `instance_id` and the amount `1`, and waits. */
  transfer(fields: TransferFields, key: SigningKey, options: WaitOptions = {}): Promise<FinalTransaction> {
    return this.submitAndWait({ type: 'transfer', ...fields }, key, options)
  }

  /** Returns value of a transfer to its sender, in parts or whole, and waits. `refunds`: its `txn_id`. */
  refund(fields: RefundFields, key: SigningKey, options: WaitOptions = {}): Promise<FinalTransaction> {
    return this.submitAndWait({ type: 'transfer', ...fields }, key, options)
  }

  /** Rehearses an order: its outcome if it were submitted now. Nothing is written. */
  async dryRun(order: Order, key: SigningKey, options: CallOptions = {}): Promise<DryRunResult> {
    return this.call('dryRunTransaction', { ...options, body: await this.sign(order, key, options) })
  }

  /** Rejects with ERR_WAIT_TIMEOUT while the transaction is pending. Every failure has `txnId`, and the outcome `unknown`. */
  waitForTransaction(txnId: string, options: WaitOptions = {}): Promise<FinalTransaction> {
    const read = (wait: CallOptions) => this.respond('getTransaction', { path: { txnId }, ...wait })
    const wait = { what: `transaction ${txnId}`, subject: { txnId }, isFinal, read }
    return waitFor(wait, options, this.http.clock)
  }

  /** Rejects with ERR_WAIT_TIMEOUT while the group is open or reverting. Every failure has `groupId`, and the outcome `unknown`. */
  waitForGroup(groupId: string, options: WaitOptions = {}): Promise<FinalGroup> {
    const read = (wait: CallOptions) => this.respond('getSettlementGroup', { path: { groupId }, ...wait })
    const wait = { what: `settlement group ${groupId}`, subject: { groupId }, isFinal: isFinalGroup, read }
    return waitFor(wait, options, this.http.clock)
  }

  /** Registers a settlement group. Rejects with ERR_TERMS_CHANGED, and `groupId`, if the ledger registered other terms. */
  async registerGroup(legs: readonly GroupLegTerms[], options: GroupOptions = {}): Promise<RegisteredGroup> {
    const { groupId = crypto.randomUUID(), timeoutSeconds = DEFAULT_GROUP_TIMEOUT_S, ...rest } = options
    const body = { group_id: groupId, legs, timeout_seconds: timeoutSeconds }
    const { idempotencyKey = groupId } = rest
    const group = await this.call('createSettlementGroup', { ...rest, idempotencyKey, body })
    const terms_hash = await termsHash({ groupId, legs, timeoutSeconds })
    if (group.terms_hash === terms_hash) return { ...group, terms_hash }
    const details = { codes: ['ERR_TERMS_CHANGED'], outcome: 'unknown', idempotencyKey, groupId } as const
    throw new LedgerError(`The ledger registered other terms for group ${groupId}.`, details)
  }

  /** Signs and submits a leg. `group`: as its parties agreed on it; `termsHash` computes `terms_hash`. */
  submitLeg(
    group: AgreedGroup,
    leg: GroupLegTerms,
    key: SigningKey,
    options: CallOptions = {},
  ): Promise<SubmissionReceipt> {
    return this.submit(legOrder(group, leg), key, options)
  }

  /** Declines the legs of an account. The group reverts. */
  async declineGroup(
    { group_id, terms_hash }: AgreedGroup,
    accountId: string,
    key: SigningKey,
    options: CallOptions = {},
  ): Promise<DeclinedGroup> {
    const members = { account_id: accountId, group_id, terms_hash }
    const body = await signMembers(await this.named(members, options.signal), key)
    return this.call('declineSettlementGroup', { ...options, path: { groupId: group_id }, body })
  }

  /** Reserves value of the payer, whose key signs. */
  async createHold(hold: Unsigned<HoldOrder>, key: SigningKey, options: CallOptions = {}): Promise<Hold> {
    const body = await signOrder<HoldOrder>(await this.named(hold, options.signal), key)
    return this.call('createHold', { ...options, body })
  }

  /** Captures value of a hold, and waits. The key of the beneficiary signs. */
  async captureHold(
    capture: Unsigned<HoldCapture>,
    key: SigningKey,
    { timeoutMs, signal }: WaitOptions = {},
  ): Promise<FinalTransaction> {
    const body = await signOrder<HoldCapture>(await this.named(capture, signal), key)
    const { txn_id: txnId } = await this.call('captureHold', { path: { holdId: capture.hold_id }, body, signal })
    const rest = { signal, ...(timeoutMs === undefined ? {} : { timeoutMs }) }
    return this.waitForOrder(txnId, body.idempotency_key, rest)
  }

  /** Ends a hold. The key of the beneficiary signs. */
  async releaseHold(
    { hold_id, account_id }: { readonly hold_id: string; readonly account_id: string },
    key: SigningKey,
    options: CallOptions = {},
  ): Promise<Hold> {
    const body = await signMembers(await this.named({ hold_id, account_id }, options.signal), key)
    return this.call('releaseHold', { ...options, path: { holdId: hold_id }, body })
  }

  /** Mints an instance of a class. The key of the issuer signs. */
  async mintNft(mint: Unsigned<NftMint>, key: SigningKey, options: CallOptions = {}): Promise<NftInstance> {
    const body = await signOrder<NftMint>(await this.named(mint, options.signal), key)
    return this.call('mintNft', { ...options, path: { classId: mint.class_id }, body })
  }

  /** States something about an NFT. `key`: of the account `attester`, so that the attester is verified. */
  async attest(
    attestation: Omit<AttestationSubmission, 'signature'>,
    { key, ...options }: RegistrationOptions & { readonly key?: SigningKey } = {},
  ): Promise<Attestation> {
    const body = key === undefined ? attestation : await signMembers(attestation, key)
    return this.call('createAttestation', { ...options, body })
  }

  /** The public keys of the ledger. Keep a copy: one that the ledger serves later proves less. */
  keySet(options: CallOptions = {}): Promise<KeySet> {
    return this.call('getKeySet', options)
  }

  /** The receipt of a final transaction. */
  receipt(txnId: string, options: CallOptions = {}): Promise<Receipt> {
    return this.call('getReceipt', { ...options, path: { txnId } })
  }

  /** The proof that the log has the entry of a receipt: a `tlog-proof` of C2SP. Waits for the entry, a minute by default. */
  receiptLogProof(txnId: string, options: WaitOptions = {}): Promise<string> {
    return logProofText(this.http, requestOf('getReceipt', { path: { txnId }, query: { proof: 'log' } }).path, options)
  }

  /** The same for an entry of an account's audit chain. */
  logProof(accountId: string, sequence: number, options: WaitOptions = {}): Promise<string> {
    const path = `${requestOf('listAuditChain', { path: { accountId } }).path}/${sequence}/proof`
    return logProofText(this.http, path, options)
  }

  /** The signed head of the log: a `tlog-checkpoint` of C2SP. */
  logHead(options: CallOptions = {}): Promise<string> {
    return openLogText(this.http, '/log/checkpoint', options)
  }

  /** The public key of the log, as policies have it. Keep a copy: one that the ledger serves later proves less. */
  async logVerifierKey(options: CallOptions = {}): Promise<string> {
    return (await openLogText(this.http, '/log/key', options)).trim()
  }

  /** Every entry of an account's audit chain. */
  auditChain(accountId: string, options: CallOptions = {}): Promise<readonly AuditEntry[]> {
    return collected(this.list('listAuditChain', { ...options, path: { accountId }, query: { page_size: 1_000 } }))
  }

  /** Every page of a statement. */
  statement(
    accountId: string,
    query: RequestOf<'getStatement'>['query'],
    options: CallOptions = {},
  ): Promise<readonly Statement[]> {
    return collected(this.pages('getStatement', { ...options, path: { accountId }, query }))
  }

  /** All movements of a statement as CSV with a header row (RFC 4180), unsigned. Rejects if the list was cut off. */
  statementCsv(
    accountId: string,
    query: RequestOf<'getStatement'>['query'],
    { signal }: CallOptions = {},
  ): Promise<string> {
    const request = requestOf('getStatement', { path: { accountId }, query, signal })
    return this.http.text({ ...request, headers: { ...request.headers, accept: 'text/csv' } })
  }

  /** The proof of all balances of an account. `merkleRoot`: of a proof of liabilities, the latest by default. */
  async liabilityProof(
    accountId: string,
    { merkleRoot, ...options }: CallOptions & { readonly merkleRoot?: string } = {},
  ): Promise<LiabilityProof> {
    const query = merkleRoot === undefined ? {} : { merkle_root: merkleRoot }
    const request = { ...options, path: { accountId } }
    const first = await this.call('getLiabilityProof', { ...request, query })
    const proofs = [...first.proofs]
    for (let token = first.next_page_token; token !== '';) {
      const page = await this.call('getLiabilityProof', { ...request, query: { ...query, page_token: token } })
      proofs.push(...page.proofs)
      token = page.next_page_token
    }
    return { ...first, proofs, next_page_token: '' }
  }

  /** With `ledger_id`, so that no other ledger accepts the signature. */
  private async named<Members extends object>(members: Members, signal: AbortSignal | undefined): Promise<Members> {
    if ('ledger_id' in members) return members
    this.ledgerId ??= this.keySet()
      .then(({ ledger_id: id }) => id)
      .catch((error: unknown) => {
        this.ledgerId = undefined
        throw error
      })
    return { ...members, ledger_id: await untilAborted(this.ledgerId, signal) }
  }

  /** A failure has the key of the order, which the caller may not know: the ledger has accepted it. */
  private async waitForOrder(txnId: string, idempotencyKey: string, options: WaitOptions): Promise<FinalTransaction> {
    try {
      return await this.waitForTransaction(txnId, options)
    } catch (error) {
      throw isLedgerError(error) ? error.with({ idempotencyKey }) : error
    }
  }
}
