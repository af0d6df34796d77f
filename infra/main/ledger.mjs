#!/usr/bin/env node
/** The command `ledger` in a checkout: builds it if needed, then runs it. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { dist, prepare, PreparationFailed, say } from './prepare.mjs'

try {
  await prepare()
  const { main } = await import(pathToFileURL(join(dist, 'infra', 'main', 'ledger.js')).href)
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  say(error instanceof PreparationFailed ? error.message : `${error?.stack ?? error}`)
  process.exitCode = error instanceof PreparationFailed ? error.exitCode : 1
}
