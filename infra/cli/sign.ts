/** Signs a submission: RFC 8785 canonical JSON, SHA-256, ECDSA P-256, base64url of r||s (decision D6). */
import { createHash, sign, type KeyObject } from 'node:crypto'
import { p256 } from '@noble/curves/nist.js'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import { parseStrictJson } from '../../api/http/json-text.ts'
import { fieldPath } from '../../api/http/invalid.ts'
import { publicJwkOf } from '../keys/public-key.ts'
import { CommandFailed, type CommandSetup } from './common/command.ts'
import { isJsonObject, readGivenFile } from './common/given-file.ts'
import { escapedJson, shownJson } from './common/shown-text.ts'
import { privateKeyOf } from './profile/key-files.ts'

interface SignOptions {
  readonly key: string
  readonly newKey?: string
  readonly showCanonical?: boolean
  readonly doubleCheck?: boolean
}

export const signCommand: CommandSetup = (command, io) => {
  command
    .usage('--key <file> [options] < submission.json')
    .description(
      `Reads a JSON object from standard input and prints it on one line with "signature" added, ready for
curl -d @-. The signature covers the canonical JSON (RFC 8785) of the object without "signature" and
"proof". Duplicate keys, invalid Unicode, and numbers that a double cannot represent exactly are
refused. Quantities are strings.`,
    )
    .requiredOption('--key <file>', "the account's private key (PEM), as ledger keygen writes it")
    .option('--new-key <file>', 'for a key rotation: add "proof", a signature by the new key over the same payload')
    .option('--show-canonical', 'print the signed bytes and their SHA-256 digest to standard error')
    .option('--double-check', 'verify the signature with a second, independent implementation before printing')
    .action(async ({ key: keyFile, newKey: newKeyFile, showCanonical, doubleCheck = false }: SignOptions) => {
      const key = privateKeyOf(readGivenFile(keyFile, io), keyFile)
      const newKey = newKeyFile === undefined ? undefined : privateKeyOf(readGivenFile(newKeyFile, io), newKeyFile)
      const { signature: _signature, proof: _proof, ...payload } = readSubmission(await io.readInput())
      const canonical = canonicalJson(payload)
      if (showCanonical === true) {
        const shown = io.terminal.error ? escapedJson(canonical) : canonical
        io.err(`canonical: ${shown}\nsha256: ${createHash('sha256').update(canonical, 'utf8').digest('hex')}\n`)
      }
      const signed: JsonObject = {
        ...payload,
        ...(newKey === undefined ? {} : { proof: signatureOf(canonical, newKey, doubleCheck) }),
        signature: signatureOf(canonical, key, doubleCheck),
      }
      io.out(`${shownJson(signed)}\n`)
    })
}

function signatureOf(canonical: string, key: KeyObject, doubleCheck: boolean): string {
  const signature = sign('sha256', Buffer.from(canonical, 'utf8'), { key, dsaEncoding: 'ieee-p1363' })
  if (doubleCheck && !verifiesWithNoble(canonical, key, signature)) {
    throw new CommandFailed('the two implementations of ECDSA disagree about the signature: nothing was printed')
  }
  return signature.toString('base64url')
}

/** @noble/curves shares no code with OpenSSL, which signed. */
function verifiesWithNoble(canonical: string, key: KeyObject, signature: Buffer): boolean {
  const { x, y } = publicJwkOf(key)
  const point = Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
  return p256.verify(signature, Buffer.from(canonical, 'utf8'), point, { lowS: false })
}

function readSubmission(input: Buffer): JsonObject {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(input)
  } catch (cause) {
    throw new CommandFailed('standard input is not UTF-8', { cause })
  }
  if (text.trim() === '') {
    throw new CommandFailed(
      'standard input is empty: pass the submission, such as ledger sign --key key.pem < submission.json',
    )
  }
  const parsed = parseStrictJson(text)
  if (!parsed.ok) {
    const { keys, message } = parsed.error
    throw new CommandFailed(`standard input: ${keys.length === 0 ? '' : `${fieldPath(keys)}: `}${message}`)
  }
  if (!isJsonObject(parsed.value)) throw new CommandFailed('standard input is not a JSON object')
  return parsed.value
}
