/** The guides under `/docs/guides`: the README files that explain the ledger to its users and operators. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createKnownContent, type KnownContent } from '../http/known-content.ts'
import type { StaticFiles } from '../http/static-files.ts'
import { type Heading, renderMarkdown } from './markdown.ts'
import { html, type Markup } from './page-markup.ts'
import { SITE_HEADERS, sitePage } from './site.ts'

export interface Guide {
  readonly slug: string
  readonly title: string
  readonly about: string
  /** From the root of the product. */
  readonly file: string
}

const GUIDES: readonly Guide[] = [
  { slug: 'start', title: 'First steps', about: 'Run a ledger and send a first transaction.', file: 'README.md' },
  {
    slug: 'integration',
    title: 'Integration',
    about: 'Sign orders, wait for outcomes, handle errors, retry, page, and follow events.',
    file: 'api/README.md',
  },
  {
    slug: 'client',
    title: 'TypeScript client',
    about: 'Sign, submit, wait and verify in Node.js and browsers.',
    file: 'api/client/README.md',
  },
  {
    slug: 'cli',
    title: 'Command line',
    about: 'Log in, order, watch and verify from a shell.',
    file: 'infra/cli/README.md',
  },
  { slug: 'operation', title: 'Operation', about: 'Configure, monitor, back up and restore.', file: 'infra/README.md' },
  {
    slug: 'deployment',
    title: 'Deployment',
    about: 'Run the parts in containers, with TLS and least rights.',
    file: 'infra/deploy/README.md',
  },
  {
    slug: 'monitoring',
    title: 'Monitoring',
    about: 'Metrics, readiness and logs.',
    file: 'infra/metrics/README.md',
  },
  {
    slug: 'runbook',
    title: 'Runbook',
    about: 'Alert rules, and what to do about each alert.',
    file: 'infra/deploy/monitoring/README.md',
  },
  { slug: 'keys', title: 'Keys', about: 'Which keys there are, and how to rotate them.', file: 'infra/keys/README.md' },
  {
    slug: 'privacy',
    title: 'Privacy',
    about: 'The facts that a stolen copy tells, and erasure.',
    file: 'infra/vault/README.md',
  },
  {
    slug: 'portability',
    title: 'Moving accounts',
    about: 'Export accounts to another ledger.',
    file: 'infra/portability/README.md',
  },
  { slug: 'changelog', title: 'Changelog', about: 'Notable changes of each version.', file: 'CHANGELOG.md' },
]

/** This file is in `api/docs`, or in `dist/api/docs`. */
const ROOT = ['../..', '../../..']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(join(path, 'package.json')))

/** undefined: no such guide, or an installation without its file. */
export function guideOf(slug: string): Guide | undefined {
  return presentGuides().find((guide) => guide.slug === slug)
}

/** The list of all guides. */
export async function createGuideList(assets: StaticFiles): Promise<KnownContent> {
  const items = presentGuides().map(
    ({ slug, title, about }) =>
      html`<li><a href="/docs/guides/${slug}">${title}</a><br /><span class="quiet">${about}</span></li>`,
  )
  const main = html`<h1>Guides</h1>
    <ul>
      ${items}
    </ul>`
  return guideContent(
    'Guides',
    html`${navigation(presentGuides(), null, [])}
      <main>${main}</main>`,
    assets,
  )
}

function presentGuides(): readonly Guide[] {
  return GUIDES.filter(({ file }) => ROOT !== undefined && existsSync(join(ROOT, file)))
}

export async function createGuidePage(guide: Guide, assets: StaticFiles): Promise<KnownContent> {
  const guides = presentGuides()
  const text = await readFile(join(ROOT ?? '', guide.file), 'utf8')
  const { headings, markup } = renderMarkdown(text, (target) => linkOf(target, guide, guides))
  return guideContent(
    guide.title,
    html`${navigation(guides, guide.slug, headings)}
      <main>${markup}</main>`,
    assets,
  )
}

async function guideContent(title: string, content: Markup, assets: StaticFiles): Promise<KnownContent> {
  const page = sitePage({
    section: 'guides',
    title: `Ledger: ${title}`,
    stylesheet: await assets.urlOf('docs.css'),
    body: html`<div class="guide">${content}</div>`,
  })
  return createKnownContent('text/html; charset=utf-8', page, SITE_HEADERS)
}

function navigation(guides: readonly Guide[], shown: string | null, headings: readonly Heading[]): Markup {
  const items = guides.map(({ slug, title }) =>
    slug === shown
      ? html`<li>
          <a href="#" aria-current="page">${title}</a>
          <ul>
            ${headings
              .filter(({ depth }) => depth === 2)
              .map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`)}
          </ul>
        </li>`
      : html`<li><a href="/docs/guides/${slug}">${title}</a></li>`,
  )
  return html`<nav aria-label="Guides">
    <ul>
      ${items}
    </ul>
  </nav>`
}

/** A link of a guide: to elsewhere, within the page, or to another guide. undefined: the product does not serve it. */
function linkOf(target: string, guide: Guide, guides: readonly Guide[]): string | undefined {
  if (/^https?:\/\//.test(target) || target.startsWith('#')) return target
  if (!URL.canParse(target, `file:///${guide.file}`)) return undefined
  const { hash, pathname } = new URL(target, `file:///${guide.file}`)
  const path = pathname.replace(/^\//, '')
  const found = guides.find(({ file }) => [file, file.replace(/\/?README\.md$/, '')].includes(path.replace(/\/$/, '')))
  return found === undefined ? undefined : `/docs/guides/${found.slug}${hash}`
}
