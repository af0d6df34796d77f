/**
 * A key program (../outside/key-protocol.ts) for keys on PKCS #11 tokens. It is a process of its own: the module of a vendor
 * cannot crash or stall a node.
 *   A1. The PIN comes from a file, and is in no argument, variable or output.
 *   A2. An error of the module ends the program after its reply: the ledger starts it again, and a token that was removed is
 *       found again.
 *   A3. A login is tried once in a process: waiting requests share its failure, because a device locks itself after a few
 *       wrong PINs. A device that is away has judged no PIN.
 */
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import * as v from 'valibot'
import { type KeyReply, type KeyRequest, LOGIN_REFUSED, requestSchema } from '../outside/key-protocol.ts'
import {
  CKR_DEVICE_ERROR,
  CKR_DEVICE_REMOVED,
  CKR_SESSION_CLOSED,
  CKR_SESSION_HANDLE_INVALID,
  CKR_TOKEN_NOT_PRESENT,
  type Cryptoki,
  CryptokiFailed,
} from './cryptoki.ts'
import { readPkcs11Uri } from './pkcs11-uri.ts'
import { openToken, type Token, TokenUnusable } from './token.ts'

export interface AgentOptions {
  readonly cryptoki: Cryptoki
  readonly pin: string
  /** Operations at once on one token. */
  readonly sessions: number
  readonly input: Readable
  readonly write: (line: string) => void
}

/** Of a login whose PIN was not judged. */
const DEVICE_AWAY: ReadonlySet<number> = new Set([
  CKR_DEVICE_ERROR,
  CKR_DEVICE_REMOVED,
  CKR_SESSION_CLOSED,
  CKR_SESSION_HANDLE_INVALID,
  CKR_TOKEN_NOT_PRESENT,
])

/** Resolves at the end of the input, and after an error of the module (A2). */
export async function runAgent({ cryptoki, pin, sessions, input, write }: AgentOptions): Promise<void> {
  const tokens = new Map<string, () => Token>()
  const tokenOf = (label: string): Token => {
    const opened = tokens.get(label) ?? openedOnce(() => openToken(cryptoki, label, pin, sessions))
    tokens.set(label, opened)
    return opened()
  }
  const lines = createInterface({ input, crlfDelay: Infinity })
  const answer = async (line: string): Promise<void> => {
    const request = v.safeParse(v.pipe(v.string(), v.parseJson(), requestSchema), line)
    if (!request.success) return lines.close()
    const reply = await replyTo(request.output, tokenOf)
    write(`${JSON.stringify(reply)}\n`)
    if ('error' in reply) lines.close()
  }
  const underWay = new Set<Promise<void>>()
  lines.on('line', (line) => {
    const work = answer(line).finally(() => underWay.delete(work))
    underWay.add(work)
  })
  await new Promise<void>((resolve) => lines.once('close', resolve))
  await Promise.all(underWay)
}

/** A3. */
function openedOnce(open: () => Token): () => Token {
  try {
    const token = open()
    return () => token
  } catch (error) {
    return () => {
      throw error
    }
  }
}

async function replyTo({ id, op, key, data }: KeyRequest, tokenOf: (label: string) => Token): Promise<KeyReply> {
  const named = readPkcs11Uri(key)
  if (named === undefined) return { id, error: 'not_a_pkcs11_uri' }
  try {
    const token = tokenOf(named.token)
    if (op === 'public_key') return { id, results: [token.publicKey(named.object).toString('base64')] }
    const results = await Promise.all(
      data.map((text) =>
        token[op](named.object, Buffer.from(text, 'base64')).then((bytes) => bytes.toString('base64')),
      ),
    )
    return { id, results }
  } catch (error) {
    return { id, error: codeOf(error) }
  }
}

function codeOf(error: unknown): string {
  if (error instanceof TokenUnusable) return error.code
  if (error instanceof CryptokiFailed && error.called === 'login' && !DEVICE_AWAY.has(error.code)) return LOGIN_REFUSED
  return error instanceof CryptokiFailed ? `ckr_${error.code.toString(16)}` : 'failed'
}
