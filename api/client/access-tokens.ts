/**
 * Access tokens of one client of the ledger.
 *   T1. A token is renewed shortly before it expires. Callers share one renewal.
 *   T2. A refresh token is sent once, and not if another process has saved other tokens since they were last read or saved
 *       here: those are used, also if they end earlier. They are also used if the ledger refuses the refresh token.
 *       Otherwise the credentials are used, also if the response was lost. Without credentials the refresh token is sent
 *       again after a lost response: within 10 s the ledger accepts it again, and later it asks for a login.
 *   T3. New tokens are used even if they cannot be saved.
 */
import type { Tokens as TokenReply } from './generated/api-types.ts'
import { isLedgerError, LedgerError } from './ledger-error.ts'
import { assertionRequest, type ClientKey } from './signing/client-assertion.ts'

/** A client has either a secret or a key. */
export type Credentials = SecretCredentials | KeyCredentials

export interface SecretCredentials {
  readonly clientId: string
  readonly clientSecret: string
}

/** The key stays here: it signs an assertion for each login. */
export interface KeyCredentials {
  readonly clientId: string
  readonly clientKey: ClientKey
}

export interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string | undefined
  /** From then on the access token is renewed. Milliseconds since 1970. */
  readonly renewAtMs: number
}

/** Keeps tokens between runs of a program. A save that fails is ignored: the next run gets new tokens. */
export interface TokenStore {
  readonly load: () => Tokens | undefined | Promise<Tokens | undefined>
  readonly save: (tokens: Tokens) => void | Promise<void>
}

export type TokenBody = Readonly<Record<string, string>>

/** `POST /v1/auth/token`. A function makes the body of each attempt. */
export type IssueToken = (body: TokenBody | (() => Promise<TokenBody>)) => Promise<TokenReply>

export interface AccessTokensOptions {
  readonly credentials: Credentials | undefined
  readonly store: TokenStore | undefined
  readonly issue: IssueToken
  /** `aud` of assertions. */
  readonly audience: string
  readonly nowMs: () => number
}

/** A token is renewed at 80 % of its life, at most a minute before its end. */
const USED_LIFE = 0.8
const LONGEST_MARGIN_MS = 60_000
const UNAUTHORIZED = 401

export class AccessTokens {
  private readonly options: AccessTokensOptions
  private tokens: Tokens | undefined
  private isLoaded = false
  /** The access token in the store when it was last read or saved here. */
  private stored: string | undefined
  private renewal: Promise<Tokens> | undefined

  constructor(options: AccessTokensOptions) {
    this.options = options
  }

  /** A token that is valid for some time, except `refused`, which the ledger refused. */
  async token(refused?: string): Promise<string> {
    if (!this.isLoaded) {
      this.tokens = await this.options.store?.load()
      this.stored = this.tokens?.accessToken
      this.isLoaded = true
    }
    const { tokens } = this
    if (tokens !== undefined && tokens.accessToken !== refused && this.options.nowMs() < tokens.renewAtMs) {
      return tokens.accessToken
    }
    return (await this.renewed(refused)).accessToken
  }

  /** New tokens for the credentials. */
  async login(): Promise<void> {
    await this.keep(await this.withCredentials())
  }

  private renewed(refused: string | undefined): Promise<Tokens> {
    this.renewal ??= this.renew(refused).finally(() => {
      this.renewal = undefined
    })
    return this.renewal
  }

  private async renew(refused: string | undefined): Promise<Tokens> {
    const others = await this.savedByOthers()
    const isUsable = others !== undefined && others.accessToken !== refused
    if (isUsable && this.options.nowMs() < others.renewAtMs) return others
    const { tokens } = this
    if (tokens?.refreshToken === undefined) return this.keep(await this.withCredentials())
    try {
      return await this.keep(await this.issued({ grant_type: 'refresh_token', refresh_token: tokens.refreshToken }))
    } catch (error) {
      const isRefused = isLedgerError(error) && error.status === UNAUTHORIZED
      const newer = isRefused ? await this.savedByOthers() : undefined
      if (newer !== undefined) return newer
      if (this.options.credentials === undefined) throw error
      this.tokens = { ...tokens, refreshToken: undefined }
      return this.keep(await this.withCredentials())
    }
  }

  /** The tokens that another process has saved meanwhile, which are then the present ones. */
  private async savedByOthers(): Promise<Tokens | undefined> {
    const saved = await this.options.store?.load()
    if (saved === undefined || saved.accessToken === this.stored) return undefined
    this.stored = saved.accessToken
    this.tokens = saved
    return saved
  }

  private withCredentials(): Promise<Tokens> {
    const { credentials } = this.options
    if (credentials === undefined) {
      throw new LedgerError('There is neither a valid token nor credentials: log in again.', {
        codes: ['ERR_UNAUTHORIZED'],
        status: UNAUTHORIZED,
      })
    }
    const { clientId } = credentials
    if ('clientSecret' in credentials)
      return this.issued({ client_id: clientId, client_secret: credentials.clientSecret })
    const { audience, nowMs } = this.options
    return this.issued(() => assertionRequest(credentials.clientKey, { clientId, audience, nowMs: nowMs() }))
  }

  private async issued(body: TokenBody | (() => Promise<TokenBody>)): Promise<Tokens> {
    // The life of the token began before it arrives.
    const sentAtMs = this.options.nowMs()
    const { access_token: accessToken, refresh_token: refreshToken, expires_in: lifeS } = await this.options.issue(body)
    const lifeMs = lifeS * 1_000
    return { accessToken, refreshToken, renewAtMs: sentAtMs + Math.max(lifeMs * USED_LIFE, lifeMs - LONGEST_MARGIN_MS) }
  }

  private async keep(tokens: Tokens): Promise<Tokens> {
    this.tokens = tokens
    try {
      await this.options.store?.save(tokens)
      this.stored = tokens.accessToken
    } catch {
      // T3.
    }
    return tokens
  }
}
