/**
 * Checks a complete import in one pass over its parts, and builds the index for applying it. Memory grows with the number
 * of records, not with their content.
 *   Q1. The proof's hash is the hash of all lines.
 *   Q2. No record occurs twice, and every record that another one names is in the file.
 *   Q3. The balances of a token do not exceed its supply, and every balance was decrypted.
 */
import { createHash } from 'node:crypto'
import { BASE_UNIT, fractionalDigits, parseQuantity, type Quantity, ZERO } from '../../actors/money.ts'
import { foldedName } from '../../actors/nft-class/state.ts'
import { nftId } from '../../actors/nft-id.ts'
import type {
  AccountRecord,
  ClassRecord,
  ExportRecord,
  InstanceRecord,
  ProofRecord,
  TokenRecord,
} from '../../api/schemas/requests/export-records.ts'
import { MAX_ERRORS } from '../../api/http/problem.ts'
import type { RecordKind } from '../../api/schemas/requests/export-records.ts'
import type { ImportFault, ImportRefusal, ImportSummary } from '../../runtime/ports/ledger-imports.ts'
import type { OpenedBalances, StagedPart } from './import-documents.ts'
import { SeenHashes } from './seen-hashes.ts'

/** Index of a complete import. */
export interface ImportIndex {
  /** Kinds of records in each part. */
  readonly kinds: readonly ReadonlySet<RecordKind>[]
  readonly accounts: ReadonlySet<string>
  /** By class ID. */
  readonly issuers: ReadonlyMap<string, string>
  /** Number of unburned NFTs by account. */
  readonly owned: ReadonlyMap<string, number>
  readonly counts: Omit<ImportSummary, 'present'>
}

interface SurveyedToken {
  readonly line: number
  readonly tokenId: string
  readonly decimals: number
  readonly total: Quantity
  sum: Quantity
}

/** The records of a part, in order. */
export function recordsOf({ text }: StagedPart): readonly ExportRecord[] {
  return linesIn(text).map((line) => JSON.parse(line) as ExportRecord)
}

function linesIn(text: string): readonly string[] {
  return text.split('\n').slice(0, -1)
}

const NOTHING_OPENED: OpenedBalances = new Map()
const UNLIKE = 'the decrypted balances do not match the record'
const REPEATED = 'it occurs twice in the file'

export class ImportSurvey {
  private readonly hash = createHash('sha256')
  private readonly kinds: Set<RecordKind>[] = []
  private readonly accounts = new Set<string>()
  private readonly tokens = new Map<string, SurveyedToken>()
  private readonly issuers = new Map<string, string>()
  private readonly names = new Set<string>()
  private readonly instances = new Set<string>()
  private readonly attestations = new Set<string>()
  private readonly owned = new Map<string, { count: number; readonly line: number }>()
  private readonly faults: ImportFault[] = []
  private readonly hashes = new SeenHashes()
  /** The last account record. */
  private account: { readonly line: number } | undefined
  private proof: ProofRecord | undefined

  take(part: StagedPart): void {
    const kinds = new Set<RecordKind>()
    this.kinds.push(kinds)
    for (const line of linesIn(part.text)) {
      const record = JSON.parse(line) as ExportRecord
      kinds.add(record.record)
      if (record.record !== 'proof') this.hash.update(`${line}\n`, 'utf8')
      this.see(record, part)
    }
  }

  /** The used keys of an account directly follow it. */
  private endAccount(): void {
    const { account } = this
    if (account === undefined || this.hashes.endsWithoutRepeat()) return
    this.fault('field', account.line, 'account_id', 'the hash of a used key of the account occurs twice in the file')
  }

  /** Call after the last part. */
  end(): { readonly ok: true; readonly index: ImportIndex } | { readonly ok: false; readonly refusal: ImportRefusal } {
    const proofHash = `sha256:${this.hash.digest('hex')}`
    const { proof } = this
    if (proof === undefined) throw new Error('a complete import has no proof')
    if (proof.proof_hash !== proofHash) {
      this.fault('proof_hash', proof.line, 'proof_hash', 'is not the hash of the lines before it')
    }
    this.endAccount()
    this.checkOwners()
    this.checkSums()
    if (this.faults.length > 0) return { ok: false, refusal: { kind: 'invalid', faults: this.faults } }
    const { kinds, accounts, issuers } = this
    const owned = new Map([...this.owned].map(([accountId, { count }]) => [accountId, count]))
    const counts = {
      accounts: accounts.size,
      tokens: this.tokens.size,
      nftClasses: issuers.size,
      nftInstances: this.instances.size,
      attestations: this.attestations.size,
    }
    return { ok: true, index: { kinds, accounts, issuers, owned, counts } }
  }

  private fault(code: ImportFault['code'], line: number, field: string, message: string): void {
    // One more than is reported shows that there are more.
    if (this.faults.length > MAX_ERRORS) return
    this.faults.push({ code, field: `lines[${line}].${field}`, message: `line ${line}: ${message}` })
  }

  private see(record: ExportRecord, part: StagedPart): void {
    switch (record.record) {
      case 'token':
        return this.seeToken(record)
      case 'nft_class':
        return this.seeClass(record)
      case 'nft_instance':
        return this.seeInstance(record)
      case 'attestation': {
        const { attestation_id: id, subject_class: classId } = record.attestation
        this.once(this.attestations, id, 'field', record.line, 'attestation.attestation_id')
        if (this.issuers.has(classId)) return
        return this.fault('class_id', record.line, 'attestation.subject_class', 'there is no such class in the file')
      }
      case 'account':
        return this.seeAccount(record, part.balances.get(record.line) ?? NOTHING_OPENED)
      case 'proof':
        this.proof = record
        return
      case 'used_keys':
        for (const hash of record.hashes) this.hashes.add(hash)
        return
      case 'ledger':
    }
  }

  private once(seen: Set<string>, id: string, code: ImportFault['code'], line: number, field: string): boolean {
    const isNew = !seen.has(id)
    seen.add(id)
    if (!isNew) this.fault(code, line, field, REPEATED)
    return isNew
  }

  private seeToken({ line, symbol, decimals, total_supply: supply }: TokenRecord): void {
    const key = symbol.toLowerCase()
    if (this.tokens.has(key)) return this.fault('symbol', line, 'symbol', REPEATED)
    if (key === BASE_UNIT.toLowerCase())
      return this.fault('symbol', line, 'symbol', 'it is the base unit of every ledger')
    this.tokens.set(key, { line, tokenId: symbol, decimals, total: parseQuantity(supply), sum: ZERO })
  }

  private seeClass({ line, class_id: classId, name, issuer }: ClassRecord): void {
    this.once(this.names, foldedName(name), 'class_id', line, 'name')
    if (this.issuers.has(classId)) return this.fault('class_id', line, 'class_id', REPEATED)
    this.issuers.set(classId, issuer)
  }

  private seeInstance({ line, class_id: classId, instance_id: instanceId, owner, status }: InstanceRecord): void {
    if (!this.issuers.has(classId)) this.fault('class_id', line, 'class_id', 'there is no such class in the file')
    this.once(this.instances, nftId({ classId, instanceId }), 'field', line, 'instance_id')
    if (status === 'burned') return
    const owned = this.owned.get(owner) ?? { count: 0, line }
    owned.count += 1
    this.owned.set(owner, owned)
  }

  private seeAccount({ line, account_id: accountId, balances }: AccountRecord, opened: OpenedBalances): void {
    this.endAccount()
    this.account = { line }
    this.once(this.accounts, accountId, 'account_id', line, 'account_id')
    if (opened.size !== balances.length) this.fault('balance', line, 'balances', UNLIKE)
    for (const [index, { token_id: tokenId }] of balances.entries()) {
      const text = opened.get(tokenId)
      if (text === undefined) {
        this.fault('balance', line, `balances[${index}].encrypted_balance`, UNLIKE)
        continue
      }
      if (tokenId === BASE_UNIT) continue
      const token = this.tokens.get(tokenId.toLowerCase())
      if (token?.tokenId !== tokenId) {
        this.fault('token_id', line, `balances[${index}].token_id`, 'there is no such token in the file')
        continue
      }
      const quantity = parseQuantity(text)
      if (fractionalDigits(quantity) > token.decimals) {
        this.fault('balance', line, `balances[${index}].encrypted_balance`, 'it has more decimals than its token')
      }
      token.sum += quantity
    }
  }

  private checkOwners(): void {
    for (const [accountId, { line }] of this.owned) {
      if (!this.accounts.has(accountId)) this.fault('account_id', line, 'owner', 'there is no such account in the file')
    }
  }

  /** Q3. The sum may be below the supply: value in transit during the export is in no balance. */
  private checkSums(): void {
    for (const { line, sum, total } of this.tokens.values()) {
      if (sum > total) this.fault('total_supply', line, 'total_supply', 'the balances exceed the supply')
    }
  }
}
