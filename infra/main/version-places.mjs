/**
 * Where the version is written. package.json has it; the other places follow from it, and only `npm run release` changes
 * them.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const UNRELEASED = 'unreleased'
const NUMBER = String.raw`\d+\.\d+\.\d+`

/** Each pattern has the text before the version, and the version. */
const PLACES = [
  { file: 'package.json', pattern: new RegExp(`^(  "version": ")(${NUMBER})`, 'm') },
  { file: 'package-lock.json', pattern: new RegExp(`^(  "version": ")(${NUMBER})`, 'm') },
  {
    file: 'package-lock.json',
    pattern: new RegExp(`^(    "": \\{\n      "name": "ledger",\n      "version": ")(${NUMBER})`, 'm'),
  },
  { file: 'api/openapi/document.ts', pattern: new RegExp(`^(export const INTERFACE_VERSION = ')(${NUMBER})`, 'm') },
  { file: 'infra/deploy/compose.yaml', pattern: new RegExp(`(LEDGER_IMAGE:-ledger:)(${NUMBER})`) },
  { file: 'infra/deploy/backup.yaml', pattern: new RegExp(`(LEDGER_IMAGE:-ledger:)(${NUMBER})`) },
  { file: 'infra/deploy/README.md', pattern: new RegExp(`(IMAGE=ledger:)(${NUMBER})`) },
  { file: 'infra/deploy/kubernetes/kustomization.yaml', pattern: new RegExp(`(newTag: )(${NUMBER})`) },
  { file: 'infra/log/README.md', pattern: new RegExp(`(npm install ledger-)(${NUMBER})`) },
  { file: 'README.md', pattern: /(\*\*Status\*\*: version )(\d+\.\d+)/, short: true },
]

/** Compatible versions have the same: 0.8 of 0.8.1. */
export function shortOf(version) {
  return version.split('.').slice(0, 2).join('.')
}

export function packageVersion(root) {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version
}

/** A line for each place that does not have the version of package.json. */
export function disagreements(root) {
  const version = packageVersion(root)
  const wrong = PLACES.flatMap(({ file, pattern, short }) => {
    const [, , found] = pattern.exec(readFileSync(join(root, file), 'utf8')) ?? []
    const wanted = short ? shortOf(version) : version
    return found === wanted ? [] : [`${file} has the version ${found ?? 'nowhere'}, and package.json ${wanted}`]
  })
  if (latest(root).version !== version) {
    wrong.push(`CHANGELOG.md begins with ${latest(root).version}, and package.json has ${version}`)
  }
  if (!readFileSync(join(root, RELEASES), 'utf8').includes(`\n| ${shortOf(version)} | `)) {
    wrong.push(`${RELEASES} does not say which formats ${shortOf(version)} reads`)
  }
  return wrong
}

export function writeVersion(root, version) {
  for (const { file, pattern, short } of PLACES) {
    change(root, file, (text) => text.replace(pattern, (_, before) => `${before}${short ? shortOf(version) : version}`))
  }
}

/** The table of the versions of formats. */
const RELEASES = 'infra/deploy/README.md'
const HEADING = new RegExp(`^## \\[(${NUMBER})\\] - (.*)$`, 'm')

/** The files that the functions below write. */
export const VERSION_FILES = [...new Set([...PLACES.map(({ file }) => file), RELEASES, 'CHANGELOG.md'])]

/** The version of the first section of the changelog; `isReleased`: it has a date. */
export function latest(root) {
  const [, version, date] = HEADING.exec(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')) ?? []
  return { version, isReleased: date !== UNRELEASED }
}

/** `date`: as 2026-01-31. */
export function closeChangelog(root, version, date) {
  change(root, 'CHANGELOG.md', (text) => text.replace(HEADING, `## [${version}] - ${date}`))
}

export function openChangelog(root, version) {
  change(root, 'CHANGELOG.md', (text) =>
    text.replace(HEADING, (heading) => `## [${version}] - ${UNRELEASED}\n\n${heading}`),
  )
}

/** A new version begins with the formats of the one before. */
export function continueFormats(root, version) {
  const row = /^\| \d+\.\d+( \| \S+ \| \S+ \|)$(?!\n\| )/m
  change(root, RELEASES, (text) =>
    text.includes(`\n| ${shortOf(version)} | `)
      ? text
      : text.replace(row, (last, formats) => `${last}\n| ${shortOf(version)}${formats}`),
  )
}

function change(root, file, how) {
  const path = join(root, file)
  const before = readFileSync(path, 'utf8')
  const after = how(before)
  if (after !== before) writeFileSync(path, after)
}
