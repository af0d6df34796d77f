/** Signs a submission in a shell, as decisions on signatures have it: RFC 8785, SHA-256, ECDSA P-256, base64url of r||s. */
import { createHash, createPrivateKey, sign, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { p256 } from '@noble/curves/nist.js'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import { parseStrictJson } from '../../api/http/json-text.ts'
import { fieldPath } from '../../api/http/invalid.ts'
import { publicJwkOf } from '../keys/public-key.ts'
import { CommandFailed, EXIT_OK, readArgs, required, type Command, type CommandIo } from './common/command.ts'

export const signCommand: Command = {
  summary: 'sign a submission',
  help: `Usage: ledger sign --key FILE [--new-key FILE] [--show-canonical] [--double-check] < submission.json

Reads a JSON object from standard input and prints it, on one line, with "signature" added: ready for curl -d @-.
The signature covers the canonical JSON (RFC 8785) of the object without "signature" and "proof". Duplicate keys,
invalid Unicode, and numbers that a double cannot hold exactly are refused. Quantities are strings.

  --key FILE         the account's private key (PEM), as ledger keygen makes it
  --new-key FILE     for a key rotation: adds "proof", a signature by the new key over the same payload
  --show-canonical   prints the signed bytes and their SHA-256 digest to standard error
  --double-check     verifies the signature with a second, independent implementation before printing
`,
  run: async (args, io) => {
    const { values } = readArgs(args, {
      key: { type: 'string' },
      'new-key': { type: 'string' },
      'show-canonical': { type: 'boolean' },
      'double-check': { type: 'boolean' },
    })
    const key = readKey(required(values.key, 'key'), io)
    const newKey = values['new-key'] === undefined ? undefined : readKey(values['new-key'], io)
    const submission = readSubmission(await io.readInput())
    const { signature: _signature, proof: _proof, ...payload } = submission
    const canonical = canonicalJson(payload)
    if (values['show-canonical'] === true) {
      io.err(`canonical: ${canonical}\nsha256: ${createHash('sha256').update(canonical, 'utf8').digest('hex')}\n`)
    }
    const doubleCheck = values['double-check'] === true
    const signed: JsonObject = {
      ...payload,
      ...(newKey === undefined ? {} : { proof: signatureOf(canonical, newKey, doubleCheck) }),
      signature: signatureOf(canonical, key, doubleCheck),
    }
    io.out(`${JSON.stringify(signed)}\n`)
    return EXIT_OK
  },
}

function signatureOf(canonical: string, key: KeyObject, doubleCheck: boolean): string {
  const signature = sign('sha256', Buffer.from(canonical, 'utf8'), { key, dsaEncoding: 'ieee-p1363' })
  if (doubleCheck && !verifiesElsewhere(canonical, key, signature)) {
    throw new CommandFailed('the two implementations of ECDSA do not agree: nothing was printed')
  }
  return signature.toString('base64url')
}

/** @noble/curves shares no code with OpenSSL. */
function verifiesElsewhere(canonical: string, key: KeyObject, signature: Buffer): boolean {
  const { x, y } = publicJwkOf(key)
  const point = Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
  return p256.verify(signature, Buffer.from(canonical, 'utf8'), point, { lowS: false })
}

function readKey(path: string, io: CommandIo): KeyObject {
  let key: KeyObject
  try {
    key = createPrivateKey(readFileSync(resolve(io.cwd, path)))
  } catch (cause) {
    throw new CommandFailed(`${path} holds no private key that can be read`, { cause })
  }
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw new CommandFailed(`${path} holds no P-256 key`)
  }
  return key
}

function readSubmission(input: Buffer): JsonObject {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(input)
  } catch (cause) {
    throw new CommandFailed('the input is not UTF-8', { cause })
  }
  const parsed = parseStrictJson(text)
  if (!parsed.ok) {
    const { keys, message } = parsed.error
    throw new CommandFailed(keys.length === 0 ? message : `${fieldPath(keys)}: ${message}`)
  }
  const { value } = parsed
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new CommandFailed('the input is no JSON object')
  }
  return value as JsonObject
}
