/** A webhook's secret, which the ledger shows once. */
export function SecretNotice({ secret }: { readonly secret: string }) {
  return (
    <div class="notice warn">
      <p>
        <strong>Copy the secret now: it is shown only once.</strong>
      </p>
      <pre>{secret}</pre>
      <p>The receiver verifies each message with it.</p>
    </div>
  )
}
