import { createHmac, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { IssueSyncContext } from '../../../api/integrations/issue-sync/routes';
import { issueWebhookRoutes } from '../../../api/integrations/issue-sync/routes.webhooks';
import type { Routes } from '../../../platform/http/routing/routes';
import { createLog } from '../../../platform/log/log';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { createIssueSyncStore, type IssueSyncStore } from '../../../stores/integrations/issue-sync-store';
import type { Database } from '../../../stores/port/collection';
import { openSqlite } from '../../../stores/sqlite/database';

const secret = 'a secret of this webhook';
const log = createLog({ name: 'test', level: 'silent' });

describe('a delivery of a webhook', () => {
  let files: TempDir;
  let database: Database;
  let issueSyncs: IssueSyncStore;

  beforeEach(async () => {
    process.env.GITHUB_HALFWAY_WEBHOOK_SECRET = secret;
    files = await makeTempDir('issue-webhooks');
    database = await openSqlite({ file: join(files.path, 'store.sqlite'), log });
    issueSyncs = await createIssueSyncStore(database);
    const fields = { labelFilter: null, pollIntervalMs: 10_000, updatedBy: 'user:ada' };
    await issueSyncs.configs.change('shop', () => ({ enabled: true, syncMode: 'none' as const, ...fields }));
  });
  afterEach(async () => {
    delete process.env.GITHUB_HALFWAY_WEBHOOK_SECRET;
    await database.close();
    await files.remove();
  });

  /** The handler of the route, with stores of pull requests that do as they are told. */
  function receiver(announce: () => Promise<boolean>, wake: () => Promise<void>) {
    let handler: ((request: object, ctx: object) => Promise<unknown>) | undefined;
    const routes = { add: (_contract: object, handle: typeof handler) => (handler = handle) };
    const forge = { kind: 'github', webhookSecret: 'env:GITHUB_HALFWAY_WEBHOOK_SECRET' };
    const context = {
      ...{ issueSyncs, log, now: () => new Date() },
      ...{ issueSyncLauncher: { wake }, pullRequests: { announce } },
      ...{ repositories: { find: () => Promise.resolve({ name: 'shop', forge }) } },
    };
    issueWebhookRoutes(routes as unknown as Routes, context as unknown as IssueSyncContext);
    const body = Buffer.from(JSON.stringify({ pull_request: { number: 1 } }));
    return (id: string) => {
      const headers: Record<string, string> = {
        'X-Hub-Signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
        'X-GitHub-Delivery': id,
      };
      const request = { header: (name: string) => headers[name], rawBody: () => Promise.resolve(body) };
      return handler!({ params: { repo: 'shop' }, ...request }, {});
    };
  }

  it('that failed is processed when it is sent again, and once', async () => {
    const announce = jest.fn().mockRejectedValueOnce(new Error('The stores do not respond.')).mockResolvedValue(true);
    const wake = jest.fn().mockResolvedValue(undefined);
    const deliver = receiver(announce, wake);
    const id = randomUUID();
    await expect(deliver(id)).rejects.toThrow('do not respond');
    expect(await deliver(id)).toEqual({ accepted: true, duplicate: false });
    expect(wake).toHaveBeenCalledTimes(1);
    expect(await deliver(id)).toEqual({ accepted: true, duplicate: true });
    expect(wake).toHaveBeenCalledTimes(1);
  });
});
