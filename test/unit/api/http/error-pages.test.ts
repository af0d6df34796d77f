/** D14: each problem type has a page without scripts that explains its error codes. The lists of codes are by hand. */
import { describe, expect, test } from 'vitest'
import { ERROR_CODES } from '../../../../api/http/error-codes.ts'
import { PROBLEM_TYPES, type ProblemType } from '../../../../api/http/problem.ts'
import { createEdgeFixture } from '../fakes/edge-fixture.ts'

/** Codes for faults of a query, a path or a body, and further codes for faults of fields. */
const BOTH_400 =
  'INVALID_ACCOUNT_ID INVALID_AMOUNT INVALID_TYPE INVALID_IDEMPOTENCY_KEY INVALID_GROUP_ID INVALID_TOKEN_ID ' +
  'INVALID_TIMESTAMP INVALID_FIELD '
const OF_FIELDS =
  'INVALID_SIGNATURE SELF_TRANSFER INVALID_SYMBOL INVALID_DECIMALS INVALID_ISSUER INVALID_TOTAL_SUPPLY ' +
  'INVALID_INITIAL_SUPPLY INVALID_BALANCE INVALID_PROOF_HASH INVALID_PROOF_SYSTEM INVALID_CREATED_AT ' +
  'INVALID_UPDATED_AT INVALID_CLASS_ID INVALID_NAME INVALID_SCHEMA INVALID_REQUESTER INVALID_HEALTH_STATE ' +
  'INVALID_TXN_COUNT INVALID_PUBLIC_KEY WRONG_LEDGER UNKNOWN_FIELD'

/** Codes without `ERR_`. */
const PAGES: Readonly<Record<string, { readonly status: number; readonly codes: readonly string[] }>> =
  Object.fromEntries(
    (
      [
        ['invalid-request', 400, `${BOTH_400}INVALID_QUERY`],
        ['validation-error', 400, BOTH_400 + OF_FIELDS],
        ['unauthorized', 401, 'UNAUTHORIZED'],
        ['forbidden', 403, 'FORBIDDEN SIGNATURE_MISMATCH NOT_ISSUER'],
        ['not-found', 404, 'NOT_FOUND'],
        ['method-not-allowed', 405, 'METHOD_NOT_ALLOWED'],
        ['conflict', 409, 'CONFLICT INSUFFICIENT_FUNDS'],
        ['payload-too-large', 413, 'PAYLOAD_TOO_LARGE'],
        ['unsupported-media-type', 415, 'UNSUPPORTED_CONTENT_TYPE'],
        ['rate-limited', 429, 'RATE_LIMITED'],
        ['shard-unavailable', 503, 'SHARD_UNAVAILABLE NO_SHARDS NO_HEALTHY_SHARDS OVERLOADED'],
        ['downstream-failure', 503, 'DOWNSTREAM_FAILURE OVERLOADED'],
      ] as const
    ).map(([slug, status, codes]) => [slug, { status, codes: codes.split(' ').map((code) => `ERR_${code}`) }]),
  )
const SLUGS = Object.keys(PAGES)

async function pageOf(
  slug: string,
): Promise<{ readonly html: string; readonly policy: string; readonly text: string }> {
  const response = await createEdgeFixture().get(`/errors/${slug}`)
  expect([slug, response.status]).toEqual([slug, 200])
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  const html = await response.text()
  return { html, policy: response.headers.get('content-security-policy') ?? '', text: textOf(html) }
}

/** The text between tags, with entities decoded. */
function textOf(html: string): string {
  const text = html.replaceAll(/<style>[\s\S]*?<\/style>|<[^>]*>/g, '')
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}

test('every error code is on a page, and every problem type has a page', () => {
  const codes = new Set(Object.values(PAGES).flatMap((page) => page.codes))
  expect(Object.keys(ERROR_CODES).sort()).toEqual([...codes].sort())
  expect(Object.keys(PROBLEM_TYPES).sort()).toEqual([...SLUGS].sort())
})

describe.for(SLUGS)('/errors/%s', (slug) => {
  test('lists exactly its codes, each with its meaning', async () => {
    const page = await pageOf(slug)
    const { codes, status } = PAGES[slug] ?? { codes: [], status: 0 }
    const listed = [...page.html.matchAll(/<dt><code>(\w+)<\/code><\/dt>/g)].map(([, code = '']) => code)
    expect(listed.sort()).toEqual([...codes].sort())
    expect(new Set(page.text.match(/ERR_[A-Z_]+/g))).toEqual(new Set(codes))
    for (const [code, { meaning }] of Object.entries(ERROR_CODES)) {
      const shown = page.text.replaceAll(/\n\s+/g, '\n').includes(`${code}\n${meaning.replaceAll('`', '')}`)
      expect([code, shown]).toEqual([code, codes.includes(code)])
    }
    expect(page.html).toContain(`HTTP status <code>${status}</code>`)
  })

  test('shows an example of the problem', async () => {
    const page = await pageOf(slug)
    const { status, codes } = PAGES[slug] ?? { status: 0, codes: [] }
    const [, text = ''] = /<pre>([\s\S]*?)<\/pre>/.exec(page.html) ?? []
    const example = JSON.parse(textOf(text)) as Readonly<Record<string, unknown>>
    expect(example).toMatchObject({
      type: `https://ledger.example/errors/${slug}`,
      title: PROBLEM_TYPES[slug as ProblemType].title,
      status,
      instance: expect.stringMatching(/^\/v1\//) as string,
    })
    for (const code of example['error_codes'] as readonly string[]) expect(codes).toContain(code)
    expect(Object.hasOwn(example, 'errors') || status !== 400).toBe(true)
    expect(Object.hasOwn(example, 'outcome')).toBe(status === 503 || status === 429)
  })

  test('forbids scripts and loads, except the stylesheet of the documentation', async () => {
    const { html, policy } = await pageOf(slug)
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "style-src 'self'",
      'img-src data:',
    ])
    expect(html).not.toMatch(/<script|<img|<iframe|<form|\son\w+=|\sstyle=|src=|url\(|@import/i)
    const targets = [...html.matchAll(/href="([^"]*)"/g)].map(([, target = '']) => target)
    expect(targets.filter((target) => !/^(\/|data:,$)/.test(target))).toEqual([])
    // Angle brackets enclose only known tags, so no text was taken for markup.
    const tags = new Set([...html.matchAll(/<\/?([^\s>]+)/g)].map(([, tag]) => tag))
    expect([...tags].filter((tag) => !KNOWN_TAGS.has(tag ?? ''))).toEqual([])
  })
})

test('/errors lists every type with a link to its page', async () => {
  const html = await (await createEdgeFixture().get('/errors')).text()
  const [, main = ''] = /<main>([^]*)<\/main>/.exec(html) ?? []
  expect([...main.matchAll(/href="\/errors\/([^"]*)"/g)].map(([, slug = '']) => slug).sort()).toEqual([...SLUGS].sort())
})

const KNOWN_TAGS = new Set(
  '!doctype html head meta title link body header nav a div ul li main h1 h2 p code dl dt dd pre'.split(' '),
)
