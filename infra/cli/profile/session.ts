/**
 * A command's access to a ledger: the profile, its client, the keys of accounts and the output.
 *   S1. A failed request becomes one message: the fields that are wrong, and the next step where one is known.
 *   S2. OutcomeUnknown is thrown if a request that may change the ledger could have arrived there, and its outcome is not
 *       known: also if the ledger accepted an order and then failed while the command waited. It is also thrown for a wait
 *       alone, unless the ledger refused to show what the command waits for.
 */
import type { Command } from 'commander'
import { importKey, type AccountKey } from '../../../api/client/signing/keys.ts'
import { PASSING_REFUSALS } from '../../../api/client/http.ts'
import { LedgerClient } from '../../../api/client/ledger-client.ts'
import { isLedgerError, type LedgerError } from '../../../api/client/ledger-error.ts'
import { CommandFailed, type CommandIo, OutcomeUnknown } from '../common/command.ts'
import { addOutputOptions, createOutput, type Output, type OutputOptions } from '../common/output.ts'
import { fieldLines } from '../common/problem-text.ts'
import { shownText } from '../common/shown-text.ts'
import { createKeyFiles, type KeyFile, type KeyFiles } from './key-files.ts'
import { addProfileOption, credentialsOf, type Profile, type ProfileOptions, readProfile } from './profiles.ts'
import { savedToken } from './saved-token.ts'
import { watchedFetch } from './watched-fetch.ts'

const SERVER_ERROR = 500

export interface SessionOptions extends ProfileOptions, OutputOptions {}

export interface Session {
  readonly profile: Profile
  readonly client: LedgerClient
  readonly keyFiles: KeyFiles
  readonly output: Output
  /** The next step to print below a message that the outcome is unknown. Replaces an earlier one. */
  readonly adviseIfUnknown: (text: string) => void
}

export function addSessionOptions(command: Command): Command {
  return addOutputOptions(addProfileOption(command))
}

/** Calls `work` with a session. Throws CommandFailed and OutcomeUnknown in place of LedgerError (S1). */
export async function withSession<T>(
  options: SessionOptions,
  io: CommandIo,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const profile = readProfile(options, io)
  const { url, ledgerId } = profile
  const watched = watchedFetch(url, io)
  const client = new LedgerClient({
    url,
    ledgerId,
    credentials: credentialsOf(profile),
    tokenStore: savedToken(profile, io),
    fetch: watched.fetch,
  })
  let advice: string | undefined
  try {
    return await work({
      profile,
      client,
      keyFiles: createKeyFiles(ledgerId, io),
      output: createOutput(options, io),
      adviseIfUnknown: (text) => (advice = text),
    })
  } catch (error) {
    if (!isLedgerError(error)) throw error
    throw failureOf(error, profile, { mayHaveArrived: watched.mayHaveArrived(), advice })
  }
}

/** The key in the form in which the client signs with it. */
export function signingKey({ key }: KeyFile): Promise<AccountKey> {
  return importKey(key.export({ format: 'pem', type: 'pkcs8' }).toString())
}

interface Circumstances {
  /** A request that may change the ledger. */
  readonly mayHaveArrived: boolean
  readonly advice: string | undefined
}

function failureOf(error: LedgerError, profile: Profile, { mayHaveArrived, advice }: Circumstances): CommandFailed {
  const fields = error.problem === undefined ? [] : fieldLines({ ...error.problem })
  const isUnknown = error.outcome === 'unknown' && (mayHaveArrived || isOpenWait(error))
  const isRegistered = error.code === 'ERR_TERMS_CHANGED'
  const hints = [hintOf(error, profile, isUnknown), isUnknown && !isRegistered ? advice : undefined]
  const text = [shownText(error.message), ...fields, ...hints.filter((hint) => hint !== undefined)].join('\n')
  return isUnknown ? new OutcomeUnknown(text, { cause: error }) : new CommandFailed(text, { cause: error })
}

/** A wait that ended without a verdict on the transaction or group. */
function isOpenWait({ txnId, groupId, status, problem }: LedgerError): boolean {
  const isRefused = problem !== undefined && status < SERVER_ERROR && !PASSING_REFUSALS.has(status)
  return (txnId !== undefined || groupId !== undefined) && !isRefused
}

function hintOf({ code, groupId }: LedgerError, { name, clientId }: Profile, isUnknown: boolean): string | undefined {
  const login = name === 'default' ? 'ledger login' : `ledger login --profile ${name}`
  switch (code) {
    case 'ERR_UNAUTHORIZED':
      return `Run ${login} again.`
    case 'ERR_WRONG_LEDGER':
      return `Another ledger runs at the address of profile ${name} now: run ${login} again.`
    case 'ERR_UNREACHABLE':
      return isUnknown ? undefined : `If the ledger of profile ${name} has another address now, run ${login} again.`
    case 'ERR_FORBIDDEN':
      return `Profile ${name} is the client ${clientId}: choose another with --profile.`
    case 'ERR_TERMS_CHANGED':
      return `Sign none of its legs, and end it: ledger group revert ${groupId} --reason 'other terms'`
    default:
      return undefined
  }
}
