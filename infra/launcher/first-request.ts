/** The first requests to try, as shell commands. */
export interface FirstRequestFacts {
  readonly address: string
  /** A client with a generated secret, and the file that stores it; undefined: the operator chose the secrets. */
  readonly client: { readonly clientId: string; readonly file: string } | undefined
  /** Set if signed bodies must name the ledger. */
  readonly ledgerId: string | undefined
  /** The command `ledger`, with its path if needed. */
  readonly ledger: string
}

export function firstRequest({ address, client, ledgerId, ledger }: FirstRequestFacts): string {
  const credentials =
    client === undefined
      ? `CLIENT_ID=... CLIENT_SECRET=...   # one of LEDGER_BOOTSTRAP_CLIENTS, transactor or admin`
      : `CLIENT_ID=${client.clientId}
CLIENT_SECRET=$(node -p 'JSON.parse(fs.readFileSync(process.argv[1])).find((c) => c.client_id === "${client.clientId}").client_secret' ${quoted(client.file)})`
  const forLedger = ledgerId === undefined ? '' : String.raw`\"ledger_id\":\"${ledgerId}\",`
  return `LEDGER=${address}
${credentials}
TOKEN=$(curl -s $LEDGER/v1/auth/token -H 'Content-Type: application/json' \\
  -d "{\\"client_id\\":\\"$CLIENT_ID\\",\\"client_secret\\":\\"$CLIENT_SECRET\\"}" | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
ACCOUNT=alice-$(date +%s)
PUBLIC_KEY=$(${ledger} keygen --out $ACCOUNT.pem)
curl -s $LEDGER/v1/accounts -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d "{\\"account_id\\":\\"$ACCOUNT\\",\\"public_key\\":$PUBLIC_KEY}"; echo
echo "{${forLedger}\\"account_id\\":\\"$ACCOUNT\\",\\"amount\\":\\"100.00\\",\\"type\\":\\"credit\\",\\"idempotency_key\\":\\"first\\"}" |
  ${ledger} sign --key $ACCOUNT.pem |
  curl -s $LEDGER/v1/transactions -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d @-; echo
curl -s "$LEDGER/v1/transactions?account_id=$ACCOUNT" -H "Authorization: Bearer $TOKEN"; echo
curl -s $LEDGER/v1/accounts/$ACCOUNT/balances -H "Authorization: Bearer $TOKEN"; echo
`
}

/** Quotes a path for a shell. */
export function quoted(path: string): string {
  return `'${path.replaceAll("'", String.raw`'\''`)}'`
}
