/** Generated from the OpenAPI document by test/support/client-sources.ts. Do not edit. */

/** An account. */
export interface Account {
  /** The account. */
  readonly account_id: AccountId
  /** `active`; `frozen`: it may only receive; `closed`: for good. */
  readonly status: 'active' | 'frozen' | 'closed'
  /** True if the account was erased; absent otherwise. */
  readonly erased?: true
  /** Whether it takes value in. */
  readonly incoming: 'accept' | 'refuse'
  /** The key in force; null for an account that came into being without one. */
  readonly public_key: PublicJwk | null
  /** Its RFC 7638 thumbprint. */
  readonly key_id: KeyId | null
  /** The shard that decides it. */
  readonly shard_id: ShardId
  /** The number of the last entry of its audit chain. */
  readonly sequence: number
  /** The hash of the last entry of its audit chain. */
  readonly audit_hash: Hash
  /** When it came into being. */
  readonly created_at: Timestamp
  /** When it last changed. */
  readonly updated_at: Timestamp
}

/** How the actor of an account is, and where. */
export interface AccountActor {
  /** The account. */
  readonly account_id: AccountId
  /** The state of its machine; `erased` is `closed` elsewhere. */
  readonly state: 'active' | 'frozen' | 'closed' | 'erased'
  /** Whether an administrator has stopped what the account sends. */
  readonly paused: boolean
  /** The shard that decides it. */
  readonly shard_id: ShardId
  /** The node that owns its shard; null while none does. */
  readonly owner: string | null
  /** How often the account was written. */
  readonly version: number
  /** The number of its unfinished operations: pending transactions, legs of groups, mints. */
  readonly holds: number
  /** Transactions among them that others decide on. */
  readonly pending_count: number
  /** Whether the node had it in memory when it was asked. */
  readonly resident: boolean
  /** Commands that waited for it, this one included: 1 where nothing else waited. */
  readonly mailbox_length: number
}

/** An account. `.` and `..` are none. Must be 1 to 128 characters of a-z, A-Z, 0-9 and _ . - : @. */
export type AccountId = string

/** One page of accounts. */
export interface AccountList {
  /** The accounts of this page. */
  readonly accounts: readonly Account[]
  /** Where the next page begins; empty on the last one. */
  readonly next_page_token: PageToken
  /** The number of items on all pages. */
  readonly total_count: number
  /** `eq`: `total_count` is exact. `gte`: it is a lower bound. */
  readonly total_count_relation: 'eq' | 'gte'
}

/** The log key of an account. */
export interface AccountLogKey {
  /** The account. */
  readonly account_id: AccountId
  /** 32 bytes in base64. */
  readonly log_key: string
}

/** A new account. */
export interface AccountRegistration {
  /** The account. */
  readonly account_id: AccountId
  /** The key under which the account’s orders are verified. */
  readonly public_key: PublicKey
}

/** The end of an account’s audit chain. */
export interface AccountState {
  /** The account. */
  readonly account_id: AccountId
  /** The hash of the last entry. */
  readonly audit_hash: Hash
  /** When it last changed. */
  readonly updated_at: Timestamp
}

/** One page of the administrative chain. */
export interface AdministrativeChain {
  /** The ledger. */
  readonly ledger_id: string
  /** The entries of this page. */
  readonly entries: readonly AdministrativeEntry[]
  /** Absent from an empty page, and with `account_id`. */
  readonly head?: AdministrativeHead
  /** Where the next page begins; empty on the last one. */
  readonly next_page_token: PageToken
  /** Entries of the whole chain; absent with `account_id`. */
  readonly total_count?: number
  /** The count is exact. */
  readonly total_count_relation?: 'eq'
}

/** An entry of the administrative chain. */
export interface AdministrativeEntry {
  /** The number of an entry in an account’s audit chain, from 0. */
  readonly sequence: number
  /** The hash of the entry before; of the first entry, 32 zero bytes. */
  readonly previous_hash: Hash
  /** The hash of an entry in an account’s audit chain. */
  readonly audit_hash: Hash
  /** Canonical JSON: exactly what was hashed, a random salt included. `act` is an operation ID or a command, `client_id` null for a command, and `of` null for an act; for an outcome it is the sequence of its act. null: the stored text was changed, or cannot be read. */
  readonly payload: string | null
}

/** The last entry of a page, and how many the chain has, signed. */
export interface AdministrativeHead {
  /** The type of the transaction. */
  readonly type: 'administrative_chain'
  /** The ledger. */
  readonly ledger_id: string
  /** The number of an entry in an account’s audit chain, from 0. */
  readonly sequence: number
  /** The hash of an entry in an account’s audit chain. */
  readonly audit_hash: Hash
  /** Entries of the whole chain when the page was read. */
  readonly total_count: number
  /** When it was signed. */
  readonly at: Timestamp
  /** The assertion key that signed it, in `/.well-known/jwks.json`. */
  readonly key_id: KeyId
  /** DER in base64, over the canonical JSON (RFC 8785) of the head without `signature`. */
  readonly signature: string
}

/** A quantity above zero, as it was signed: trailing zeros are kept. Must be a decimal string above zero with at most 18 integer and 18 fractional digits. */
export type Amount = string

/** An assertion as it was received. Other fields are ignored. */
export interface AssertionCheck {
  /** The type of the assertion. */
  readonly assertion_type: string
  /** The findings, unchanged. */
  readonly result: { readonly [name: string]: unknown }
  /** The service’s, over the canonical JSON (RFC 8785) of `result`. */
  readonly signature: string
}

/** The requester. */
export interface AssertionRequest {
  /** The identifier of who asks; it is signed. Must be 1 to 256 characters. */
  readonly requester: string
}

/** A statement about an NFT. Has revoked_at and revoked_by if it is revoked. Has key_id and signature, or neither. */
export interface Attestation {
  /** The attestation. */
  readonly attestation_id: AttestationId
  /** The name of the attester: any printable name. Only an account can be verified. Must be 1 to 256 printable characters. */
  readonly attester: string
  /** The class of the NFT. */
  readonly subject_class: ClassId
  /** The NFT within its class. */
  readonly subject_instance: InstanceId
  /** The kind of statement. */
  readonly attestation_type: string
  /** The statement, for people. */
  readonly statement: string
  /** Where the evidence is: http, https, ipfs or ar. */
  readonly evidence_url?: string
  /** When it came into being. */
  readonly created_at: Timestamp
  /** `active` or `revoked`. */
  readonly status: 'active' | 'revoked'
  /** The client that submitted it; `import`, a space and the ID of a ledger: it came from there. */
  readonly submitted_by: string
  /** Whether the key of the account `attester` signed it. */
  readonly attester_verified: boolean
  /** When it came from another ledger; since then this one vouches for it. */
  readonly imported_at?: Timestamp
  /** When it was taken back. */
  readonly revoked_at?: Timestamp
  /** The client that took it back. */
  readonly revoked_by?: string
  /** Why. */
  readonly revocation_reason?: string
  /** The key of the service that signs; left out where the account of the attester was erased. */
  readonly key_id?: KeyId
  /** The service’s, over all other members; left out where the account of the attester was erased. */
  readonly signature?: ServiceSignature
}

/** An attestation: `att_` and a ULID. */
export type AttestationId = string

/** One page of attestations. */
export interface AttestationList {
  /** The attestations of this page. */
  readonly attestations: readonly AttestationSummary[]
  /** Where the next page begins; empty on the last one. */
  readonly next_page_token: PageToken
}

/** Why a statement is taken back. */
export interface AttestationRevocation {
  /** Why. */
  readonly reason?: string | null
}

/** A statement about an NFT. */
export interface AttestationSubmission {
  /** The name of the attester: any printable name. Only an account can be verified. Must be 1 to 256 printable characters. */
  readonly attester: string
  /** The class of the NFT. Must be the ID of an NFT class. */
  readonly subject_class: string
  /** The NFT within its class. Must be 1 to 128 characters of a-z, A-Z, 0-9 and _ . - : @. */
  readonly subject_instance: string
  /** The kind of statement. Must be 1 to 64 printable characters. Must be 1 to 64 printable characters. */
  readonly attestation_type: string
  /** The statement, for people. Must be 1 to 4,096 characters. */
  readonly statement: string
  /** Where the evidence is: http, https, ipfs or ar. */
  readonly evidence_url?: string | null
  /** The attester’s, over the body without `signature`. */
  readonly signature?: Signature | null
}

/** A statement about an NFT, as lists show it. Has revoked_at and revoked_by if it is revoked. */
export interface AttestationSummary {
  /** The attestation. */
  readonly attestation_id: AttestationId
  /** The name of the attester: any printable name. Only an account can be verified. Must be 1 to 256 printable characters. */
  readonly attester: string
  /** The class of the NFT. */
  readonly subject_class: ClassId
  /** The NFT within its class. */
  readonly subject_instance: InstanceId
  /** The kind of statement. */
  readonly attestation_type: string
  /** The statement, for people. */
  readonly statement: string
  /** When it came into being. */
  readonly created_at: Timestamp
  /** `active` or `revoked`. */
  readonly status: 'active' | 'revoked'
  /** The client that submitted it; `import`, a space and the ID of a ledger: it came from there. */
  readonly submitted_by: string
  /** Whether the key of the account `attester` signed it. */
  readonly attester_verified: boolean
  /** When it came from another ledger; since then this one vouches for it. */
  readonly imported_at?: Timestamp
  /** When it was taken back. */
  readonly revoked_at?: Timestamp
  /** The client that took it back. */
  readonly revoked_by?: string
  /** Why. */
  readonly revocation_reason?: string
}

/** One page of an audit chain. */
export interface AuditChain {
  /** The account. */
  readonly account_id: AccountId
  /** The entries of this page. */
  readonly entries: readonly AuditEntry[]
  /** Where the next page begins; empty on the last one. */
  readonly next_page_token: PageToken
  /** The number of items on all pages. */
  readonly total_count: number
  /** `eq`: `total_count` is exact. `gte`: it is a lower bound. */
  readonly total_count_relation: 'eq' | 'gte'
}

/** An entry of an audit chain. */
export interface AuditEntry {
  /** The number of an entry in an account’s audit chain, from 0. */
  readonly sequence: number
  /** The transaction; null for registrations, key rotations, changes of status and erasures. */
  readonly txn_id: TransactionId | null
  /** The hash of the entry before; of the first entry, 32 zero bytes. */
  readonly previous_hash: Hash
  /** The hash of an entry in an account’s audit chain. */
  readonly audit_hash: Hash
  /** Canonical JSON: exactly what was hashed, a random salt included; null of an account that was erased. */
  readonly payload: string | null
  /** The account was erased; left out of others. */
  readonly erased?: true
}

/** The balance of the account in the token. */
export interface Balance {
  /** The account. */
  readonly account_id: AccountId
  /** The token; `BASE` for the ledger’s own unit. An NFT has none. */
  readonly token_id: TokenId
  /** Always `fungible`. */
  readonly token_class: 'fungible'
  /** All that is the account’s. */
  readonly balance: Quantity
  /** The part of `balance` that is not on hold and can be spent. */
  readonly available: Quantity
  /** Value on its way to the account; part of neither `balance` nor `available`. */
  readonly incoming: Quantity
  /** How many fractional digits amounts of the token have at most. */
  readonly decimals: number
  /** When it last changed. */
  readonly updated_at: Timestamp
  /** The time that was asked for; absent without `as_of`. */
  readonly as_of?: Timestamp
  /** The entry of the chain that states the balance; absent without `as_of`. */
  readonly sequence?: number
}

/** One page of what an account holds. */
export interface BalanceList {
  /** The account. */
  readonly account_id: AccountId
  /** The balances of this page. */
  readonly balances: readonly TokenBalance[]
  /** Where the next page begins; empty on the last one. */
  readonly next_page_token: PageToken
}

/** An order of a batch that was accepted. */
export interface BatchAccepted {
  /** As HTTP has it. */
  readonly status: 202
  readonly receipt: SubmissionReceipt
  /** It was accepted before: this is the first receipt. */
  readonly replayed?: true
  /** True if the accepted request had another payload. */
  readonly payload_mismatch?: true
}

/** An order of a batch that was not. */
export interface BatchRefused {
  /** As HTTP has it. */
  readonly status: 400 | 403 | 404 | 409 | 503
  /** Why. */
  readonly problem: Problem
}

/** The result of each order of a batch. */
export interface BatchResults {
  /** One for each order, in their order. */
  readonly results: readonly (BatchAccepted | BatchRefused)[]
}

/** An NFT class: `cls_` and a ULID. */
export type ClassId = string

/** A client of the API, without its secret. */
export interface Client {
  /** The client. */
  readonly client_id: string
  /** The key that it signs assertions with; null for a client with a secret. */
  readonly key_id: KeyId | null
  /** Its role. */
  readonly role: 'viewer' | 'transactor' | 'admin'
  /** Whether it may bring value in from outside the ledger: in all tokens, in none, or in these. */
  readonly boundary: boolean | readonly string[]
  /** The accounts that it is limited to, by ID or prefix; null: all. */
  readonly accounts: readonly string[] | null
  /** Its limit of requests per second, with the burst; null: the default of the ledger. */
  readonly rate: string | null
  /** When it came into being. */
  readonly created_at: Timestamp
  /** When it was revoked; null: it is not. */
  readonly revoked_at: Timestamp | null
}

/** A client asks with an assertion that its key has signed. */
export interface ClientAssertionRequest {
  /** Says that this is a JWT. */
  readonly client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
  /** The signed JWT. */
  readonly client_assertion: string
  /** May be left out. */
  readonly grant_type?: 'client_credentials' | null
}

/** One page of clients. */
export interface ClientList {
  /** The clients of this page. */
  readonly clients: readonly Client[]
  /** Where the next page begins; empty on the last one. */
  readonly next_page_token: PageToken
}

/** A new client. */
export interface ClientRegistration {
  /** Its ID, which no other client has or had. Must be 1 to 128 printable ASCII characters without spaces, other than "." and "..". */
  readonly client_id: string
  /** Its role. */
  readonly role: 'viewer' | 'transactor' | 'admin'
  /** Whether it may bring value in from outside the ledger: in all tokens, in none, or in these. Left out: in the sandbox as the client that makes it, in production `false`. */
  readonly boundary?: boolean | readonly string[] | null
  /** The accounts that it may see and use, by ID, or by a prefix that ends in `*`. Left out: all. */
  readonly accounts?: readonly string[] | null
  /** The limit of its requests per second, at all edges together. Left out: the default of the ledger. */
  readonly rate?: string | null
  /** The key that it signs assertions with, in place of a secret. Left out: the ledger makes a secret. */
  readonly public_key?: PublicKey | null
}

/** A secret of 256 random bits: `lsk_` and base64url. */
export type ClientSecret = string

/** The results of the controls, signed. */
export interface ComplianceAssertion {
  /** The type of the assertion. */
  readonly assertion_type: 'proof-of-compliance'
  /** The requester that the client named. */
  readonly requester: string
  /** The findings. */
  readonly result: ComplianceResult
  /** The service’s, over the canonical JSON (RFC 8785) of `result`. */
  readonly signature: ServiceSignature
}

/** The results of the controls. */
export interface ComplianceResult {
  /** Whether every control passed, and at least one ran. */
  readonly compliant: boolean
  /** The frameworks that the controls make up. */
  readonly frameworks: readonly string[]
  /** The result of each control. */
  readonly controls: readonly ControlOutcome[]
  /** The moment that it tells of. */
  readonly as_of: Timestamp
  /** When the last complete pass ended; null before there was one. */
  readonly last_full_pass_at: Timestamp | null
  /** The type of the assertion. */
  readonly assertion_type: 'proof-of-compliance'
  /** The requester that the client named. */
  readonly requester: string
  /** The ledger. */
  readonly ledger_id: string
  /** The key of the service that signs. */
  readonly key_id: KeyId
  /** When it was signed. */
  readonly generated_at: Timestamp
}

/** The result of one control. */
export interface ControlOutcome {
  /** The control. */
  readonly name: string
  /** Whether nothing was wrong. */
  readonly passed: boolean
  /** How many things were looked at. */
  readonly checked: number
  /** How many of them were wrong. */
  readonly failed: number
}

/** A new client. */
export interface CreatedClient {
  /** The client. */
  readonly client_id: string
  /** The key that it signs assertions with; null for a client with a secret. */
  readonly key_id: KeyId | null
  /** Its role. */
  readonly role: 'viewer' | 'transactor' | 'admin'
  /** Whether it may bring value in from outside the ledger: in all tokens, in none, or in these. */
  readonly boundary: boolean | readonly string[]
  /** The accounts that it is limited to, by ID or prefix; null: all. */
  readonly accounts: readonly string[] | null
  /** Its limit of requests per second, with the burst; null: the default of the ledger. */
  readonly rate: string | null
  /** When it came into being. */
  readonly created_at: Timestamp
  /** When it was revoked; null: it is not. */
  readonly revoked_at: Timestamp | null
  /** Its secret, which is shown only here; left out for a client with a key. */
  readonly client_secret?: ClientSecret
}

/** A webhook with its secret, which is shown only here. */
export interface CreatedWebhook {
  /** The webhook. */
  readonly webhook_id: WebhookId
  /** The receiver. */
  readonly url: string
  /** Only events of these types; empty: all. */
  readonly types: readonly string[]
  /** Only events that concern this account. */
  readonly account_id?: AccountId
  /** For people. */
  readonly description?: string
  /** The client that registered it. Its scope decides which events are sent. */
  readonly owner: string
  /** When it came into being. */
  readonly created_at: Timestamp
  /** A disabled webhook gets no events until it is enabled. */
  readonly status: 'active' | 'disabled'
  /** When it was disabled. */
  readonly disabled_at?: Timestamp
  /** `delivery_failed`: no attempt succeeded for five days. `client_revoked`: its owner was revoked. `position_lost`: the database was replaced, so that its place in the log has no meaning any more. */
  readonly disabled_reason?: 'delivery_failed' | 'client_revoked' | 'position_lost'
  /** How many events the receiver has accepted. */
  readonly delivered_count: number
  /** Consecutive failed attempts of the next event. */
  readonly failure_count: number
  /** The first of these attempts. */
  readonly failing_since?: Timestamp
  /** When the next attempt is made, at the earliest; only after a failed one. */
  readonly next_attempt_at?: Timestamp
  /** Verify messages with it. */
  readonly secret: WebhookSecret
}

/** A client asks with its secret. */
export interface CredentialsRequest {
  /** The client, as the operator named it. */
  readonly client_id: string
  /** Its secret. */
  readonly client_secret: string
  /** May be left out. */
  readonly grant_type?: 'client_credentials' | null
}

/** Another account, group, token or NFT that would still decide the order. */
export interface Decider {
  /** `exchange`: the other party, by its mirror exchange under the same group ID. */
  readonly kind: 'account' | 'settlement_group' | 'exchange' | 'token' | 'nft_instance'
  /** The account, the group, the token in lower case, or the NFT as `class/instance`. */
  readonly id: string
}

/** The account has declined its legs: the group reverts. */
export interface DeclinedGroup {
  /** The group. */
  readonly group_id: GroupId
  /** The account. */
  readonly account_id: AccountId
  /** Always true. */
  readonly declined: true
}

/** The result that the order would have now. */
export interface DryRunResult {
  /** `pending`: the account accepts it, and others would decide it. */
  readonly outcome: 'completed' | 'failed' | 'pending'
  /** Why it would fail. */
  readonly failure?: TransactionFailure
  /** The balance of the asset that the order gives. Absent for an NFT. */
  readonly balance_after?: Quantity
  /** The part of it that nothing reserves. Absent for an NFT. */
  readonly available_after?: Quantity
  /** Those that would still decide it. Empty if the outcome is `failed`. */
  readonly decided_by: readonly Decider[]
}

/** A request to erase an account. */
export interface Erasure {
  /** Why; it is destroyed with the rest. Must be 1 to 1,024 characters. */
  readonly reason: string
}

/** One event of the ledger: CloudEvents 1.0. */
export interface Event {
  /** The version of CloudEvents. */
  readonly specversion: '1.0'
  /** The same each time that the event is delivered. */
  readonly id: string
  /** `urn:ledger:` and the ID of the ledger. */
  readonly source: string
  /** New types may come. */
  readonly type:
    | 'ledger.transaction.completed.v1'
    | 'ledger.transaction.failed.v1'
    | 'ledger.group.settled.v1'
    | 'ledger.group.reverted.v1'
    | 'ledger.account.registered.v1'
    | 'ledger.account.key_registered.v1'
    | 'ledger.account.key_rotated.v1'
    | 'ledger.account.status_changed.v1'
    | 'ledger.account.paused.v1'
    | 'ledger.account.resumed.v1'
    | 'ledger.account.imported.v1'
    | 'ledger.account.leg_settled.v1'
    | 'ledger.account.changed.v1'
    | 'ledger.account.erased.v1'
    | 'ledger.account.redacted.v1'
    | 'ledger.hold.created.v1'
    | 'ledger.hold.released.v1'
    | 'ledger.hold.expired.v1'
    | 'ledger.nft.minted.v1'
    | 'ledger.nft.transferred.v1'
    | 'ledger.nft.burned.v1'
    | 'ledger.attestation.created.v1'
    | 'ledger.attestation.revoked.v1'
  /** The account, the group, or the NFT as `class/instance`. An erased account has a pseudonym. */
  readonly subject: string
  /** The time of the fact. Absent if it was erased or is unknown. */
  readonly time?: Timestamp
  /** The media type of `data`. */
  readonly datacontenttype: 'application/json'
  /** Of a transaction: `transaction` and its signed `receipt`. Of an account or a hold: the entry of the account’s chain. Of a group, an NFT or an attestation: its resource. `erased` is true if the account was erased since. */
  readonly data: { readonly [name: string]: unknown }
}

/** One page of events. */
export interface EventList {
  /** The events of this page, oldest first. */
  readonly events: readonly Event[]
  /** To be sent as `after`. Never absent. */
  readonly next_cursor: string
}

/** The asset that an exchange brings: a token, or one NFT. */
export interface ExchangeReturn {
  /** How much comes; `"1"` for an NFT. */
  readonly amount: Amount
  /** The token; `BASE` for the ledger’s own unit. An NFT has none. */
  readonly token_id?: TokenId
  /** The class of an NFT. Must be the ID of an NFT class. */
  readonly class_id?: string
  /** The NFT within its class. Must be the ID of an instance. */
  readonly instance_id?: string
}

/** A leg that a group expects of the account and that it has not signed. */
export interface Expectation {
  /** The group. */
  readonly group_id: GroupId
  /** The `terms_hash` for the leg’s submission. */
  readonly terms_hash: Hash
  /** The index of the leg in the terms, from 0. */
  readonly leg: number
  /** `own`: the account submits the leg; `receiver`: the leg is a transfer to it. */
  readonly role: 'own' | 'receiver'
  /** The leg as registered. */
  readonly terms: {
    /** The account. */
    readonly account_id: AccountId
    /** The type of the transaction. */
    readonly type: 'debit' | 'credit' | 'transfer' | 'exchange' | 'mint' | 'burn'
    /** How much moves. */
    readonly amount: Amount
    /** The token; `BASE` for the ledger’s own unit. An NFT has none. */
    readonly token_id?: TokenId
    /** The class of an NFT. */
    readonly class_id?: ClassId
    /** The NFT within its class. */
    readonly instance_id?: InstanceId
    /** The account that the value goes to. */
    readonly to_account_id?: AccountId
    /** The other side of the leg is outside the ledger. */
    readonly boundary?: true
  }
  /** The client that registered the group. */
  readonly registered_by: string
  /** When the group reverts unless all its legs are in. */
  readonly due_at: Timestamp
}

/** The legs that settlement groups expect of an account. */
export interface ExpectationList {
  /** The account. */
  readonly account_id: AccountId
  /** By group ID and leg. */
  readonly expectations: readonly Expectation[]
  /** Where the next page begins; empty on the last one. */
  readonly next_page_token: PageToken
}

/** The accounts to export and the receiving ledger. Either `account_ids` or `all`. */
export interface ExportRequest {
  /** The identifier of who asks; it is signed. Must be 1 to 256 characters. */
  readonly requester: string
  /** The accounts, 1 to 1,000. */
  readonly account_ids?: readonly AccountId[] | null
  /** All of them. Not with `move`. */
  readonly all?: true | null
  /** `copy`, unless said: nothing changes here. `move`: the accounts are emptied and closed. */
  readonly mode?: 'copy' | 'move' | null
  /** The `ledger_id` of the ledger that it is for. Must be the ledger_id of the ledger that it is for. */
  readonly audience: string
  /** The `public_key` of `GET /v1/imports/key` of that ledger: a P-256 key, in any form that is taken for accounts. */
  readonly recipient_public_key: PublicKey
}

/** A fungible token. */
export interface FungibleToken {
  /** The token; `BASE` for the ledger’s own unit. An NFT has none. */
  readonly token_id: TokenId
  /** The same as `token_id`. */
  readonly symbol: TokenId
  /** How many fractional digits its amounts have at most. */
  readonly decimals: number
  /** The account that alone may mint more of it. */
  readonly issuer: AccountId
  /** How much of it there is, mints and burns counted. */
  readonly total_supply: Quantity
  /** When it came into being. */
  readonly created_at: Timestamp
}

/** One page of tokens. */
export interface FungibleTokenList {
  /** The tokens of this page. */
  readonly tokens: readonly FungibleToken[]
  /** Where the next page begins; empty on the last one. */
  readonly next_page_token: PageToken
  /** The number of items on all pages. */
  readonly total_count: number
  /** `eq`: `total_count` is exact. `gte`: it is a lower bound. */
  readonly total_count_relation: 'eq' | 'gte'
}

/** An account declines the legs that a group expects of it. */
export interface GroupDecline {
  /** The group of the path. Must be a UUID. */
  readonly group_id: string
  /** The account, which signs. */
  readonly account_id: AccountId
  /** The hash of the declined terms. */
  readonly terms_hash: string
  /** The intended ledger. Required in production. Must be the ID of a ledger. */
  readonly ledger_id?: string
  /** The signature over the rest. */
  readonly signature: Signature
}

/** A UUID in lower case that links transactions, or names a settlement group. */
export type GroupId = string

/** One leg, and what has become of it. */
export interface GroupLeg {
  /** The account that submits the leg. */
  readonly account_id: AccountId
  /** The type of the transaction. */
  readonly type: 'debit' | 'credit' | 'transfer' | 'exchange' | 'mint' | 'burn'
  /** How much moves; `"1"` for an NFT. */
  readonly amount: Amount
  /** The token; `BASE` for the ledger’s own unit. An NFT has none. */
  readonly token_id?: TokenId
  /** The class of an NFT. */
  readonly class_id?: ClassId
  /** The NFT within its class. */
  readonly instance_id?: InstanceId
  /** In transfers: the receiver. The leg covers both sides. */
  readonly to_account_id?: AccountId
  /** Its other side is outside the ledger. */
  readonly boundary?: true
  /** The state of the leg. */
  readonly leg_status: 'expected' | 'completed' | 'failed' | 'compensated'
  /** The transaction that is the leg, once it is in. */
  readonly txn_id?: TransactionId
}

/** The part of one account in the group: with a token, or with an NFT. */
export interface GroupLegTerms {
  /** The account that submits the leg. */
  readonly account_id: AccountId
  /** The type of the transaction. */
  readonly type: 'debit' | 'credit' | 'transfer' | 'exchange' | 'mint' | 'burn'
  /** How much moves; `"1"` for an NFT. */
  readonly amount: Amount
  /** The token; `BASE` for the ledger’s own unit. An NFT has none. */
  readonly token_id?: TokenId | null
  /** The class of an NFT. */
  readonly class_id?: ClassId | null
  /** The NFT within its class. */
  readonly instance_id?: InstanceId | null
  /** In transfers: the receiver. The leg covers both sides. */
  readonly to_account_id?: AccountId | null
  /** Its other side is outside the ledger. */
  readonly boundary?: boolean | null
}

/** The terms of a settlement group. At most 65,536 characters. */
export interface GroupRegistration {
  /** Chosen by the client, or by the service. */
  readonly group_id?: string | null
  /** The parts of the accounts, in this order. */
  readonly legs: readonly GroupLegTerms[]
  /** How long the legs may take. */
  readonly timeout_seconds?: number | null
}

/** Why a group is to be reverted, and for a linked one what. */
export interface GroupRevert {
  /** Why. Must be 1 to 256 characters. */
  readonly reason: string
  /** Of a linked group: the transactions to be undone. */
  readonly txn_ids?: readonly string[] | null
}

/** The transactions under one group ID. */
export interface GroupTransactions {
  /** Links the transaction with others. */
  readonly group_id: GroupId
  /** The transactions of this page. */
  readonly transactions: readonly GroupedTransaction[]
  /** Where the next page begins; empty on the last one. */
  readonly next_page_token: PageToken
}

/** A transaction, as the list of its group shows it. Has token_id, or class_id and instance_id. */
export interface GroupedTransaction {
  /** The transaction. */
  readonly txn_id: TransactionId
  /** The account. */
  readonly account_id: AccountId
  /** How much moves. */
  readonly amount: Amount
  /** The type of the transaction. */
  readonly type: 'debit' | 'credit' | 'transfer' | 'exchange' | 'mint' | 'burn'
  /** The token; `BASE` for the ledger’s own unit. An NFT has none. */
  readonly token_id?: TokenId
  /** The class of an NFT. */
  readonly class_id?: ClassId
  /** The NFT within its class. */
  readonly instance_id?: InstanceId
  /** The status: `completed` and `failed` are final. */
  readonly status: 'pending' | 'completed' | 'failed'
}

/** A SHA-256 hash: `sha256:` and 64 hexadecimal digits. */
export type Hash = string

/** The process answers. */
export interface Health {
  /** Always `ok`. */
  readonly status: 'ok'
}

/** Value of a payer that its beneficiary may capture. */
export interface Hold {
  readonly hold_id: HoldId
  /** `active`; `captured`: nothing remains; `released`; `expired`. All but `active` are final. */
  readonly status: 'active' | 'captured' | 'released' | 'expired'
  /** The payer. */
  readonly account_id: AccountId
  /** The beneficiary. */
  readonly to_account_id: AccountId
  /** The token; `BASE` for the ledger’s own unit. An NFT has none. */
  readonly token_id: TokenId
  /** How much was put on hold. */
  readonly amount: Quantity
  /** The sum of its captures. */
  readonly captured: Quantity
  /** How much can still be captured. */
  readonly remaining: Quantity
  /** As it was signed; absent once the hold has ended. */
  readonly metadata?: { readonly [name: string]: string }
  /** When it expires, unless it has ended. */
  readonly expires_at: Timestamp
  /** When it came into being. */
  readonly created_at: Timestamp
  /** When it ended. Absent while it is active. */
  readonly ended_at?: Timestamp
}

/** A signed order of the beneficiary that captures a hold. */
export interface HoldCapture {
  /** The hold of the path, so that it is signed. Must be a hold ID. */
  readonly hold_id: string
  /** The beneficiary, whose key signs. */
  readonly account_id: AccountId
  /** How much; at most what remains. */
  readonly amount: Amount
  /** True releases what then remains. False by default. */
  readonly final?: boolean
  /** The ledger that this is for, as `/readyz` tells it. Required in production. Must be the ID of a ledger. */
  readonly ledger_id?: string
  /** Identifies the request: a retry with the same key is not applied again. */
  readonly idempotency_key: IdempotencyKey
  /** The signature over the rest. */
  readonly signature: Signature
}

/** A hold: `hld_` and a ULID. */
export type HoldId = string

/** One page of holds. */
export interface HoldList {
  /** The account. */
  readonly account_id: AccountId
  /** The holds of this page. */
  readonly holds: readonly Hold[]
  /** Where the next page begins; empty on the last one. */
  readonly next_page_token: PageToken
}

/** A signed order that puts value on hold. */
export interface HoldOrder {
  /** The payer, whose key signs. */
  readonly account_id: AccountId
  /** The beneficiary, which may capture the hold. */
  readonly to_account_id: AccountId
  /** How much. At most as many fractional digits as the token has decimals. */
  readonly amount: Amount
  /** The token; without it (or with `BASE`) the ledger’s own unit. */
  readonly token_id?: TokenId
  /** When the hold expires; at most 90 days from now. Must be an RFC 3339 timestamp with an offset. */
  readonly expires_at: string
  /** Up to 16 strings for the client’s own use. */
  readonly metadata?: OrderMetadata
  /** The ledger that this is for, as `/readyz` tells it. Required in production. Must be the ID of a ledger. */
  readonly ledger_id?: string
  /** Identifies the request: a retry with the same key is not applied again. */
  readonly idempotency_key: IdempotencyKey
  /** The signature over the rest. */
  readonly signature: Signature
}

/** Ends a hold: signed by its beneficiary, or with the `reason` of an administrator. */
export interface HoldRelease {
  /** The hold of the path. Required with `signature`. Must be a hold ID. */
  readonly hold_id?: string
  /** The beneficiary, whose key signs. Required with `signature`. */
  readonly account_id?: AccountId
  /** The ledger that this is for, as `/readyz` tells it. Required in production. Must be the ID of a ledger. */
  readonly ledger_id?: string
  /** The signature over the rest. */
  readonly signature?: Signature
  /** Why. Without `signature`, from an administrator. Must be 1 to 256 characters. */
  readonly reason?: string
}

/** Chosen by the client, once per account and kind of order; never expires. Sent again, it gets the first answer again. Must be 1 to 255 printable ASCII characters. */
export type IdempotencyKey = string

/** An import. */
export interface Import {
  /** The import. */
  readonly import_id: string
  /** `staging`: parts are missing. `checking`, `applying`: nothing is decided. `taking`: it will be `done`. `refusing`: it will be `refused`. */
  readonly status: 'staging' | 'checking' | 'applying' | 'taking' | 'done' | 'refusing' | 'refused'
  /** The part that comes next. */
  readonly next_part: number
  /** How many lines of the file are here. */
  readonly lines: number
  /** How many steps are done. */
  readonly done?: number
  /** How many steps there are; 0 before they were counted. */
  readonly total?: number
  /** Its contents, once it is `done`. */
  readonly summary?: ImportSummary
  /** Why, once it is `refused`. */
  readonly refusal?: ImportRefusal
}

/** An import that has ended. */
export interface ImportDone {
  /** The import. */
  readonly import_id: string
  /** Always `done`. */
  readonly status: 'done'
  /** Its contents. */
  readonly summary: ImportSummary
}

/** The values that another ledger needs to export to this one. */
export interface ImportKey {
  /** The ledger. */
  readonly ledger_id: string
  /** The key to encrypt balances to. */
  readonly public_key: PublicJwk
  /** The key: its RFC 7638 thumbprint. */
  readonly key_id: KeyId
}

/** Lines of an export, in their order. */
export interface ImportPart {
  /** Chosen by the client: names the import over all its parts. Must be a UUID. */
  readonly import_id: string
  /** Which part it is, from 0. */
  readonly part: number
  /** The lines of the file, unchanged. */
  readonly records: readonly { readonly [name: string]: unknown }[]
  /** Whether it ends the file. */
  readonly last: boolean
}

/** Why nothing of an import was taken in. */
export interface ImportRefusal {
  /** An explanation of this occurrence, for people. */
  readonly detail: string
  /** For programs: every code that applies. */
  readonly error_codes: readonly string[]
  /** Which records and fields. */
  readonly errors: readonly {
    /** The field as `legs[0].amount`, or the name of the parameter or header. Empty for a member whose name is empty. */
    readonly field: string
    /** The rule that the field breaks. */
    readonly message: string
  }[]
}

/** The contents of an import. */
export interface ImportSummary {
  /** Accounts. */
  readonly accounts: number
  /** Fungible tokens. */
  readonly tokens: number
  /** NFT classes. */
  readonly nft_classes: number
  /** NFTs. */
  readonly nft_instances: number
  /** Attestations. */
  readonly attestations: number
  /** How many of all of these were here already and stayed as they were. */
  readonly present: number
}

/** An import that has not ended. */
export interface ImportUnderWay {
  /** The import. */
  readonly import_id: string
  /** `staging`: parts are missing. `checking`, `applying`: nothing is decided. `taking`: it will be `done`. `refusing`: it will be `refused`. */
  readonly status: 'staging' | 'checking' | 'applying' | 'taking' | 'refusing'
  /** The part that comes next. */
  readonly next_part?: number
  /** How many lines of the file are here. */
  readonly lines?: number
  /** How many steps are done. */
  readonly done?: number
  /** How many steps there are; 0 before they were counted. */
  readonly total?: number
}

/** One share of a balance in the tree of its token. */
export interface InclusionShare {
  /** The number of its leaf. */
  readonly index: number
  /** How much of the balance it is. */
  readonly amount: Quantity
  /** The random value that blinds the leaf. */
  readonly nonce: string
  /** The hashes and sums beside the way to the root, from the leaf up. */
  readonly siblings: readonly {
    /** The hash of a node. */
    readonly hash: Hash
    /** The sum of all leaves below the node. */
    readonly sum: Total
  }[]
}

/** An NFT within its class; formed like an account ID. */
export type InstanceId = string

/** The RFC 7638 thumbprint of a P-256 key. */
export type KeyId = string

/** A new key for an account, signed by the one in force. */
export interface KeyRotation {
  /** The account of the path, so that it is signed. */
  readonly account_id: AccountId
  /** The key under which the account’s orders are verified. */
  readonly public_key: PublicKey
  /** Identifies the request: a retry with the same key is not applied again. */
  readonly idempotency_key: IdempotencyKey
  /** By the key in force, over the body without `signature` and `proof`. */
  readonly signature: Signature
  /** By the new key, over the same payload. */
  readonly proof?: Signature
  /** The ledger. Must be the ID of a ledger. */
  readonly ledger_id?: string
}

/** The public keys of the service. */
export interface KeySet {
  /** The ledger. */
  readonly ledger_id: string
  /** Every key that ever signed. */
  readonly keys: readonly PublishedKey[]
}

/** The liabilities of the ledger, signed. */
export interface LiabilitiesAssertion {
  /** The type of the assertion. */
  readonly assertion_type: 'proof-of-liabilities'
  /** The requester that the client named. */
  readonly requester: string
  /** The findings. */
  readonly result: LiabilitiesResult
  /** The service’s, over the canonical JSON (RFC 8785) of `result`. */
  readonly signature: ServiceSignature
}

/** The liabilities of the ledger. */
export interface LiabilitiesResult {
  /** The sum over all fungible assets. */
  readonly total_liabilities: Total
  /** The hash over every token with its root and total. */
  readonly merkle_root: Hash
  /** The total of each token. */
  readonly by_token: readonly {
    /** The token; `BASE` for the ledger’s own unit. An NFT has none. */
    readonly token_id: TokenId
    /** The total of the token. */
    readonly total: Total
  }[]
  /** The moment that it tells of. */
  readonly as_of: Timestamp
  /** The type of the assertion. */
  readonly assertion_type: 'proof-of-liabilities'
  /** The requester that the client named. */
  readonly requester: string
  /** The ledger. */
  readonly ledger_id: string
  /** The key of the service that signs. */
  readonly key_id: KeyId
  /** When it was signed. */
  readonly generated_at: Timestamp
}

/** One page of the proof that an account is counted in. */
export interface LiabilityProof {
  /** The account. */
  readonly account_id: AccountId
  /** The hash that the assertion names. */
  readonly merkle_root: Hash
  /** Every token with the root of its tree: what `merkle_root` is over. */
  readonly totals: readonly {
    /** The token; `BASE` for the ledger’s own unit. An NFT has none. */
    readonly token_id: TokenId
    /** The root of the token’s tree. */
    readonly root: Hash
    /** The total of the token. */
    readonly total: Total
  }[]
  /** The tokens that the account holds. */
  readonly proofs: readonly TokenInclusion[]
  /** The signed total, for the client that asks. */
  readonly assertion: LiabilitiesAssertion
  /** Where the next page begins; empty on the last one. */
  readonly next_page_token: PageToken
}

/** A change of a balance. */
export interface Movement {
  /** The entry of the account’s chain that states it. */
  readonly sequence: number
  /** The transaction; null for the balance that an imported account brought. */
  readonly txn_id: TransactionId | null
  /** The type of the transaction, or `import`. */
  readonly type: 'debit' | 'credit' | 'transfer' | 'exchange' | 'mint' | 'burn' | 'import'
  /** The change, with `+` or `-`. */
  readonly amount: string
  /** The balance after it. */
  readonly balance_after: Quantity
  readonly timestamp: Timestamp
}

/** An NFT class. */
export interface NftClass {
  /** The class of an NFT. */
  readonly class_id: ClassId
  /** Its name, unique. */
  readonly name: string
  /** A description, for people. */
  readonly description: string
  /** The account that alone mints in it. */
  readonly issuer: AccountId
  /** The JSON Schema of the metadata. */
  readonly metadata_schema: { readonly [name: string]: unknown }
  /** When it came into being. */
  readonly created_at: Timestamp
}

/** One page of classes. */
export interface NftClassList {
  /** The classes of this page. */
  readonly classes: readonly NftClassSummary[]
  /** Where the next page begins; empty on the last one. */
  readonly next_page_token: PageToken
  /** The number of items on all pages. */
  readonly total_count: number
  /** `eq`: `total_count` is exact. `gte`: it is a lower bound. */
  readonly total_count_relation: 'eq' | 'gte'
}

/** A new class. */
export interface NftClassRegistration {
  /** Its name, unique. Must be 1 to 256 characters. */
  readonly name: string
  /** A description, for people. Must be at most 4,096 characters. */
  readonly description: string
  /** The account that alone mints in it. */
  readonly issuer: AccountId
  /** The JSON Schema that the metadata of every instance satisfies. */
  readonly metadata_schema: { readonly [name: string]: unknown }
  /** The issuer’s, over the body without `signature`. */
  readonly signature?: Signature | null
}

/** An NFT class, as lists show it. */
export interface NftClassSummary {
  /** The class of an NFT. */
  readonly class_id: ClassId
  /** Its name, unique. */
  readonly name: string
  /** The account that alone mints in it. */
  readonly issuer: AccountId
  /** When it came into being. */
  readonly created_at: Timestamp
}

/** An NFT. */
export interface NftInstance {
  /** The class of an NFT. */
  readonly class_id: ClassId
  /** The NFT within its class. */
  readonly instance_id: InstanceId
  /** The owner; of a burned NFT, the last owner. */
  readonly owner: AccountId
  /** `active`; `held` by a transaction or a group, and still its sender’s; `burned`. */
  readonly status: 'active' | 'held' | 'burned'
  /** Data that satisfies the schema of the class. */
  readonly metadata: { readonly [name: string]: unknown }
  /** When it came into being. */
  readonly minted_at: Timestamp
}

/** One page of NFTs. */
export interface NftInstanceList {
  /** The class of an NFT. */
  readonly class_id: ClassId
  /** The NFTs of this page. */
  readonly instances: readonly NftInstanceSummary[]
  /** Where the next page begins; empty on the last one. */
  readonly next_page_token: PageToken
}

/** An NFT, as the list of its class shows it. */
export interface NftInstanceSummary {
  /** The NFT within its class. */
  readonly instance_id: InstanceId
  /** The owner; of a burned NFT, the last owner. */
  readonly owner: AccountId
  /** `active`; `held` by a transaction or a group, and still its sender’s; `burned`. */
  readonly status: 'active' | 'held' | 'burned'
  /** Data that satisfies the schema of the class. */
  readonly metadata: { readonly [name: string]: unknown }
  /** When it came into being. */
  readonly minted_at: Timestamp
}

/** A signed mint. */
export interface NftMint {
  /** The class of the path, so that it is signed. */
  readonly class_id: string
  /** The NFT’s ID within the class, chosen by the issuer. Must be 1 to 128 characters of a-z, A-Z, 0-9 and _ . - : @. */
  readonly instance_id: string
  /** The issuer of the class, whose key signs. */
  readonly account_id: AccountId
  /** The first owner; the issuer by default. */
  readonly owner?: AccountId
  /** Data about the NFT. */
  readonly metadata: { readonly [name: string]: unknown }
  /** The ledger that this is for, as `/readyz` tells it. Required in production. Must be the ID of a ledger. */
  readonly ledger_id?: string
  /** Identifies the request: a retry with the same key is not applied again. */
  readonly idempotency_key: IdempotencyKey
  /** The signature over the rest. */
  readonly signature: Signature
}

/** A flat object of at most 16 strings, with keys of 1 to 64 characters, and 4,096 bytes in all. */
export type OrderMetadata = { readonly [name: string]: string }

/** An NFT that the account owns. */
export interface OwnedNft {
  /** The class of an NFT. */
  readonly class_id: ClassId
  /** The NFT within its class. */
  readonly instance_id: InstanceId
  /** The name of its class. */
  readonly class_name: string
  /** `active`, or `held` by a transaction or a group. */
  readonly status: 'active' | 'held'
  /** Data about the NFT. */
  readonly metadata: { readonly [name: string]: unknown }
  /** When it became the account’s. */
  readonly acquired_at: Timestamp
}

/** One page of what an account owns. */
export interface OwnedNftList {
  /** The account. */
  readonly account_id: AccountId
  /** The NFTs of this page. */
  readonly nfts: readonly OwnedNft[]
  /** Where the next page begins; empty on the last one. */
  readonly next_page_token: PageToken
}

/** One change of hands. Has from unless it is the mint. */
export interface OwnershipEntry {
  /** The previous owner; null for the mint. */
  readonly from: AccountId | null
  /** The new owner; for the burn, the last owner. */
  readonly to: AccountId
  /** The transaction. */
  readonly txn_id: TransactionId
  /** The type of the event. */
  readonly type: 'mint' | 'transfer' | 'burn'
  /** When. */
  readonly timestamp: Timestamp
}

/** One page of the owners of an NFT. */
export interface OwnershipHistory {
  /** The class of an NFT. */
  readonly class_id: ClassId
  /** The NFT within its class. */
  readonly instance_id: InstanceId
  /** The entries of this page. */
  readonly history: readonly OwnershipEntry[]
  /** Where the next page begins; empty on the last one. */
  readonly next_page_token: PageToken
}

/** Where the next page begins; empty on the last one. Opaque: send it back as `page_token`. */
export type PageToken = string

/** Why an account is paused, or resumed. */
export interface Pause {
  /** The reason, which the audit chain records. Must be 1 to 1,024 characters. */
  readonly reason: string
}

/** Why a request was refused, or could not be answered (RFC 9457). */
export interface Problem {
  /** Which kind of problem this is: an address that explains it. */
  readonly type: string
  /** The kind of problem in words. */
  readonly title: string
  /** The HTTP status. */
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 429 | 503
  /** An explanation of this occurrence. */
  readonly detail: string
  /** The path of the request as it was sent, percent-encoded. */
  readonly instance: string
  /** The ID of the request, as in the header `X-Request-Id`. Quote it in a support request. */
  readonly request_id: string
  /** Each part of the request that is wrong: in every 400, and where a body names what does not exist. At most 100. */
  readonly errors?: readonly {
    /** The field as `legs[0].amount`, or the name of the parameter or header. Empty for a member whose name is empty. */
    readonly field: string
    /** The rule that the field breaks. */
    readonly message: string
  }[]
  /** For programs: every code that applies. */
  readonly error_codes: readonly (
    | 'ERR_NOT_FOUND'
    | 'ERR_INSUFFICIENT_FUNDS'
    | 'ERR_CONFLICT'
    | 'ERR_PAYLOAD_TOO_LARGE'
    | 'ERR_UNSUPPORTED_CONTENT_TYPE'
    | 'ERR_SHARD_UNAVAILABLE'
    | 'ERR_DOWNSTREAM_FAILURE'
    | 'ERR_INVALID_ACCOUNT_ID'
    | 'ERR_INVALID_AMOUNT'
    | 'ERR_INVALID_TYPE'
    | 'ERR_INVALID_SIGNATURE'
    | 'ERR_INVALID_IDEMPOTENCY_KEY'
    | 'ERR_INVALID_GROUP_ID'
    | 'ERR_SELF_TRANSFER'
    | 'ERR_INVALID_TOKEN_ID'
    | 'ERR_INVALID_SYMBOL'
    | 'ERR_INVALID_DECIMALS'
    | 'ERR_INVALID_ISSUER'
    | 'ERR_INVALID_TOTAL_SUPPLY'
    | 'ERR_INVALID_INITIAL_SUPPLY'
    | 'ERR_INVALID_BALANCE'
    | 'ERR_INVALID_CREATED_AT'
    | 'ERR_INVALID_UPDATED_AT'
    | 'ERR_INVALID_PROOF_SYSTEM'
    | 'ERR_INVALID_PROOF_HASH'
    | 'ERR_INVALID_CLASS_ID'
    | 'ERR_INVALID_NAME'
    | 'ERR_INVALID_SCHEMA'
    | 'ERR_INVALID_REQUESTER'
    | 'ERR_INVALID_HEALTH_STATE'
    | 'ERR_INVALID_TXN_COUNT'
    | 'ERR_NO_SHARDS'
    | 'ERR_NO_HEALTHY_SHARDS'
    | 'ERR_INVALID_TIMESTAMP'
    | 'ERR_UNAUTHORIZED'
    | 'ERR_FORBIDDEN'
    | 'ERR_SIGNATURE_MISMATCH'
    | 'ERR_NOT_ISSUER'
    | 'ERR_INVALID_PUBLIC_KEY'
    | 'ERR_WRONG_LEDGER'
    | 'ERR_INVALID_QUERY'
    | 'ERR_INVALID_FIELD'
    | 'ERR_UNKNOWN_FIELD'
    | 'ERR_METHOD_NOT_ALLOWED'
    | 'ERR_RATE_LIMITED'
    | 'ERR_OVERLOADED'
  )[]
  /** In a 503 to a request that changes the ledger: `not_applied` is proved, `unknown` is not. Retry both with the same key. */
  readonly outcome?: 'not_applied' | 'unknown'
  /** For a signature mismatch: the key expected to sign. Absent if the account has no key. */
  readonly key_id?: KeyId
  /** For a signature mismatch: the SHA-256 of the canonical payload that the service computed. If it differs from yours, the canonical forms differ. */
  readonly payload_digest?: Hash
}

/** One page of the provenance of an NFT. */
export interface Provenance {
  /** The class of an NFT. */
  readonly class_id: ClassId
  /** The NFT within its class. */
  readonly instance_id: InstanceId
  /** The entries of this page. */
  readonly provenance: readonly ProvenanceEntry[]
  /** Where the next page begins; empty on the last one. */
  readonly next_page_token: PageToken
}

/** Whether the histories of all NFTs hold, signed. */
export interface ProvenanceAssertion {
  /** The type of the assertion. */
  readonly assertion_type: 'proof-of-provenance'
  /** The requester that the client named. */
  readonly requester: string
  /** The findings. */
  readonly result: ProvenanceResult
  /** The service’s, over the canonical JSON (RFC 8785) of `result`. */
  readonly signature: ServiceSignature
}

/** Something that happened to an NFT, or was said of it. */
export interface ProvenanceEntry {
  /** Changes of owner up to this entry: 0 for the mint. */
  readonly depth: number
  /** The type of the event. */
  readonly event: 'mint' | 'transfer' | 'burn' | 'attestation' | 'revocation'
  /** The account whose transaction it was, or in whose name it was stated. Must be 1 to 256 printable characters. */
  readonly actor: string
  /** The transaction, where it was one. */
  readonly txn_id?: TransactionId
  /** The attestation, where it was one. */
  readonly attestation_id?: AttestationId
  /** When. */
  readonly timestamp: Timestamp
  /** Of a revocation: the client that took the statement back. */
  readonly revoked_by?: string
  /** The statement, or the reason of its revocation. */
  readonly details?: string
}

/** Whether the histories of all NFTs hold. */
export interface ProvenanceResult {
  /** How many NFTs were looked at. */
  readonly assets_verified: number
  /** Whether all of their histories hold. */
  readonly provenance_valid: boolean
  /** The moment that it tells of. */
  readonly as_of: Timestamp
  /** When the last complete pass ended; null before there was one. */
  readonly last_full_pass_at: Timestamp | null
  /** The type of the assertion. */
  readonly assertion_type: 'proof-of-provenance'
  /** The requester that the client named. */
  readonly requester: string
  /** The ledger. */
  readonly ledger_id: string
  /** The key of the service that signs. */
  readonly key_id: KeyId
  /** When it was signed. */
  readonly generated_at: Timestamp
}

/** A P-256 public key as a JWK. */
export interface PublicJwk {
  /** Always `EC`. */
  readonly kty: 'EC'
  /** Always `P-256`. */
  readonly crv: 'P-256'
  /** The first coordinate, base64url. */
  readonly x: string
  /** The second coordinate, base64url. */
  readonly y: string
}

/** A P-256 public key of at most 2,048 characters: a JWK without a private part, a PEM (SPKI), or base64url of a SEC1 point or of DER SPKI. */
export type PublicKey = { readonly [name: string]: unknown } | string

/** A public key of the service, as a JWK. */
export interface PublishedKey {
  /** Always `EC`. */
  readonly kty: 'EC'
  /** Always `P-256`. */
  readonly crv: 'P-256'
  /** The first coordinate, base64url. */
  readonly x: string
  /** The second coordinate, base64url. */
  readonly y: string
  /** The RFC 7638 thumbprint. */
  readonly kid: KeyId
  /** Always `sig`. */
  readonly use: 'sig'
  /** Always `ES256`. */
  readonly alg: 'ES256'
  /** The only kind of content that the key signs. */
  readonly purpose: 'token' | 'receipt' | 'assertion' | 'attestation'
  /** When its span begins: seconds since 1970. */
  readonly nbf: number
  /** When its span ended: seconds since 1970. A key in use has none. */
  readonly exp?: number
  /** Present if the key was revoked: none of its signatures counts any more. */
  readonly revoked?: {
    /** When it was revoked: seconds since 1970. */
    readonly revoked_at: number
  }
}

/** A computed quantity in minimal form, as `100.5` or `0`; never an exponent. */
export type Quantity = string

/** Whether requests can be served. */
export interface Readiness {
  /** Whether they can. */
  readonly status: 'ready' | 'not_ready'
  /** This ledger; null before it was created. */
  readonly ledger_id: string | null
  /** In `production` orders name their ledger and key rotations carry a proof. */
  readonly environment: 'sandbox' | 'production'
  /** The dependencies by name: true if it works. */
  readonly checks: { readonly [name: string]: boolean }
  /** Limits that are near or exceeded. They do not change the status. */
  readonly warnings: readonly ReadinessWarning[]
}

/** A limit that is near or exceeded. */
export interface ReadinessWarning {
  /** `liability_balance_limit`: the ledger has more than 80 % of the balances that a proof of liabilities covers on this edge. `liability_time_limit`: the last snapshot of such a proof on this edge took more than 80 % of its time limit. Other codes may be added. */
  readonly code: string
  /** A human-readable explanation that names the limit. */
  readonly detail: string
}

/** A signed receipt. */
export interface Receipt {
  /** Canonical JSON: hash these bytes. */
  readonly receipt: ReceiptPayload
  /** Over `receipt`. */
  readonly signature: ServiceSignature
}

/** The signed payload of a receipt. The three fields of the chain are null for a failed transaction. Has token_id, or class_id and instance_id. */
export interface ReceiptPayload {
  /** The account that submitted it, or that the ledger moved value on. */
  readonly account_id: AccountId
  /** How much moves. */
  readonly amount: Amount
  /** The hash of its entry in the account’s audit chain; null unless it completed. */
  readonly audit_hash: Hash | null
  /** The balance of the asset right after the transaction completed. Absent for an NFT, and before format 2. */
  readonly balance_after?: Quantity
  /** The part of `balance_after` that nothing reserved. */
  readonly available_after?: Quantity
  /** The token; `BASE` for the ledger’s own unit. An NFT has none. */
  readonly token_id?: TokenId
  /** The class of an NFT. */
  readonly class_id?: ClassId
  /** The NFT within its class. */
  readonly instance_id?: InstanceId
  /** The transaction that this one undoes. */
  readonly compensates?: TransactionId
  /** The transaction of the other side. */
  readonly counter_txn_id?: TransactionId
  /** When it came into being. */
  readonly created_at: Timestamp
  /** Why it failed. */
  readonly failure?: TransactionFailure
  /** The version of this format: `2` has the balances after a completed transaction. */
  readonly format: 1 | 2
  /** The account that the value came from. */
  readonly from_account_id?: AccountId
  /** Links the transaction with others. */
  readonly group_id?: GroupId
  /** The key of the service that signs. */
  readonly key_id: KeyId
  /** The ledger that signs. */
  readonly ledger_id: string
  /** Data that the client attached. */
  readonly metadata?: { readonly [name: string]: string }
  /** `client` for an order, `ledger` for what the ledger did itself, such as the credit side of a transfer. */
  readonly origin: 'client' | 'ledger'
  /** The hash of the entry before; of the first entry, 32 zero bytes. */
  readonly previous_hash: Hash | null
  /** When it became final. */
  readonly processed_at: Timestamp
  /** The asset that an exchange brings in return. Has token_id, or class_id and instance_id. */
  readonly receive?: {
    /** How much moves. */
    readonly amount: Amount
    /** The token; `BASE` for the ledger’s own unit. An NFT has none. */
    readonly token_id?: TokenId
    /** The class of an NFT. */
    readonly class_id?: ClassId
    /** The NFT within its class. */
    readonly instance_id?: InstanceId
    readonly balance_after?: Quantity
    readonly available_after?: Quantity
  }
  /** The transfer that this one refunds. */
  readonly refunds?: TransactionId
  /** The hold that it captures. */
  readonly hold_id?: HoldId
  /** The number of an entry in an account’s audit chain, from 0. */
  readonly sequence: number | null
  /** The shard that decides it. */
  readonly shard_id: ShardId
  /** How it ended. */
  readonly status: 'completed' | 'failed'
  /** The SHA-256 of the canonical payload that the client signed. */
  readonly submission_hash: Hash
  /** The account that the value goes to. */
  readonly to_account_id?: AccountId
  /** The transaction. */
  readonly txn_id: TransactionId
  /** The type of the transaction. */
  readonly type: 'debit' | 'credit' | 'transfer' | 'exchange' | 'mint' | 'burn'
}

/** A client asks with the refresh token that it got last. */
export interface RefreshRequest {
  /** Says that this is a refresh. */
  readonly grant_type: 'refresh_token'
  /** The last refresh token. */
  readonly refresh_token: string
}

/** Starting points of the API. */
export interface Root {
  /** The console, if the ledger serves it. */
  readonly console?: string
  /** The API documentation as one page. */
  readonly documentation: string
  /** The API as an OpenAPI 3.1 document. */
  readonly openapi: string
  /** Readiness: whether the process can serve requests. */
  readonly ready: string
  /** The public keys of the service. */
  readonly keys: string
  /** The types of problems. */
  readonly errors: string
}

/** The new secret of a webhook. */
export interface RotatedWebhookSecret {
  /** The webhook. */
  readonly webhook_id: WebhookId
  /** Signs from now on. */
  readonly secret: WebhookSecret
  /** Until then the previous secret signs each message, too. */
  readonly previous_secret_expires_at: Timestamp
}

/** A signature of the service: base64 of DER, ECDSA P-256 with SHA-256. Its keys are in `/.well-known/jwks.json`. */
export type ServiceSignature = string

/** A settlement group. A linked one has no terms, legs and times. */
export interface SettlementGroup {
  /** The group. */
  readonly group_id: GroupId
  /** The status: `settled`, `reverted` and `linked` are final. */
  readonly status: 'open' | 'settled' | 'reverting' | 'reverted' | 'linked'
  /** The hash of the terms. Each leg carries it, which binds the leg to these terms. */
  readonly terms_hash: Hash | null
  /** How many legs it has. */
  readonly expected_legs: number
  /** The legs in the order of the terms. */
  readonly legs: readonly GroupLeg[]
  /** Which transaction undid which. */
  readonly compensations: readonly {
    readonly compensates: TransactionId
    /** The transaction. */
    readonly txn_id: TransactionId
  }[]
  /** The transactions that could not be undone, and why. */
  readonly partial_failures: readonly {
    /** The transaction. */
    readonly txn_id: TransactionId
    /** For programs: what went wrong. */
    readonly code: string
    /** An explanation of this occurrence, for people. */
    readonly detail: string
  }[]
  /** Why the group reverts. */
  readonly failure?: {
    /** For programs: what went wrong. */
    readonly code: string
    /** An explanation of this occurrence, for people. */
    readonly detail: string
  }
  /** Of a linked group: the net amount of its completed transactions, per asset. */
  readonly net?: readonly {
    /** The token; `BASE` for the ledger’s own unit. An NFT has none. */
    readonly token_id?: TokenId
    /** The class of an NFT. */
    readonly class_id?: ClassId
    /** The NFT within its class. */
    readonly instance_id?: InstanceId
    /** How much moves. */
    readonly amount: string
  }[]
  /** Of a linked group: it has two or more transactions, all completed, with a net of zero. */
  readonly balanced?: boolean
  /** When it came into being. */
  readonly created_at: Timestamp | null
  /** Until when the legs must be in. */
  readonly due_at: Timestamp | null
  /** When it became final; null before. */
  readonly finished_at: Timestamp | null
}

/** A shard. */
export interface Shard {
  /** The shard that decides it. */
  readonly shard_id: ShardId
  /** The node that owns it; null while none does. */
  readonly owner: string | null
  /** How often it has changed hands. */
  readonly epoch: number
  /** How it fares. */
  readonly health_state: 'healthy' | 'moving' | 'draining' | 'unavailable'
  /** How many transactions it has processed. */
  readonly txn_count: number
  /** When it last changed. */
  readonly updated_at: Timestamp
}

/** The health to record for a shard. */
export interface ShardHealth {
  /** Whether it is to be drained. */
  readonly health_state: 'healthy' | 'draining'
  /** How many transactions it must have processed for this to be recorded. */
  readonly txn_count?: number | null
}

/** A shard of the ledger: a keyed hash of the account ID decides it. */
export type ShardId = number

/** One page of shards. */
export interface ShardList {
  /** The shards of this page. */
  readonly shards: readonly Shard[]
  /** Where the next page begins; empty on the last one. */
  readonly next_page_token: PageToken
  /** The number of items on all pages. */
  readonly total_count: number
  /** `eq`: `total_count` is exact. `gte`: it is a lower bound. */
  readonly total_count_relation: 'eq' | 'gte'
}

/** ECDSA P-256 over the SHA-256 of the canonical JSON (RFC 8785) of the body without `signature`: base64url or base64 of the 64 bytes r||s, or of DER. */
export type Signature = string

/** One page of the movements of a balance, signed by the service. `opening` and the amounts add up to `closing`. */
export interface Statement {
  /** The account. */
  readonly account_id: AccountId
  /** The token; `BASE` for the ledger’s own unit. An NFT has none. */
  readonly token_id: TokenId
  /** The beginning, included; null: that of the account. */
  readonly from: Timestamp | null
  /** The end, excluded. */
  readonly to: Timestamp
  /** The balance before the first movement of the page. */
  readonly opening: Quantity
  /** The entry that states it; null: there is none. */
  readonly opening_sequence: number | null
  /** The movements of this page, oldest first. */
  readonly movements: readonly Movement[]
  /** The balance after the last movement of the page. */
  readonly closing: Quantity
  /** The last entry that the page covers; null: there is none. */
  readonly closing_sequence: number | null
  /** Whether the statement begins with this page. */
  readonly first_page: boolean
  /** Whether the statement ends with this page. */
  readonly last_page: boolean
  /** The ledger. */
  readonly ledger_id: string
  readonly generated_at: Timestamp
  /** The assertion key that signed it, in `/.well-known/jwks.json`. */
  readonly key_id: KeyId
  /** DER in base64, over the canonical JSON (RFC 8785) of the page without `signature` and `next_page_token`. */
  readonly signature: string
  /** Where the next page begins; empty on the last one. */
  readonly next_page_token: PageToken
}

/** At least one of `status` and `incoming`. */
export interface StatusChange {
  /** The new status. */
  readonly status?: 'active' | 'frozen' | 'closed' | null
  /** Whether it takes value in. */
  readonly incoming?: 'accept' | 'refuse' | null
  /** The reason, which the audit chain records. Must be 1 to 1,024 characters. */
  readonly reason: string
}

/** A signed order. */
export type Submission = CreditOrder | DebitOrder | TransferOrder | ExchangeOrder | MintOrder | BurnOrder

/** Signed orders that travel together. */
export interface SubmissionBatch {
  /** Each as it would be sent alone. */
  readonly submissions: readonly Submission[]
}

/** That an order is durable. */
export interface SubmissionReceipt {
  /** The transaction. */
  readonly txn_id: TransactionId
  /** The account. */
  readonly account_id: AccountId
  /** `pending`, whatever has happened since. */
  readonly status: 'pending'
  /** The shard that decides it. */
  readonly shard_id: ShardId
  /** When it was accepted: its `created_at`. */
  readonly enqueued_at: Timestamp
  /** Links the transaction with others; the service chooses one for a transfer without. */
  readonly group_id?: GroupId
}

/** ISO 8601 in UTC with milliseconds. */
export type Timestamp = string

/** The balance of an account in a token. */
export interface TokenBalance {
  /** The token; `BASE` for the ledger’s own unit. An NFT has none. */
  readonly token_id: TokenId
  /** Always `fungible`. */
  readonly token_class: 'fungible'
  /** All that is the account’s. */
  readonly balance: Quantity
  /** The part of `balance` that is not on hold and can be spent. */
  readonly available: Quantity
  /** Value on its way to the account; part of neither `balance` nor `available`. */
  readonly incoming: Quantity
  /** How many fractional digits amounts of the token have at most. */
  readonly decimals: number
  /** When it last changed. */
  readonly updated_at: Timestamp
  /** The time that was asked for; absent without `as_of`. */
  readonly as_of?: Timestamp
  /** The entry of the chain that states the balance; absent without `as_of`. */
  readonly sequence?: number
}

/** A fungible token: its symbol as registered, or `BASE`, the ledger’s own unit. Must be the symbol of a token. */
export type TokenId = string

/** The balance of an account in a token, as the token’s tree has it. */
export interface TokenInclusion {
  /** The token; `BASE` for the ledger’s own unit. An NFT has none. */
  readonly token_id: TokenId
  /** The balance. */
  readonly amount: Quantity
  /** Shares that add up to it. */
  readonly shares: readonly InclusionShare[]
}

/** A new token. */
export interface TokenRegistration {
  /** Its name, and its `token_id`. Must be 1 to 64 characters of a-z, A-Z, 0-9 and . _ -, the first a letter or digit. */
  readonly symbol: string
  /** How many fractional digits its amounts may have. Must be an integer from 0 to 18. */
  readonly decimals: number
  /** The account that gets the supply, and alone may mint more. */
  readonly issuer: AccountId
  /** How much of it there is at first. Must be a decimal string, zero or above, with at most 18 integer and 18 fractional digits. */
  readonly total_supply: string
  /** The issuer’s, over the body without `signature`. */
  readonly signature?: Signature | null
}

/** One of the three forms. Further fields are ignored. */
export type TokenRequest = CredentialsRequest | ClientAssertionRequest | RefreshRequest

/** An access token, and what the next one is got with. */
export interface Tokens {
  /** A JWT (RFC 9068), to be sent as `Authorization: Bearer <access_token>`. Opaque to clients. */
  readonly access_token: string
  /** Always `Bearer`. */
  readonly token_type: 'Bearer'
  /** How many seconds the access token lives. */
  readonly expires_in: number
  /** Good once, for 30 days. */
  readonly refresh_token: string
}

/** A total over many accounts in minimal form, with up to 38 integer digits. */
export type Total = string

/** A transaction with all its details; what does not apply to it is left out. Has token_id, or class_id and instance_id. Has audit_hash if completed, failure if failed, and processed_at unless pending. */
export interface Transaction {
  /** The transaction. */
  readonly txn_id: TransactionId
  /** The account that submitted it, or that the ledger moved value on. */
  readonly account_id: AccountId
  /** How much moves. */
  readonly amount: Amount
  /** The type of the transaction. */
  readonly type: 'debit' | 'credit' | 'transfer' | 'exchange' | 'mint' | 'burn'
  /** The token; `BASE` for the ledger’s own unit. An NFT has none. */
  readonly token_id?: TokenId
  /** The class of an NFT. */
  readonly class_id?: ClassId
  /** The NFT within its class. */
  readonly instance_id?: InstanceId
  /** The status: `completed` and `failed` are final. */
  readonly status: 'pending' | 'completed' | 'failed'
  /** The shard that decides it. */
  readonly shard_id: ShardId
  /** When it came into being. */
  readonly created_at: Timestamp
  /** The hash of its entry in the account’s audit chain; null unless it completed. */
  readonly audit_hash: Hash | null
  /** The balance of the asset right after the transaction completed. Absent for an NFT, and before format 2. */
  readonly balance_after?: Quantity
  /** The part of `balance_after` that nothing reserved. */
  readonly available_after?: Quantity
  /** `client` for an order, `ledger` for what the ledger did itself, such as the credit side of a transfer. */
  readonly origin: 'client' | 'ledger'
  /** Links the transaction with others. */
  readonly group_id?: GroupId
  /** Data that the client attached. */
  readonly metadata?: { readonly [name: string]: string }
  /** The account that the value goes to. */
  readonly to_account_id?: AccountId
  /** The account that the value came from. */
  readonly from_account_id?: AccountId
  /** The asset that an exchange brings in return. Has token_id, or class_id and instance_id. */
  readonly receive?: {
    /** How much moves. */
    readonly amount: Amount
    /** The token; `BASE` for the ledger’s own unit. An NFT has none. */
    readonly token_id?: TokenId
    /** The class of an NFT. */
    readonly class_id?: ClassId
    /** The NFT within its class. */
    readonly instance_id?: InstanceId
    readonly balance_after?: Quantity
    readonly available_after?: Quantity
  }
  /** When it became final. */
  readonly processed_at?: Timestamp
  /** The transaction that this one undoes. */
  readonly compensates?: TransactionId
  /** The transaction that undid this one. */
  readonly compensated_by?: TransactionId
  /** The transfer that this one refunds. */
  readonly refunds?: TransactionId
  /** The hold that it captures. */
  readonly hold_id?: HoldId
  /** The sum of the completed refunds of this transfer. Absent without one. */
  readonly refunded_amount?: Quantity
  /** Why it failed. */
  readonly failure?: TransactionFailure
}

/** Why a transaction failed. */
export interface TransactionFailure {
  /** For programs, one of `insufficient_funds`, `balance_limit`, `asset_limit`, `account_frozen`, `account_closed`, `incoming_refused`, `expired`, `exchange_expired`, `exchange_limit`, `supply_limit`, `supply_underflow`, `group_closed`, `leg_limit`, `declined`, `timed_out`, `revert_requested`, `already_compensated`, `not_compensable`, `refunded`, `refund_original_not_found`, `refund_mismatch`, `refund_exceeds_original`, `hold_not_found`, `hold_not_active`, `hold_expired`, `hold_exceeded`, `not_owner`, `held`. New codes may come. */
  readonly code: string
  /** An explanation of this occurrence, for people. */
  readonly detail: string
}

/** A transaction: `txn_` and a ULID. */
export type TransactionId = string

/** A line of a list that is sent as lines. */
export type TransactionLine = TransactionSummary | TransactionLineEnd | TransactionLinePlace | TransactionLineProblem

/** The last line of a list that was sent to its end. */
export interface TransactionLineEnd {
  /** Always true. */
  readonly end: true
  /** How many transactions this answer had. */
  readonly count: number
  /** Where a feed goes on; empty if it was newest first. */
  readonly next_page_token: PageToken
}

/** Where a list that is cut off behind this line is gone on with. */
export interface TransactionLinePlace {
  /** The `page_token` for what follows. */
  readonly next_page_token: PageToken
}

/** The last line of a list that could not be sent to its end. */
export interface TransactionLineProblem {
  /** Why. */
  readonly problem: Problem
}

/** One page of transactions. */
export interface TransactionList {
  /** The transactions of this page. */
  readonly transactions: readonly TransactionSummary[]
  /** Where the next page begins; empty on the last one. */
  readonly next_page_token: PageToken
  /** The number of items on all pages. */
  readonly total_count: number
  /** `eq`: `total_count` is exact. `gte`: it is a lower bound. */
  readonly total_count_relation: 'eq' | 'gte'
}

/** A transaction, as lists show it. Has token_id, or class_id and instance_id. */
export interface TransactionSummary {
  /** The transaction. */
  readonly txn_id: TransactionId
  /** The account. */
  readonly account_id: AccountId
  /** How much moves. */
  readonly amount: Amount
  /** The type of the transaction. */
  readonly type: 'debit' | 'credit' | 'transfer' | 'exchange' | 'mint' | 'burn'
  /** The token; `BASE` for the ledger’s own unit. An NFT has none. */
  readonly token_id?: TokenId
  /** The class of an NFT. */
  readonly class_id?: ClassId
  /** The NFT within its class. */
  readonly instance_id?: InstanceId
  /** The status: `completed` and `failed` are final. */
  readonly status: 'pending' | 'completed' | 'failed'
  /** The shard that decides it. */
  readonly shard_id: ShardId
  /** When it came into being. */
  readonly created_at: Timestamp
}

/** Whether an assertion is valid. Has reason unless it is valid. */
export interface Verification {
  /** Whether it is. */
  readonly valid: boolean
  /** When it was verified. */
  readonly verified_at: Timestamp
  /** Why it is not. */
  readonly reason?: string
}

/** Where events are sent, and how far they have come. */
export interface Webhook {
  /** The webhook. */
  readonly webhook_id: WebhookId
  /** The receiver. */
  readonly url: string
  /** Only events of these types; empty: all. */
  readonly types: readonly string[]
  /** Only events that concern this account. */
  readonly account_id?: AccountId
  /** For people. */
  readonly description?: string
  /** The client that registered it. Its scope decides which events are sent. */
  readonly owner: string
  /** When it came into being. */
  readonly created_at: Timestamp
  /** A disabled webhook gets no events until it is enabled. */
  readonly status: 'active' | 'disabled'
  /** When it was disabled. */
  readonly disabled_at?: Timestamp
  /** `delivery_failed`: no attempt succeeded for five days. `client_revoked`: its owner was revoked. `position_lost`: the database was replaced, so that its place in the log has no meaning any more. */
  readonly disabled_reason?: 'delivery_failed' | 'client_revoked' | 'position_lost'
  /** How many events the receiver has accepted. */
  readonly delivered_count: number
  /** Consecutive failed attempts of the next event. */
  readonly failure_count: number
  /** The first of these attempts. */
  readonly failing_since?: Timestamp
  /** When the next attempt is made, at the earliest; only after a failed one. */
  readonly next_attempt_at?: Timestamp
}

/** The last 100 deliveries, newest first. */
export interface WebhookDeliveries {
  /** The webhook. */
  readonly webhook_id: WebhookId
  /** The deliveries. */
  readonly deliveries: readonly WebhookDelivery[]
}

/** An event and its attempts so far. */
export interface WebhookDelivery {
  /** The event. */
  readonly event_id: string
  /** Its type. */
  readonly event_type: string
  /** `failing`: it is tried again. */
  readonly status: 'delivered' | 'failing'
  /** How often it was sent. */
  readonly attempts: number
  /** The last attempt. */
  readonly attempted_at: Timestamp
  /** The status of the response; left out without one. */
  readonly http_status?: number
  /** Why it was not accepted. `status`: the response was not 2xx. `address_refused`: the ledger does not send to this address. `timeout`: no response within 10 s. `name_not_resolved`, `connection_failed`, `tls_failed`: no connection, or none that lasted. */
  readonly error?: 'status' | 'address_refused' | 'timeout' | 'name_not_resolved' | 'connection_failed' | 'tls_failed'
  /** From the beginning of the attempt to the end of the response. */
  readonly latency_ms: number
}

/** A webhook: `whk_` and a ULID. */
export type WebhookId = string

/** One page of webhooks. */
export interface WebhookList {
  /** The webhooks of this page. */
  readonly webhooks: readonly Webhook[]
  /** Where the next page begins; empty on the last one. */
  readonly next_page_token: PageToken
}

/** Where events are to be sent. */
export interface WebhookRegistration {
  /** The receiver. Must be an absolute https URL (in the sandbox also http) of at most 2,048 characters, without credentials and fragment. */
  readonly url: string
  /** Only events of these types. Left out: all types. */
  readonly types?:
    | readonly (
        | 'ledger.transaction.completed.v1'
        | 'ledger.transaction.failed.v1'
        | 'ledger.group.settled.v1'
        | 'ledger.group.reverted.v1'
        | 'ledger.account.registered.v1'
        | 'ledger.account.key_registered.v1'
        | 'ledger.account.key_rotated.v1'
        | 'ledger.account.status_changed.v1'
        | 'ledger.account.paused.v1'
        | 'ledger.account.resumed.v1'
        | 'ledger.account.imported.v1'
        | 'ledger.account.leg_settled.v1'
        | 'ledger.account.changed.v1'
        | 'ledger.account.erased.v1'
        | 'ledger.account.redacted.v1'
        | 'ledger.hold.created.v1'
        | 'ledger.hold.released.v1'
        | 'ledger.hold.expired.v1'
        | 'ledger.nft.minted.v1'
        | 'ledger.nft.transferred.v1'
        | 'ledger.nft.burned.v1'
        | 'ledger.attestation.created.v1'
        | 'ledger.attestation.revoked.v1'
        | 'ledger.transaction.*'
        | 'ledger.group.*'
        | 'ledger.account.*'
        | 'ledger.hold.*'
        | 'ledger.nft.*'
        | 'ledger.attestation.*'
      )[]
    | null
  /** Only events that concern this account. */
  readonly account_id?: AccountId | null
  /** For people. */
  readonly description?: string | null
}

/** Signs the messages after Standard Webhooks: `whsec_` and base64 of 32 bytes. */
export type WebhookSecret = string

/** The result of a test message. */
export interface WebhookTest {
  /** The webhook. */
  readonly webhook_id: WebhookId
  /** The header `webhook-id` of the message. */
  readonly event_id: string
  /** Whether the response was 2xx. */
  readonly accepted: boolean
  /** The status of the response; left out without one. */
  readonly http_status?: number
  /** Why it was not accepted. `status`: the response was not 2xx. `address_refused`: the ledger does not send to this address. `timeout`: no response within 10 s. `name_not_resolved`, `connection_failed`, `tls_failed`: no connection, or none that lasted. */
  readonly error?: 'status' | 'address_refused' | 'timeout' | 'name_not_resolved' | 'connection_failed' | 'tls_failed'
  /** From the beginning of the attempt to the end of the response. */
  readonly latency_ms: number
}

/** Brings value in from an external account. */
export interface CreditOrder {
  /** The account whose value moves, and whose key signs. */
  readonly account_id: AccountId
  /** The type of the transaction. */
  readonly type: 'credit'
  /** How much; `"1"` for an NFT. At most as many fractional digits as the token has decimals. */
  readonly amount: Amount
  /** Identifies the request: a retry with the same key is not applied again. */
  readonly idempotency_key: IdempotencyKey
  /** The signature over the rest. */
  readonly signature: Signature
  /** The token; without it (or with `BASE`) the ledger’s own unit. Required to mint, burn and exchange. */
  readonly token_id?: TokenId
  /** Links orders, or names the settlement group that this is a leg of. Required in exchanges, and in transfers without `to_account_id` or `refunds`. Must be a UUID. */
  readonly group_id?: string
  /** Up to 16 strings for the client’s own use, copied to the other side. */
  readonly metadata?: OrderMetadata
  /** The `terms_hash` of the settlement group that this is a leg of. */
  readonly terms_hash?: string
  /** The ledger that the order is for, as `/readyz` tells it. Required in production. Must be the ID of a ledger. */
  readonly ledger_id?: string
  /** Until when it may be decided; too late, it fails. Must be an RFC 3339 timestamp with an offset. */
  readonly expires_at?: string
}

/** Takes value out of the ledger. */
export interface DebitOrder {
  /** The account whose value moves, and whose key signs. */
  readonly account_id: AccountId
  /** The type of the transaction. */
  readonly type: 'debit'
  /** How much; `"1"` for an NFT. At most as many fractional digits as the token has decimals. */
  readonly amount: Amount
  /** Identifies the request: a retry with the same key is not applied again. */
  readonly idempotency_key: IdempotencyKey
  /** The signature over the rest. */
  readonly signature: Signature
  /** The token; without it (or with `BASE`) the ledger’s own unit. Required to mint, burn and exchange. */
  readonly token_id?: TokenId
  /** Links orders, or names the settlement group that this is a leg of. Required in exchanges, and in transfers without `to_account_id` or `refunds`. Must be a UUID. */
  readonly group_id?: string
  /** Up to 16 strings for the client’s own use, copied to the other side. */
  readonly metadata?: OrderMetadata
  /** The `terms_hash` of the settlement group that this is a leg of. */
  readonly terms_hash?: string
  /** The ledger that the order is for, as `/readyz` tells it. Required in production. Must be the ID of a ledger. */
  readonly ledger_id?: string
  /** Until when it may be decided; too late, it fails. Must be an RFC 3339 timestamp with an offset. */
  readonly expires_at?: string
}

/** Moves value to another account. */
export interface TransferToAccount {
  /** The account whose value moves, and whose key signs. */
  readonly account_id: AccountId
  /** The type of the transaction. */
  readonly type: 'transfer'
  /** How much; `"1"` for an NFT. At most as many fractional digits as the token has decimals. */
  readonly amount: Amount
  /** Identifies the request: a retry with the same key is not applied again. */
  readonly idempotency_key: IdempotencyKey
  /** The signature over the rest. */
  readonly signature: Signature
  /** In transfers and exchanges: the other party. */
  readonly to_account_id: AccountId
  /** The token; without it (or with `BASE`) the ledger’s own unit. Required to mint, burn and exchange. */
  readonly token_id?: TokenId
  /** Links orders, or names the settlement group that this is a leg of. Required in exchanges, and in transfers without `to_account_id` or `refunds`. Must be a UUID. */
  readonly group_id?: string
  /** Up to 16 strings for the client’s own use, copied to the other side. */
  readonly metadata?: OrderMetadata
  /** The `terms_hash` of the settlement group that this is a leg of. */
  readonly terms_hash?: string
  /** The ledger that the order is for, as `/readyz` tells it. Required in production. Must be the ID of a ledger. */
  readonly ledger_id?: string
  /** Until when it may be decided; too late, it fails. Must be an RFC 3339 timestamp with an offset. */
  readonly expires_at?: string
}

/** Takes value out of the account, linked to a group. */
export interface TransferInGroup {
  /** The account whose value moves, and whose key signs. */
  readonly account_id: AccountId
  /** The type of the transaction. */
  readonly type: 'transfer'
  /** How much; `"1"` for an NFT. At most as many fractional digits as the token has decimals. */
  readonly amount: Amount
  /** Identifies the request: a retry with the same key is not applied again. */
  readonly idempotency_key: IdempotencyKey
  /** The signature over the rest. */
  readonly signature: Signature
  /** Links orders, or names the settlement group that this is a leg of. Required in exchanges, and in transfers without `to_account_id` or `refunds`. Must be a UUID. */
  readonly group_id: string
  /** The token; without it (or with `BASE`) the ledger’s own unit. Required to mint, burn and exchange. */
  readonly token_id?: TokenId
  /** Up to 16 strings for the client’s own use, copied to the other side. */
  readonly metadata?: OrderMetadata
  /** The `terms_hash` of the settlement group that this is a leg of. */
  readonly terms_hash?: string
  /** The ledger that the order is for, as `/readyz` tells it. Required in production. Must be the ID of a ledger. */
  readonly ledger_id?: string
  /** Until when it may be decided; too late, it fails. Must be an RFC 3339 timestamp with an offset. */
  readonly expires_at?: string
}

/** Returns value of a received transfer to its sender. */
export interface TransferRefund {
  /** The account whose value moves, and whose key signs. */
  readonly account_id: AccountId
  /** The type of the transaction. */
  readonly type: 'transfer'
  /** How much; `"1"` for an NFT. At most as many fractional digits as the token has decimals. */
  readonly amount: Amount
  /** Identifies the request: a retry with the same key is not applied again. */
  readonly idempotency_key: IdempotencyKey
  /** The signature over the rest. */
  readonly signature: Signature
  /** In transfers: the received transfer whose value goes back to its sender, by the ID of the transfer or of its credit. Must be a transaction ID. */
  readonly refunds: string
  /** The token; without it (or with `BASE`) the ledger’s own unit. Required to mint, burn and exchange. */
  readonly token_id?: TokenId
  /** Links orders, or names the settlement group that this is a leg of. Required in exchanges, and in transfers without `to_account_id` or `refunds`. Must be a UUID. */
  readonly group_id?: string
  /** In transfers and exchanges: the other party. */
  readonly to_account_id?: AccountId
  /** Up to 16 strings for the client’s own use, copied to the other side. */
  readonly metadata?: OrderMetadata
  /** The ledger that the order is for, as `/readyz` tells it. Required in production. Must be the ID of a ledger. */
  readonly ledger_id?: string
  /** Until when it may be decided; too late, it fails. Must be an RFC 3339 timestamp with an offset. */
  readonly expires_at?: string
}

/** Moves an NFT to another account. */
export interface NftTransfer {
  /** The account whose value moves, and whose key signs. */
  readonly account_id: AccountId
  /** The type of the transaction. */
  readonly type: 'transfer'
  /** Always 1 for an NFT. */
  readonly amount: '1'
  /** Identifies the request: a retry with the same key is not applied again. */
  readonly idempotency_key: IdempotencyKey
  /** The signature over the rest. */
  readonly signature: Signature
  /** In transfers and exchanges: the other party. */
  readonly to_account_id: AccountId
  /** With `instance_id`, in place of `token_id`: the NFT that moves. Must be the ID of an NFT class. */
  readonly class_id: string
  /** The NFT within its class. Must be the ID of an instance. */
  readonly instance_id: string
  /** Links orders, or names the settlement group that this is a leg of. Required in exchanges, and in transfers without `to_account_id` or `refunds`. Must be a UUID. */
  readonly group_id?: string
  /** Up to 16 strings for the client’s own use, copied to the other side. */
  readonly metadata?: OrderMetadata
  /** The `terms_hash` of the settlement group that this is a leg of. */
  readonly terms_hash?: string
  /** The ledger that the order is for, as `/readyz` tells it. Required in production. Must be the ID of a ledger. */
  readonly ledger_id?: string
  /** Until when it may be decided; too late, it fails. Must be an RFC 3339 timestamp with an offset. */
  readonly expires_at?: string
}

/** Moves value or an NFT. */
export type TransferOrder = TransferToAccount | TransferInGroup | TransferRefund | NftTransfer

/** Exchanges value for an asset of another account. */
export interface TokenExchange {
  /** The account whose value moves, and whose key signs. */
  readonly account_id: AccountId
  /** The type of the transaction. */
  readonly type: 'exchange'
  /** How much; `"1"` for an NFT. At most as many fractional digits as the token has decimals. */
  readonly amount: Amount
  /** Identifies the request: a retry with the same key is not applied again. */
  readonly idempotency_key: IdempotencyKey
  /** The signature over the rest. */
  readonly signature: Signature
  /** Links orders, or names the settlement group that this is a leg of. Required in exchanges, and in transfers without `to_account_id` or `refunds`. Must be a UUID. */
  readonly group_id: string
  /** In transfers and exchanges: the other party. */
  readonly to_account_id: AccountId
  /** In exchanges with `to_account_id`: what comes in return. */
  readonly receive: ExchangeReturn
  /** The token; without it (or with `BASE`) the ledger’s own unit. Required to mint, burn and exchange. */
  readonly token_id: TokenId
  /** Up to 16 strings for the client’s own use, copied to the other side. */
  readonly metadata?: OrderMetadata
  /** The `terms_hash` of the settlement group that this is a leg of. */
  readonly terms_hash?: string
  /** The ledger that the order is for, as `/readyz` tells it. Required in production. Must be the ID of a ledger. */
  readonly ledger_id?: string
  /** Until when it may be decided; too late, it fails. Must be an RFC 3339 timestamp with an offset. */
  readonly expires_at?: string
}

/** Exchanges an NFT for an asset of another account. */
export interface NftExchange {
  /** The account whose value moves, and whose key signs. */
  readonly account_id: AccountId
  /** The type of the transaction. */
  readonly type: 'exchange'
  /** Always 1 for an NFT. */
  readonly amount: '1'
  /** Identifies the request: a retry with the same key is not applied again. */
  readonly idempotency_key: IdempotencyKey
  /** The signature over the rest. */
  readonly signature: Signature
  /** Links orders, or names the settlement group that this is a leg of. Required in exchanges, and in transfers without `to_account_id` or `refunds`. Must be a UUID. */
  readonly group_id: string
  /** In transfers and exchanges: the other party. */
  readonly to_account_id: AccountId
  /** In exchanges with `to_account_id`: what comes in return. */
  readonly receive: ExchangeReturn
  /** With `instance_id`, in place of `token_id`: the NFT that moves. Must be the ID of an NFT class. */
  readonly class_id: string
  /** The NFT within its class. Must be the ID of an instance. */
  readonly instance_id: string
  /** Up to 16 strings for the client’s own use, copied to the other side. */
  readonly metadata?: OrderMetadata
  /** The `terms_hash` of the settlement group that this is a leg of. */
  readonly terms_hash?: string
  /** The ledger that the order is for, as `/readyz` tells it. Required in production. Must be the ID of a ledger. */
  readonly ledger_id?: string
  /** Until when it may be decided; too late, it fails. Must be an RFC 3339 timestamp with an offset. */
  readonly expires_at?: string
}

/** Takes value out of the account in exchange for the other orders of the group. */
export interface ExchangeInGroup {
  /** The account whose value moves, and whose key signs. */
  readonly account_id: AccountId
  /** The type of the transaction. */
  readonly type: 'exchange'
  /** How much; `"1"` for an NFT. At most as many fractional digits as the token has decimals. */
  readonly amount: Amount
  /** Identifies the request: a retry with the same key is not applied again. */
  readonly idempotency_key: IdempotencyKey
  /** The signature over the rest. */
  readonly signature: Signature
  /** Links orders, or names the settlement group that this is a leg of. Required in exchanges, and in transfers without `to_account_id` or `refunds`. Must be a UUID. */
  readonly group_id: string
  /** The token; without it (or with `BASE`) the ledger’s own unit. Required to mint, burn and exchange. */
  readonly token_id: TokenId
  /** Up to 16 strings for the client’s own use, copied to the other side. */
  readonly metadata?: OrderMetadata
  /** The `terms_hash` of the settlement group that this is a leg of. */
  readonly terms_hash?: string
  /** The ledger that the order is for, as `/readyz` tells it. Required in production. Must be the ID of a ledger. */
  readonly ledger_id?: string
  /** Until when it may be decided; too late, it fails. Must be an RFC 3339 timestamp with an offset. */
  readonly expires_at?: string
}

/** Exchanges value or an NFT for another asset. */
export type ExchangeOrder = TokenExchange | NftExchange | ExchangeInGroup

/** Increases the supply of a token. */
export interface MintOrder {
  /** The account whose value moves, and whose key signs. */
  readonly account_id: AccountId
  /** The type of the transaction. */
  readonly type: 'mint'
  /** How much; `"1"` for an NFT. At most as many fractional digits as the token has decimals. */
  readonly amount: Amount
  /** Identifies the request: a retry with the same key is not applied again. */
  readonly idempotency_key: IdempotencyKey
  /** The signature over the rest. */
  readonly signature: Signature
  /** The token; without it (or with `BASE`) the ledger’s own unit. Required to mint, burn and exchange. */
  readonly token_id: TokenId
  /** Links orders, or names the settlement group that this is a leg of. Required in exchanges, and in transfers without `to_account_id` or `refunds`. Must be a UUID. */
  readonly group_id?: string
  /** Up to 16 strings for the client’s own use, copied to the other side. */
  readonly metadata?: OrderMetadata
  /** The `terms_hash` of the settlement group that this is a leg of. */
  readonly terms_hash?: string
  /** The ledger that the order is for, as `/readyz` tells it. Required in production. Must be the ID of a ledger. */
  readonly ledger_id?: string
  /** Until when it may be decided; too late, it fails. Must be an RFC 3339 timestamp with an offset. */
  readonly expires_at?: string
}

/** Destroys value of a token. */
export interface TokenBurn {
  /** The account whose value moves, and whose key signs. */
  readonly account_id: AccountId
  /** The type of the transaction. */
  readonly type: 'burn'
  /** How much; `"1"` for an NFT. At most as many fractional digits as the token has decimals. */
  readonly amount: Amount
  /** Identifies the request: a retry with the same key is not applied again. */
  readonly idempotency_key: IdempotencyKey
  /** The signature over the rest. */
  readonly signature: Signature
  /** The token; without it (or with `BASE`) the ledger’s own unit. Required to mint, burn and exchange. */
  readonly token_id: TokenId
  /** Links orders, or names the settlement group that this is a leg of. Required in exchanges, and in transfers without `to_account_id` or `refunds`. Must be a UUID. */
  readonly group_id?: string
  /** Up to 16 strings for the client’s own use, copied to the other side. */
  readonly metadata?: OrderMetadata
  /** The `terms_hash` of the settlement group that this is a leg of. */
  readonly terms_hash?: string
  /** The ledger that the order is for, as `/readyz` tells it. Required in production. Must be the ID of a ledger. */
  readonly ledger_id?: string
  /** Until when it may be decided; too late, it fails. Must be an RFC 3339 timestamp with an offset. */
  readonly expires_at?: string
}

/** Destroys an NFT. */
export interface NftBurn {
  /** The account whose value moves, and whose key signs. */
  readonly account_id: AccountId
  /** The type of the transaction. */
  readonly type: 'burn'
  /** Always 1 for an NFT. */
  readonly amount: '1'
  /** Identifies the request: a retry with the same key is not applied again. */
  readonly idempotency_key: IdempotencyKey
  /** The signature over the rest. */
  readonly signature: Signature
  /** With `instance_id`, in place of `token_id`: the NFT that moves. Must be the ID of an NFT class. */
  readonly class_id: string
  /** The NFT within its class. Must be the ID of an instance. */
  readonly instance_id: string
  /** Links orders, or names the settlement group that this is a leg of. Required in exchanges, and in transfers without `to_account_id` or `refunds`. Must be a UUID. */
  readonly group_id?: string
  /** Up to 16 strings for the client’s own use, copied to the other side. */
  readonly metadata?: OrderMetadata
  /** The `terms_hash` of the settlement group that this is a leg of. */
  readonly terms_hash?: string
  /** The ledger that the order is for, as `/readyz` tells it. Required in production. Must be the ID of a ledger. */
  readonly ledger_id?: string
  /** Until when it may be decided; too late, it fails. Must be an RFC 3339 timestamp with an offset. */
  readonly expires_at?: string
}

/** Destroys value or an NFT. */
export type BurnOrder = TokenBurn | NftBurn

/** A code in `error_codes` of a problem. */

export type ErrorCode =
  | 'ERR_NOT_FOUND'
  | 'ERR_INSUFFICIENT_FUNDS'
  | 'ERR_CONFLICT'
  | 'ERR_PAYLOAD_TOO_LARGE'
  | 'ERR_UNSUPPORTED_CONTENT_TYPE'
  | 'ERR_SHARD_UNAVAILABLE'
  | 'ERR_DOWNSTREAM_FAILURE'
  | 'ERR_INVALID_ACCOUNT_ID'
  | 'ERR_INVALID_AMOUNT'
  | 'ERR_INVALID_TYPE'
  | 'ERR_INVALID_SIGNATURE'
  | 'ERR_INVALID_IDEMPOTENCY_KEY'
  | 'ERR_INVALID_GROUP_ID'
  | 'ERR_SELF_TRANSFER'
  | 'ERR_INVALID_TOKEN_ID'
  | 'ERR_INVALID_SYMBOL'
  | 'ERR_INVALID_DECIMALS'
  | 'ERR_INVALID_ISSUER'
  | 'ERR_INVALID_TOTAL_SUPPLY'
  | 'ERR_INVALID_INITIAL_SUPPLY'
  | 'ERR_INVALID_BALANCE'
  | 'ERR_INVALID_CREATED_AT'
  | 'ERR_INVALID_UPDATED_AT'
  | 'ERR_INVALID_PROOF_SYSTEM'
  | 'ERR_INVALID_PROOF_HASH'
  | 'ERR_INVALID_CLASS_ID'
  | 'ERR_INVALID_NAME'
  | 'ERR_INVALID_SCHEMA'
  | 'ERR_INVALID_REQUESTER'
  | 'ERR_INVALID_HEALTH_STATE'
  | 'ERR_INVALID_TXN_COUNT'
  | 'ERR_NO_SHARDS'
  | 'ERR_NO_HEALTHY_SHARDS'
  | 'ERR_INVALID_TIMESTAMP'
  | 'ERR_UNAUTHORIZED'
  | 'ERR_FORBIDDEN'
  | 'ERR_SIGNATURE_MISMATCH'
  | 'ERR_NOT_ISSUER'
  | 'ERR_INVALID_PUBLIC_KEY'
  | 'ERR_WRONG_LEDGER'
  | 'ERR_INVALID_QUERY'
  | 'ERR_INVALID_FIELD'
  | 'ERR_UNKNOWN_FIELD'
  | 'ERR_METHOD_NOT_ALLOWED'
  | 'ERR_RATE_LIMITED'
  | 'ERR_OVERLOADED'

/** Parameters, body and response of each operation. */

export interface Operations {
  /** Get an access token */
  readonly issueToken: {
    readonly path: undefined
    readonly query: undefined
    readonly body: TokenRequest
    readonly reply: Tokens
  }
  /** Register an account with its public key */
  readonly createAccount: {
    readonly path: undefined
    readonly query: undefined
    readonly body: AccountRegistration
    readonly reply: Account
  }
  /** List all accounts */
  readonly listAccounts: {
    readonly path: undefined
    readonly query: {
      /** How many rows a page has at most. Above 1000 is served as 1000. It may change between pages. */
      readonly page_size?: number
      /** The `next_page_token` of the page before, asked for with the same filters by the same client. */
      readonly page_token?: PageToken
    }
    readonly body: undefined
    readonly reply: AccountList
  }
  /** Get an account */
  readonly getAccount: {
    readonly path: {
      /** The account. */
      readonly accountId: AccountId
    }
    readonly query: undefined
    readonly body: undefined
    readonly reply: Account
  }
  /** Give an account another key */
  readonly rotateKey: {
    readonly path: {
      /** The account. */
      readonly accountId: AccountId
    }
    readonly query: undefined
    readonly body: KeyRotation
    readonly reply: Account
  }
  /** Freeze, close or reopen an account */
  readonly changeStatus: {
    readonly path: {
      /** The account. */
      readonly accountId: AccountId
    }
    readonly query: undefined
    readonly body: StatusChange
    readonly reply: Account
  }
  /** Erase a closed account */
  readonly eraseAccount: {
    readonly path: {
      /** The account. */
      readonly accountId: AccountId
    }
    readonly query: undefined
    readonly body: Erasure
    readonly reply: Account
  }
  /** See how an account’s actor is, and where */
  readonly getAccountActor: {
    readonly path: {
      /** The account. */
      readonly accountId: AccountId
    }
    readonly query: undefined
    readonly body: undefined
    readonly reply: AccountActor
  }
  /** Pause what an account sends */
  readonly pauseAccount: {
    readonly path: {
      /** The account. */
      readonly accountId: AccountId
    }
    readonly query: undefined
    readonly body: Pause
    readonly reply: AccountActor
  }
  /** Let a paused account go on */
  readonly resumeAccount: {
    readonly path: {
      /** The account. */
      readonly accountId: AccountId
    }
    readonly query: undefined
    readonly body: Pause
    readonly reply: AccountActor
  }
  /** Read an account’s audit chain */
  readonly listAuditChain: {
    readonly path: {
      /** The account. */
      readonly accountId: AccountId
    }
    readonly query: {
      /** How many rows a page has at most. Above 1000 is served as 1000. It may change between pages. */
      readonly page_size?: number
      /** The `next_page_token` of the page before, asked for with the same filters by the same client. */
      readonly page_token?: PageToken
    }
    readonly body: undefined
    readonly reply: AuditChain
  }
  /** Get the end of an account’s audit chain */
  readonly getAccountState: {
    readonly path: {
      /** The account. */
      readonly accountId: AccountId
    }
    readonly query: undefined
    readonly body: undefined
    readonly reply: AccountState
  }
  /** List what an account holds */
  readonly listBalances: {
    readonly path: {
      /** The account. */
      readonly accountId: AccountId
    }
    readonly query: {
      /** The balance at this time, not in the future: RFC 3339 with an offset. */
      readonly as_of?: string
      /** How many rows a page has at most. Above 1000 is served as 1000. It may change between pages. */
      readonly page_size?: number
      /** The `next_page_token` of the page before, asked for with the same filters by the same client. */
      readonly page_token?: PageToken
    }
    readonly body: undefined
    readonly reply: BalanceList
  }
  /** Get one balance */
  readonly getBalance: {
    readonly path: {
      /** The account. */
      readonly accountId: AccountId
      /** The token, exactly as it was registered, or `BASE` where balances are asked for. */
      readonly tokenId: string
    }
    readonly query: {
      /** The balance at this time, not in the future: RFC 3339 with an offset. */
      readonly as_of?: string
    }
    readonly body: undefined
    readonly reply: Balance
  }
  /** Get a statement */
  readonly getStatement: {
    readonly path: {
      /** The account. */
      readonly accountId: AccountId
    }
    readonly query: {
      /** The token; `BASE` for the ledger’s own unit. */
      readonly token_id: TokenId
      /** From this time on, not in the future: RFC 3339 with an offset. */
      readonly from?: string
      /** Before this time, by default now; not in the future. */
      readonly to?: string
      /** How many rows a page has at most. Above 1000 is served as 1000. It may change between pages. */
      readonly page_size?: number
      /** The `next_page_token` of the page before, asked for with the same filters by the same client. */
      readonly page_token?: PageToken
    }
    readonly body: undefined
    readonly reply: Statement
  }
  /** Submit a signed order */
  readonly submitTransaction: {
    readonly path: undefined
    readonly query: undefined
    readonly body: Submission
    readonly reply: Transaction | SubmissionReceipt
  }
  /** List transactions, or follow them */
  readonly listTransactions: {
    readonly path: undefined
    readonly query: {
      /** Of this account. */
      readonly account_id?: AccountId
      /** Created at this time or later: RFC 3339 with an offset. */
      readonly date_from?: string
      /** Created before this time: RFC 3339 with an offset. */
      readonly date_to?: string
      /** Of this type. */
      readonly type?: 'debit' | 'credit' | 'transfer' | 'exchange' | 'mint' | 'burn'
      /** Of this token; `BASE` for the ledger’s own unit. */
      readonly token_id?: TokenId
      /** `fungible` or `nft`; anything else finds nothing. */
      readonly token_class?: string
      /** Under this group ID. */
      readonly group_id?: string
      /** Of this amount or more. */
      readonly amount_min?: string
      /** Of this amount or less. */
      readonly amount_max?: string
      /** In this status. */
      readonly status?: 'pending' | 'completed' | 'failed'
      /** Of this key; needs `account_id`. */
      readonly idempotency_key?: IdempotencyKey
      /** Newest first, or as a feed. */
      readonly order?: 'desc' | 'asc'
      /** How many rows a page has at most. Above 1000 is served as 1000. It may change between pages. */
      readonly page_size?: number
      /** The `next_page_token` of the page before, asked for with the same filters by the same client. */
      readonly page_token?: PageToken
    }
    readonly body: undefined
    readonly reply: TransactionList
  }
  /** Rehearse a signed order */
  readonly dryRunTransaction: {
    readonly path: undefined
    readonly query: undefined
    readonly body: Submission
    readonly reply: DryRunResult
  }
  /** Submit many signed orders */
  readonly submitBatch: {
    readonly path: undefined
    readonly query: undefined
    readonly body: SubmissionBatch
    readonly reply: BatchResults
  }
  /** List the transactions under a group ID */
  readonly listGroupTransactions: {
    readonly path: {
      /** The group: a UUID in either case. */
      readonly groupId: string
    }
    readonly query: {
      /** How many rows a page has at most. Above 1000 is served as 1000. It may change between pages. */
      readonly page_size?: number
      /** The `next_page_token` of the page before, asked for with the same filters by the same client. */
      readonly page_token?: PageToken
    }
    readonly body: undefined
    readonly reply: GroupTransactions
  }
  /** Get a transaction */
  readonly getTransaction: {
    readonly path: {
      /** The transaction. */
      readonly txnId: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly reply: Transaction
  }
  /** Get the signed receipt of a transaction */
  readonly getReceipt: {
    readonly path: {
      /** The transaction. */
      readonly txnId: string
    }
    readonly query: {
      /** `log`: the proof in place of the receipt. */
      readonly proof?: 'log'
    }
    readonly body: undefined
    readonly reply: Receipt
  }
  /** Put value on hold */
  readonly createHold: {
    readonly path: undefined
    readonly query: undefined
    readonly body: HoldOrder
    readonly reply: Hold
  }
  /** Capture a hold */
  readonly captureHold: {
    readonly path: {
      /** The hold. */
      readonly holdId: string
    }
    readonly query: undefined
    readonly body: HoldCapture
    readonly reply: SubmissionReceipt
  }
  /** Release a hold */
  readonly releaseHold: {
    readonly path: {
      /** The hold. */
      readonly holdId: string
    }
    readonly query: undefined
    readonly body: HoldRelease
    readonly reply: Hold
  }
  /** Get a hold */
  readonly getHold: {
    readonly path: {
      /** The hold. */
      readonly holdId: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly reply: Hold
  }
  /** List the holds of an account */
  readonly listHolds: {
    readonly path: {
      /** The account. */
      readonly accountId: AccountId
    }
    readonly query: {
      /** The status; `active` by default. */
      readonly status?: 'active' | 'captured' | 'released' | 'expired'
      /** How many rows a page has at most. Above 1000 is served as 1000. It may change between pages. */
      readonly page_size?: number
      /** The `next_page_token` of the page before, asked for with the same filters by the same client. */
      readonly page_token?: PageToken
    }
    readonly body: undefined
    readonly reply: HoldList
  }
  /** Read the event log */
  readonly listEvents: {
    readonly path: undefined
    readonly query: {
      /** The `next_cursor` of an earlier page of the same client; or `latest` for what comes from now on. Absent: from the first event. */
      readonly after?: string
      /** Only these types, separated by commas. `.*` at the end stands for any rest: `ledger.transaction.*`. */
      readonly types?: string
      /** Only events that concern this account. */
      readonly account_id?: AccountId
      /** Only events that concern this token, or this NFT as `class/instance`. */
      readonly token_id?: string
      /** How many rows a page has at most. Above 1000 is served as 1000. It may change between pages. */
      readonly page_size?: number
      /** Seconds to wait for an event if there is none. Above 30 is served as 30. Ignored for a stream. */
      readonly wait?: number
    }
    readonly body: undefined
    readonly reply: EventList
  }
  /** Register a token */
  readonly createFungibleToken: {
    readonly path: undefined
    readonly query: undefined
    readonly body: TokenRegistration
    readonly reply: FungibleToken
  }
  /** List all tokens */
  readonly listFungibleTokens: {
    readonly path: undefined
    readonly query: {
      /** How many rows a page has at most. Above 1000 is served as 1000. It may change between pages. */
      readonly page_size?: number
      /** The `next_page_token` of the page before, asked for with the same filters by the same client. */
      readonly page_token?: PageToken
    }
    readonly body: undefined
    readonly reply: FungibleTokenList
  }
  /** Get a token */
  readonly getFungibleToken: {
    readonly path: {
      /** The token, exactly as it was registered, or `BASE` where balances are asked for. */
      readonly tokenId: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly reply: FungibleToken
  }
  /** Register an NFT class */
  readonly createNftClass: {
    readonly path: undefined
    readonly query: undefined
    readonly body: NftClassRegistration
    readonly reply: NftClass
  }
  /** List all NFT classes */
  readonly listNftClasses: {
    readonly path: undefined
    readonly query: {
      /** How many rows a page has at most. Above 1000 is served as 1000. It may change between pages. */
      readonly page_size?: number
      /** The `next_page_token` of the page before, asked for with the same filters by the same client. */
      readonly page_token?: PageToken
    }
    readonly body: undefined
    readonly reply: NftClassList
  }
  /** Get an NFT class */
  readonly getNftClass: {
    readonly path: {
      /** The NFT class. */
      readonly classId: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly reply: NftClass
  }
  /** Mint an NFT */
  readonly mintNft: {
    readonly path: {
      /** The NFT class. */
      readonly classId: string
    }
    readonly query: undefined
    readonly body: NftMint
    readonly reply: NftInstance
  }
  /** List the NFTs of a class */
  readonly listNftInstances: {
    readonly path: {
      /** The NFT class. */
      readonly classId: string
    }
    readonly query: {
      /** How many rows a page has at most. Above 1000 is served as 1000. It may change between pages. */
      readonly page_size?: number
      /** The `next_page_token` of the page before, asked for with the same filters by the same client. */
      readonly page_token?: PageToken
    }
    readonly body: undefined
    readonly reply: NftInstanceList
  }
  /** Get an NFT */
  readonly getNftInstance: {
    readonly path: {
      /** The NFT class. */
      readonly classId: string
      /** The instance within its class. */
      readonly instanceId: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly reply: NftInstance
  }
  /** List the owners of an NFT */
  readonly listNftHistory: {
    readonly path: {
      /** The NFT class. */
      readonly classId: string
      /** The instance within its class. */
      readonly instanceId: string
    }
    readonly query: {
      /** How many rows a page has at most. Above 1000 is served as 1000. It may change between pages. */
      readonly page_size?: number
      /** The `next_page_token` of the page before, asked for with the same filters by the same client. */
      readonly page_token?: PageToken
    }
    readonly body: undefined
    readonly reply: OwnershipHistory
  }
  /** List everything that is known of an NFT */
  readonly listNftProvenance: {
    readonly path: {
      /** The NFT class. */
      readonly classId: string
      /** The instance within its class. */
      readonly instanceId: string
    }
    readonly query: {
      /** Only entries up to this depth. */
      readonly max_depth?: number
      /** How many rows a page has at most. Above 1000 is served as 1000. It may change between pages. */
      readonly page_size?: number
      /** The `next_page_token` of the page before, asked for with the same filters by the same client. */
      readonly page_token?: PageToken
    }
    readonly body: undefined
    readonly reply: Provenance
  }
  /** List the NFTs of an account */
  readonly listAccountNfts: {
    readonly path: {
      /** The account. */
      readonly accountId: AccountId
    }
    readonly query: {
      /** How many rows a page has at most. Above 1000 is served as 1000. It may change between pages. */
      readonly page_size?: number
      /** The `next_page_token` of the page before, asked for with the same filters by the same client. */
      readonly page_token?: PageToken
    }
    readonly body: undefined
    readonly reply: OwnedNftList
  }
  /** Register a settlement group */
  readonly createSettlementGroup: {
    readonly path: undefined
    readonly query: undefined
    readonly body: GroupRegistration
    readonly reply: SettlementGroup
  }
  /** Get a settlement group */
  readonly getSettlementGroup: {
    readonly path: {
      /** The group: a UUID in either case. */
      readonly groupId: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly reply: SettlementGroup
  }
  /** Revert a settlement group */
  readonly revertSettlementGroup: {
    readonly path: {
      /** The group: a UUID in either case. */
      readonly groupId: string
    }
    readonly query: undefined
    readonly body: GroupRevert
    readonly reply: SettlementGroup
  }
  /** Decline a settlement group */
  readonly declineSettlementGroup: {
    readonly path: {
      /** The group: a UUID in either case. */
      readonly groupId: string
    }
    readonly query: undefined
    readonly body: GroupDecline
    readonly reply: DeclinedGroup
  }
  /** List the legs that settlement groups expect of an account */
  readonly listExpectations: {
    readonly path: {
      /** The account. */
      readonly accountId: AccountId
    }
    readonly query: {
      /** How many rows a page has at most. Above 1000 is served as 1000. It may change between pages. */
      readonly page_size?: number
      /** The `next_page_token` of the page before, asked for with the same filters by the same client. */
      readonly page_token?: PageToken
    }
    readonly body: undefined
    readonly reply: ExpectationList
  }
  /** Have events sent to a URL */
  readonly createWebhook: {
    readonly path: undefined
    readonly query: undefined
    readonly body: WebhookRegistration
    readonly reply: CreatedWebhook
  }
  /** List webhooks */
  readonly listWebhooks: {
    readonly path: undefined
    readonly query: {
      /** How many rows a page has at most. Above 1000 is served as 1000. It may change between pages. */
      readonly page_size?: number
      /** The `next_page_token` of the page before, asked for with the same filters by the same client. */
      readonly page_token?: PageToken
    }
    readonly body: undefined
    readonly reply: WebhookList
  }
  /** Get a webhook */
  readonly getWebhook: {
    readonly path: {
      /** The webhook. */
      readonly webhookId: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly reply: Webhook
  }
  /** Delete a webhook */
  readonly deleteWebhook: {
    readonly path: {
      /** The webhook. */
      readonly webhookId: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly reply: undefined
  }
  /** See the last deliveries of a webhook */
  readonly listWebhookDeliveries: {
    readonly path: {
      /** The webhook. */
      readonly webhookId: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly reply: WebhookDeliveries
  }
  /** Send a test message */
  readonly testWebhook: {
    readonly path: {
      /** The webhook. */
      readonly webhookId: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly reply: WebhookTest
  }
  /** Let a webhook go on */
  readonly enableWebhook: {
    readonly path: {
      /** The webhook. */
      readonly webhookId: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly reply: Webhook
  }
  /** Replace the secret of a webhook */
  readonly rotateWebhookSecret: {
    readonly path: {
      /** The webhook. */
      readonly webhookId: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly reply: RotatedWebhookSecret
  }
  /** State something of an NFT */
  readonly createAttestation: {
    readonly path: undefined
    readonly query: undefined
    readonly body: AttestationSubmission
    readonly reply: Attestation
  }
  /** List attestations */
  readonly listAttestations: {
    readonly path: undefined
    readonly query: {
      /** Of the class with this ID. */
      readonly subject_class?: string
      /** Of the instance with this ID. */
      readonly subject_instance?: string
      /** Of the class with this ID or name. */
      readonly asset_class?: string
      /** By this attester. */
      readonly source?: string
      /** `active` or `revoked`. */
      readonly status?: string
      /** How many rows a page has at most. Above 1000 is served as 1000. It may change between pages. */
      readonly page_size?: number
      /** The `next_page_token` of the page before, asked for with the same filters by the same client. */
      readonly page_token?: PageToken
    }
    readonly body: undefined
    readonly reply: AttestationList
  }
  /** Get an attestation */
  readonly getAttestation: {
    readonly path: {
      /** The attestation. */
      readonly attestationId: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly reply: Attestation
  }
  /** Take an attestation back */
  readonly revokeAttestation: {
    readonly path: {
      /** The attestation. */
      readonly attestationId: string
    }
    readonly query: undefined
    readonly body: AttestationRevocation
    readonly reply: Attestation
  }
  /** Have the total liabilities signed */
  readonly proveLiabilities: {
    readonly path: undefined
    readonly query: undefined
    readonly body: AssertionRequest
    readonly reply: LiabilitiesAssertion
  }
  /** Have the provenance of all NFTs signed */
  readonly proveProvenance: {
    readonly path: undefined
    readonly query: undefined
    readonly body: AssertionRequest
    readonly reply: ProvenanceAssertion
  }
  /** Have the outcome of the controls signed */
  readonly proveCompliance: {
    readonly path: undefined
    readonly query: undefined
    readonly body: AssertionRequest
    readonly reply: ComplianceAssertion
  }
  /** Verify an assertion */
  readonly verifyAssertion: {
    readonly path: undefined
    readonly query: undefined
    readonly body: AssertionCheck
    readonly reply: Verification
  }
  /** Prove that an account is counted in */
  readonly getLiabilityProof: {
    readonly path: {
      /** The account. */
      readonly accountId: AccountId
    }
    readonly query: {
      /** The `merkle_root` of the assertion that it is asked for; the latest, unless said. */
      readonly merkle_root?: Hash
      /** How many rows a page has at most. Above 1000 is served as 1000. It may change between pages. */
      readonly page_size?: number
      /** The `next_page_token` of the page before, asked for with the same filters by the same client. */
      readonly page_token?: PageToken
    }
    readonly body: undefined
    readonly reply: LiabilityProof
  }
  /** Get the log key of an account */
  readonly getAccountLogKey: {
    readonly path: {
      /** The account. */
      readonly accountId: AccountId
    }
    readonly query: undefined
    readonly body: undefined
    readonly reply: AccountLogKey
  }
  /** Get the key to export to */
  readonly getImportKey: {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly reply: ImportKey
  }
  /** Import a part of an export */
  readonly createImport: {
    readonly path: undefined
    readonly query: undefined
    readonly body: ImportPart
    readonly reply: ImportDone | ImportUnderWay
  }
  /** See how far an import is */
  readonly getImport: {
    readonly path: {
      /** The import: a UUID in either case. */
      readonly importId: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly reply: Import
  }
  /** List clients */
  readonly listClients: {
    readonly path: undefined
    readonly query: {
      /** How many rows a page has at most. Above 1000 is served as 1000. It may change between pages. */
      readonly page_size?: number
      /** The `next_page_token` of the page before, asked for with the same filters by the same client. */
      readonly page_token?: PageToken
    }
    readonly body: undefined
    readonly reply: ClientList
  }
  /** Add a client */
  readonly createClient: {
    readonly path: undefined
    readonly query: undefined
    readonly body: ClientRegistration
    readonly reply: Client | CreatedClient
  }
  /** Revoke a client */
  readonly deleteClient: {
    readonly path: {
      /** The client. */
      readonly clientId: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly reply: Client
  }
  /** List all shards */
  readonly listShards: {
    readonly path: undefined
    readonly query: {
      /** How many rows a page has at most. Above 1000 is served as 1000. It may change between pages. */
      readonly page_size?: number
      /** The `next_page_token` of the page before, asked for with the same filters by the same client. */
      readonly page_token?: PageToken
    }
    readonly body: undefined
    readonly reply: ShardList
  }
  /** Get a shard */
  readonly getShard: {
    readonly path: {
      /** The number of the shard. */
      readonly shardId: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly reply: Shard
  }
  /** Drain a shard, or no longer */
  readonly putShardHealth: {
    readonly path: {
      /** The number of the shard. */
      readonly shardId: string
    }
    readonly query: undefined
    readonly body: ShardHealth
    readonly reply: Shard
  }
  /** Read the administrative chain */
  readonly listAdministrativeChain: {
    readonly path: undefined
    readonly query: {
      /** Only acts on this account. */
      readonly account_id?: AccountId
      /** How many rows a page has at most. Above 1000 is served as 1000. It may change between pages. */
      readonly page_size?: number
      /** The `next_page_token` of the page before, asked for with the same filters by the same client. */
      readonly page_token?: PageToken
    }
    readonly body: undefined
    readonly reply: AdministrativeChain
  }
  /** List the starting points */
  readonly getRoot: {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly reply: Root
  }
  /** Whether the process answers */
  readonly getHealth: {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly reply: Health
  }
  /** Whether requests can be served, and which ledger this is */
  readonly getReadiness: {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly reply: Readiness
  }
  /** Get the public keys of the service */
  readonly getKeySet: {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly reply: KeySet
  }
  /** Get this document */
  readonly getOpenApi: {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly reply: { readonly [name: string]: unknown }
  }
}
