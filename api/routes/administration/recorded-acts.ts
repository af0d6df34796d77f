/** The acts of the administrative chain, and the members of their entries, for the document. */

export const ACTS = `\`account_ref\` in a payload is a keyed hash of an account, so that an erased account is not named. Ask with \`account_id\` for the acts on an account; such a page has no \`head\`. These acts have one:

- \`changeStatus\`, \`eraseAccount\`, \`pauseAccount\`, \`resumeAccount\` and \`createAccount\`: the account
- \`createWebhook\`: its \`account_id\`, if it has one
- \`createFungibleToken\` and \`createNftClass\`: the issuer

\`details\` of an act never name an account. A list is the number of its items, except of \`boundary\`; a URL is its origin; a key is its ID. A member that the request left out is absent, except the defaults of \`createClient\` and the \`mode\` of an export. Requests:

- \`createClient\`: \`client_id\`, \`role\`, \`boundary\`, \`accounts\`, \`rate\`, \`key_id\`
- \`deleteClient\`: \`client_id\`
- \`createAccount\`: \`key_id\`
- \`changeStatus\`: \`status\`, \`incoming\`
- \`eraseAccount\`: none
- \`pauseAccount\`: none
- \`resumeAccount\`: none
- \`releaseHold\`: \`hold_id\`
- \`createFungibleToken\`: \`symbol\`, \`total_supply\`
- \`createNftClass\`: \`name\`
- \`revertSettlementGroup\`: \`group_id\`, \`txn_ids\`
- \`revokeAttestation\`: \`attestation_id\`
- \`createWebhook\`: \`url\`, \`types\`
- \`deleteWebhook\`: \`webhook_id\`
- \`enableWebhook\`: \`webhook_id\`
- \`rotateWebhookSecret\`: \`webhook_id\`
- \`createExport\`: \`mode\`, \`audience\`, \`all\`, \`account_ids\`, \`recipient_key_id\`
- \`createImport\`: \`import_id\`, \`part\`, \`records\`, \`last\`
- \`putShardHealth\`: \`shard_id\`, \`health_state\`, \`txn_count\`

Commands of operators:

- \`client add\`, and \`up\` for a client of its configuration: \`client_id\`, \`role\`, \`boundary\`, \`accounts\`, \`rate\`, \`key_id\`
- \`client set\`: \`client_id\`, \`rate\`
- \`client revoke\`: \`client_id\`
- \`keys rotate\`: \`purpose\`, \`after_seconds\`, \`outside\`
- \`keys revoke\`: \`kid\`, \`outside\`
- \`keys rotate-master\`: \`master_key_id\`
- \`drain\`: \`node_id\`, \`end\`
- \`accept-server\`: \`system_identifier\`, \`timeline\`
- \`webhooks delete\`: \`webhook_id\`
- \`webhooks replay\`: \`webhook_id\`, \`since\`

\`details\` of an outcome:

- of a request: \`status\`; \`made\`, the ID of a new webhook; \`outcome\`, if it is \`unknown\` or \`not_applied\`
- of an export, at the end of its file: \`outcome\` is \`complete\` or \`incomplete\`, with the \`bytes\` that were sent and \`content_hash\`, the SHA-256 over them. The accounts of a move have left in both cases
- of a command: \`outcome\` is \`done\`, \`failed\` (nothing was changed) or \`unknown\``
