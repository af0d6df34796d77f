#!/usr/bin/env node
/**
 * Makes what a cluster needs to trust its parts: an authority with certificates for the servers, an nkey for each role at
 * NATS, a password for each role at PostgreSQL, the master key, and a part key for each part.
 *   M1. Existing files are never replaced; a second run makes the missing ones. To rotate a secret, remove its files and
 *       run again.
 *   M2. Nothing secret is printed, and nothing secret is an argument of a process.
 *   M3. The directory is closed to others. Files in it are readable by all: each is mounted into a container whose user
 *       has another number than their owner. Only the authority's key is mounted nowhere, and readable by its owner alone.
 */
import { spawnSync } from 'node:child_process'
import { createPrivateKey, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nkeys } from 'nats'
import { authorityCertificate, newPrivateKey, pemOfKey, serverCertificate } from './certificates.mjs'

const USAGE = `Usage: node infra/deploy/make-secrets.mjs DIRECTORY [NATS-SERVER...]

Makes certificates, credentials and keys of a cluster in DIRECTORY, as far as they are not there. NATS-SERVERs are named as
others reach them: nats-1 nats-2 nats-3 unless said. Needs the dependencies of the ledger (npm ci).
`
const DATABASE_ROLES = ['superuser', 'ledger_owner', 'ledger_node', 'ledger_edge', 'ledger_auditor', 'ledger_backup']
const NATS_ROLES = ['node', 'edge']
const PARTS = ['node', 'edge', 'auditor']
const AUTHORITY = 'ledger'
const DAYS = 825
const AUTHORITY_DAYS = 3650
const READABLE = 0o444
const PRIVATE = 0o600

const [directory, ...named] = process.argv.slice(2)
if (directory === undefined || directory.startsWith('-')) {
  process.stderr.write(USAGE)
  process.exit(2)
}
const natsServers = named.length === 0 ? ['nats-1', 'nats-2', 'nats-3'] : named
if (![...natsServers].every((name) => /^[A-Za-z0-9.-]{1,253}$/.test(name))) {
  process.stderr.write('A server is named by a host name or an address.\n')
  process.exit(2)
}

const path = (name) => join(directory, name)
mkdirSync(directory, { recursive: true, mode: 0o700 })
makeAuthority()
// The others' certificates must not do for joining the cluster of servers.
for (const name of natsServers) makeCertificate(name, ['server', 'client'])
makeCertificate('postgres', ['server'])
for (const role of NATS_ROLES) makeNkey(role)
// It follows from the others, which may have been replaced.
replace(
  'nats.env',
  NATS_ROLES.map((role) => `NATS_${role.toUpperCase()}_NKEY=${publicKeyOf(role)}\n`).join(''),
  READABLE,
)
for (const role of DATABASE_ROLES) write(`${role}.password`, () => `${randomBytes(32).toString('base64url')}\n`)
write('master.key', () => `${randomBytes(32).toString('base64url')}\n`)
for (const part of PARTS) write(`part-${part}.key`, () => partKeyOf(part))
process.stdout.write(`${directory} is complete. Keep a copy of master.key: without it the ledger cannot be used.\n`)

function makeAuthority() {
  if (existsSync(path('ca.pem'))) return
  const key = newPrivateKey()
  // Last, because its being there says that both are; its key is replaced if it came alone.
  replace('ca.key', pemOfKey(key), PRIVATE)
  replace('ca.pem', authorityCertificate(key, AUTHORITY, AUTHORITY_DAYS), READABLE)
}

function makeCertificate(name, usages) {
  if (existsSync(path(`${name}.pem`))) return
  const signer = createPrivateKey(readFileSync(path('ca.key')))
  const key = newPrivateKey()
  const hosts = [name, 'localhost', '127.0.0.1']
  replace(`${name}.key`, pemOfKey(key), READABLE)
  const made = serverCertificate({ key, name, days: DAYS, signer, issuer: AUTHORITY, hosts, usages })
  replace(`${name}.pem`, made, READABLE)
}

function makeNkey(role) {
  write(`nats-${role}.nk`, () => `${new TextDecoder().decode(nkeys.createUser().getSeed())}\n`)
}

function publicKeyOf(role) {
  return nkeys.fromSeed(Buffer.from(readFileSync(path(`nats-${role}.nk`), 'utf8').trim())).getPublicKey()
}

/** Derives it with the checkout's ledger, which may have to be built first. */
function partKeyOf(part) {
  const ledger = join(dirname(fileURLToPath(import.meta.url)), '..', 'main', 'ledger.mjs')
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('LEDGER_'))
  const env = { ...Object.fromEntries(others), LEDGER_MASTER_KEY_FILE: resolve(path('master.key')) }
  const run = spawnSync(process.execPath, [ledger, 'keys', 'part-key', '--part', part], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (run.status === 0) return run.stdout
  process.stderr.write(`Failed to create the part key of ${part}.\n`)
  process.exit(1)
}

function write(name, content) {
  if (!existsSync(path(name))) replace(name, content(), READABLE)
}

/** Whole or not at all; closed to others until it is. */
function replace(name, content, mode) {
  const draft = path(`${name}.draft`)
  rmSync(draft, { force: true })
  writeFileSync(draft, content, { mode: PRIVATE, flag: 'wx' })
  chmodSync(draft, mode)
  renameSync(draft, path(name))
}
