/**
 * A plain double-entry ledger: accounts with balances, transfers with two entries each, idempotency keys, no signatures,
 * chains or encryption. Its functions are the only writers, so that entries need no foreign keys.
 */

/** Balances from which no transfer of a run can run dry. */
const FUNDS = 1_000_000

/** The external account, whose balance is the sum of its entries: a row of its own would make every order wait for it. */
const EXTERNAL = 'external'

export const PLAIN_SCHEMA = `
CREATE TABLE accounts (
  account_id text PRIMARY KEY,
  balance numeric NOT NULL CHECK (balance >= 0)
);
CREATE TABLE transfers (
  transfer_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  idempotency_key text NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE entries (
  transfer_id bigint NOT NULL,
  account_id text NOT NULL,
  amount numeric NOT NULL,
  balance numeric,
  PRIMARY KEY (transfer_id, account_id)
);
CREATE INDEX entries_by_account ON entries (account_id, transfer_id);

CREATE FUNCTION submit_order(key text, account text, change numeric) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  id bigint;
  after numeric;
BEGIN
  INSERT INTO transfers (idempotency_key) VALUES (key) ON CONFLICT (idempotency_key) DO NOTHING RETURNING transfer_id INTO id;
  IF NOT FOUND THEN RETURN (SELECT transfer_id FROM transfers WHERE idempotency_key = key); END IF;
  UPDATE accounts SET balance = balance + change WHERE account_id = account RETURNING balance INTO after;
  IF NOT FOUND THEN RAISE EXCEPTION 'there is no account %', account; END IF;
  INSERT INTO entries VALUES (id, account, change, after), (id, '${EXTERNAL}', -change, NULL);
  RETURN id;
END $$;

-- Changes the two rows in the order of their IDs: opposite transfers cannot deadlock.
CREATE FUNCTION submit_transfer(key text, sender text, receiver text, value numeric) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  id bigint;
  lower numeric;
  upper numeric;
BEGIN
  INSERT INTO transfers (idempotency_key) VALUES (key) ON CONFLICT (idempotency_key) DO NOTHING RETURNING transfer_id INTO id;
  IF NOT FOUND THEN RETURN (SELECT transfer_id FROM transfers WHERE idempotency_key = key); END IF;
  UPDATE accounts SET balance = balance + CASE account_id WHEN sender THEN -value ELSE value END
    WHERE account_id = least(sender, receiver) RETURNING balance INTO lower;
  IF NOT FOUND THEN RAISE EXCEPTION 'there is no account %', least(sender, receiver); END IF;
  UPDATE accounts SET balance = balance + CASE account_id WHEN sender THEN -value ELSE value END
    WHERE account_id = greatest(sender, receiver) RETURNING balance INTO upper;
  IF NOT FOUND THEN RAISE EXCEPTION 'there is no account %', greatest(sender, receiver); END IF;
  INSERT INTO entries VALUES
    (id, sender, -value, CASE WHEN sender < receiver THEN lower ELSE upper END),
    (id, receiver, value, CASE WHEN sender < receiver THEN upper ELSE lower END);
  RETURN id;
END $$;
`

/** `$1`: how many. */
export const PLAIN_ACCOUNTS = `INSERT INTO accounts SELECT 'account-' || number, ${FUNDS} FROM generate_series(0, $1::integer - 1) AS number`

export function plainAccount(number: number): string {
  return `account-${number}`
}
