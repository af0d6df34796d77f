/**
 * Certificates (X.509 version 3, RFC 5280) with P-256 keys: an authority, and what it signs for servers. Written out here
 * because neither Node.js nor a small system has a program that makes them.
 */
import { createHash, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'

const DAY_MS = 86_400_000
/** Clocks that are a little behind find it valid, too. */
const EARLIER_MS = 3_600_000
const SEQUENCE = 0x30
const OID = 0x06
const OCTETS = 0x04
const BITS = 0x03
const TRUE = der(0x01, Buffer.from([0xff]))
const ECDSA_WITH_SHA256 = der(SEQUENCE, oid([1, 2, 840, 10045, 4, 3, 2]))
const USAGES = { server: oid([1, 3, 6, 1, 5, 5, 7, 3, 1]), client: oid([1, 3, 6, 1, 5, 5, 7, 3, 2]) }

export function newPrivateKey() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
}

export function pemOfKey(key) {
  return key.export({ format: 'pem', type: 'pkcs8' })
}

/** Signed by itself; it may sign certificates of servers and no other authority. */
export function authorityCertificate(key, name, days) {
  return certificate({ key, name, days, signer: key, issuer: name }, [
    extension([2, 5, 29, 19], der(SEQUENCE, TRUE, der(0x02, Buffer.from([0]))), true),
    // keyCertSign, cRLSign
    extension([2, 5, 29, 15], der(BITS, Buffer.from([1, 0x06])), true),
  ])
}

/** `hosts`: names and IPv4 addresses that it is reached by. `usages`: `server`, `client`. */
export function serverCertificate({ key, name, days, signer, issuer, hosts, usages }) {
  const names = hosts.map((host) =>
    isIPv4(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host, 'latin1')),
  )
  return certificate({ key, name, days, signer, issuer }, [
    extension([2, 5, 29, 19], der(SEQUENCE), true),
    // digitalSignature
    extension([2, 5, 29, 15], der(BITS, Buffer.from([7, 0x80])), true),
    extension([2, 5, 29, 37], der(SEQUENCE, ...usages.map((usage) => USAGES[usage]))),
    extension([2, 5, 29, 17], der(SEQUENCE, ...names)),
  ])
}

function certificate({ key, name, days, signer, issuer }, extensions) {
  const now = Date.now()
  const content = der(
    SEQUENCE,
    der(0xa0, der(0x02, Buffer.from([2]))),
    // Positive, and with its first bit set in no case.
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ECDSA_WITH_SHA256,
    nameOf(issuer),
    der(SEQUENCE, timeOf(now - EARLIER_MS), timeOf(now + days * DAY_MS)),
    nameOf(name),
    publicPartOf(key),
    der(
      0xa3,
      der(
        SEQUENCE,
        ...extensions,
        extension([2, 5, 29, 14], der(OCTETS, identifierOf(key))),
        extension([2, 5, 29, 35], der(SEQUENCE, der(0x80, identifierOf(signer)))),
      ),
    ),
  )
  const signature = der(BITS, Buffer.concat([Buffer.from([0]), sign('sha256', content, signer)]))
  const base64 = der(SEQUENCE, content, ECDSA_WITH_SHA256, signature).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${base64.match(/.{1,64}/g).join('\n')}\n-----END CERTIFICATE-----\n`
}

function publicPartOf(key) {
  return createPublicKey(key).export({ format: 'der', type: 'spki' })
}

/** RFC 7093, method 4. */
function identifierOf(key) {
  return createHash('sha256').update(publicPartOf(key)).digest().subarray(0, 20)
}

function nameOf(commonName) {
  return der(SEQUENCE, der(0x31, der(SEQUENCE, oid([2, 5, 4, 3]), der(0x0c, Buffer.from(commonName)))))
}

/** Two digits of the year until 2049, four from then on. */
function timeOf(timeMs) {
  const digits = `${new Date(timeMs).toISOString().replaceAll(/[-:T]/g, '').slice(0, 14)}Z`
  return digits < '2050' ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits))
}

function extension(id, value, critical = false) {
  return der(SEQUENCE, oid(id), ...(critical ? [TRUE] : []), der(OCTETS, value))
}

function oid([first, second, ...rest]) {
  const bytes = [40 * first + second]
  for (const number of rest) {
    const groups = [number & 0x7f]
    for (let left = number >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80)
    bytes.push(...groups)
  }
  return der(OID, Buffer.from(bytes))
}

/** Tag, length, content (X.690). */
function der(tag, ...contents) {
  const content = Buffer.concat(contents)
  const length = []
  for (let left = content.length; left > 0; left >>= 8) length.unshift(left & 0xff)
  const short = content.length < 0x80
  return Buffer.concat([Buffer.from(short ? [tag, content.length] : [tag, 0x80 | length.length, ...length]), content])
}
