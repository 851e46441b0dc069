import { issueSyncId } from '../../../../workflows/issue-sync/messages';
import { startGithubServer } from '../../../support/forges/github-server';
import type { Recording, Stage } from '../stage';

/** A synchronisation that is asked for, woken, refused by a forge that asks to wait, and disabled. */
export async function issueSyncScenarios({ service: { call }, temporal }: Stage): Promise<Recording[]> {
  const github = await startGithubServer();
  const connection = { kind: 'github', repository: 'acme/shop', baseUrl: github.baseUrl };
  const config = { repo: 'sample', syncMode: 'bidirectional', pollIntervalMs: 86_400_000 };
  try {
    await call.ok('PATCH', '/api/config/repos/sample', {
      forge: { ...connection, credential: 'env:GITHUB_RECORDED_TOKEN' },
    });
    github.openIssue();
    await call.createTask({ title: 'Synchronised', git: { repo: 'sample' } });
    await call.ok('PUT', '/api/github/sync/config', { ...config, enabled: true });
    await call.ok('POST', '/api/github/sync');
    github.fail({ on: /issues$/, answer: { status: 429, headers: { 'retry-after': '1' }, body: {} } });
    await call.post('/api/github/sync');
    await call.ok('PUT', '/api/github/sync/config', { ...config, enabled: false });
    await temporal.workflow.getHandle(issueSyncId('sample')).result();
  } finally {
    await github.close();
    await call.ok('PATCH', '/api/config/repos/sample', { forge: null });
  }
  return [['issue-sync', issueSyncId('sample')]];
}
