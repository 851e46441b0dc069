import { randomBytes } from 'node:crypto';
import type { Environment } from '../../../platform/config/env';
import { createMessageProofs, type MessageProofs } from '../../../platform/crypto/message-proof';
import { createLog } from '../../../platform/log/log';
import { openDatabase } from '../../../stores/port/open';
import { openMessageProofs } from '../../../stores/system/message-key-store';

/** Signs messages that no test verifies. */
export const someProofs = (): MessageProofs => createMessageProofs(randomBytes(32));

/** Signs as the API on these stores does, at whatever time it is there. */
export async function proofsOf(
  env: Pick<Environment, 'MONGODB_URL' | 'BOARD_DATA_DIR'>,
  now?: () => Date,
): Promise<MessageProofs> {
  const log = createLog({ name: 'test', level: 'silent' });
  const database = await openDatabase({ mongoUrl: env.MONGODB_URL, dataDir: env.BOARD_DATA_DIR, log });
  try {
    return await openMessageProofs(database, now);
  } finally {
    await database.close();
  }
}
