/** Signatures of an account's commands: a verdict counts only for a key that the step itself sees (S3). */
import type { StepResult } from '../define-actor.ts'
import { signedElsewhere } from './arrival.ts'
import type {
  AccountCommand,
  CreateHoldCommand,
  DeclineCommand,
  MintCommand,
  ReleaseHoldCommand,
  RotateKeyCommand,
  SubmitCommand,
} from './commands.ts'
import type { Evidence } from './evidence.ts'
import { mintUnderWay } from './mint.ts'
import { type Answer, refusal } from './outcome.ts'
import type { AccountKey, AccountState } from './state.ts'

export type SignedCommand = SubmitCommand | RotateKeyCommand | MintCommand | CreateHoldCommand

type Unready = Exclude<StepResult<AccountState>, { readonly kind: 'stepped' }>

/** The reply or request for evidence that precedes the account's own checks; undefined where there is none. */
export function authenticate(
  account: AccountState | null,
  command: AccountCommand,
  evidence: Evidence,
): Unready | undefined {
  if (account === null) return undefined
  switch (command.type) {
    case 'submit':
    case 'dry_run':
    case 'mint':
    case 'create_hold':
      return authenticateSigned(account, command, evidence)
    case 'rotate_key':
      return authenticateSigned(account, command, evidence) ?? unverifiedProof(command, evidence)
    case 'decline_legs':
    case 'release_hold':
      return authenticateDecline(account, command, evidence)
    case 'prepare_issue':
    case 'prepare_class': {
      const { key } = account
      const { consentNeeded, signature } = command
      if (!consentNeeded || key === null || signature === '') return undefined
      return evidence.verdict(key.keyId, signature) === undefined ? { kind: 'unverified', key, signature } : undefined
    }
    default:
      return undefined
  }
}

function authenticateSigned(account: AccountState, command: SignedCommand, evidence: Evidence): Unready | undefined {
  const { earlier } = evidence
  // A pending mint or hold is the original of its repeats: it was accepted under the key in force then (D7).
  const begun = acceptedUnder(account, command)
  const keys = [account.key, earlier?.key ?? null, begun ?? null].filter((key) => key !== null)
  if (keys.length === 0) return answered(keyless())
  const problem = signatureProblem(keys, command.signature, evidence)
  if (problem !== undefined || earlier !== undefined || begun !== undefined) return problem
  const elsewhere = signedElsewhere(account, command, evidence.usedElsewhere)
  if (elsewhere === 'stale_look_up') return { kind: 'stale_look_up' }
  return elsewhere === undefined ? undefined : answered(elsewhere)
}

function acceptedUnder(account: AccountState, command: SignedCommand): AccountKey | undefined {
  if (command.type === 'mint') return mintUnderWay(account, command.idempotencyKey)?.acceptedUnder
  if (command.type !== 'create_hold') return undefined
  return account.holds.openingOf(command.idempotencyKey)?.opening?.acceptedUnder
}

/** The new key of a rotation also signs the payload. */
function unverifiedProof({ newKey, proof }: RotateKeyCommand, { earlier, verdict }: Evidence): Unready | undefined {
  if (proof === null || earlier !== undefined || verdict(newKey.keyId, proof) !== undefined) return undefined
  return { kind: 'unverified', key: newKey, signature: proof }
}

/** Of an idempotent command, which has no key. */
function authenticateDecline(
  account: AccountState,
  command: DeclineCommand | ReleaseHoldCommand,
  evidence: Evidence,
): Unready | undefined {
  if (account.key === null) return answered(keyless())
  return signatureProblem([account.key], command.signature, evidence)
}

/** Undefined if one of the keys made the signature. */
function signatureProblem(keys: readonly AccountKey[], signature: string, { verdict }: Evidence): Unready | undefined {
  for (const key of keys) {
    const isValid = verdict(key.keyId, signature)
    if (isValid === undefined) return { kind: 'unverified', key, signature }
    if (isValid) return undefined
  }
  const detail = 'The signature does not match the key of the account.'
  return answered(refusal('signature_mismatch', detail, 'signature', keys[0]?.keyId))
}

function answered(answer: Answer): Unready {
  return { kind: 'answered', answer }
}

function keyless(): Answer {
  return refusal('account_keyless', 'The account has no key yet: it can only receive.')
}
