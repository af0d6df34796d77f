/** The first commands to try, for a shell in any directory. */
export interface FirstRequestFacts {
  readonly address: string
  /** A client with a generated secret, and the file that stores it; undefined: the operator chose the secrets. */
  readonly client: { readonly clientId: string; readonly file: string } | undefined
  /** The command `ledger`, with its path if needed. */
  readonly ledger: string
}

export function firstRequest({ address, client, ledger }: FirstRequestFacts): string {
  const credentials =
    client === undefined
      ? '--client-id ...   # one of LEDGER_BOOTSTRAP_CLIENTS, transactor or admin; asks for its secret'
      : `--client-id ${client.clientId} --secret-file ${quoted(client.file)}`
  return `ACCOUNT=alice-$(date +%s)
${ledger} login --url ${address} ${credentials}
${ledger} account create $ACCOUNT
${ledger} credit $ACCOUNT 100
${ledger} balance $ACCOUNT
`
}

/** Quotes a path for a shell. */
export function quoted(path: string): string {
  return `'${path.replaceAll("'", String.raw`'\''`)}'`
}
