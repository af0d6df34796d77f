#!/bin/sh
# The command `ledger` of the image. The options of node are those of infra/launcher/part-memory.ts, which explains them.
exec node --max-semi-space-size=64 --heap-growing-percent=100 /ledger/dist/infra/main/ledger.js "$@"
