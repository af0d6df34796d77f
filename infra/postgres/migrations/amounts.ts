/** Searches by amount, and rows of transactions that are smaller. */
export const AMOUNTS = `
-- The rows that an amount may be in, newest first: a search looks at those alone.
CREATE INDEX transactions_by_amount ON transactions (amount_bucket, txn_id);

-- Room was left on each page for what becomes of its transactions. A third of them found it, and the log was no shorter.
ALTER TABLE transactions RESET (fillfactor);
`
