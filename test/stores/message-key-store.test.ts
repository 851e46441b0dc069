import { join } from 'node:path';
import { updateProofMs } from '../../platform/crypto/message-proof';
import { createLog } from '../../platform/log/log';
import { makeTempDir } from '../../platform/testing/temp-dir';
import { openSqlite } from '../../stores/sqlite/database';
import { openMessageProofs } from '../../stores/system/message-key-store';

const message = { purpose: 'stop', subject: 'run/a1', actor: 'olivia', body: { attemptId: 'a1' } };

describe('message key store', () => {
  it('gives everything that starts at once on fresh stores the same key', async () => {
    const directory = await makeTempDir('keys');
    const log = createLog({ name: 'test', level: 'silent' });
    const open = () => openSqlite({ file: join(directory.path, 'store.sqlite'), log });
    const databases = await Promise.all([open(), open(), open()]);
    try {
      const all = await Promise.all(databases.map((database) => openMessageProofs(database)));
      const proofs = all.map((each) => each.sign(message, updateProofMs));
      for (const each of all) {
        for (const proof of proofs) {
          each.verify(message, proof);
        }
      }
    } finally {
      for (const database of databases) {
        await database.close();
      }
      await directory.remove();
    }
  });
});
