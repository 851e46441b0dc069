import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { issueSyncId } from '../../../../workflows/issue-sync/messages';
import { pullRequestId } from '../../../../workflows/pull-request/messages';
import { gitHttp } from '../../../support/forges/git-http';
import { githubToken, startGithubServer } from '../../../support/forges/github-server';
import type { Recording, Stage } from '../stage';

/** The pull request of a task with work, of one without, one that is opened for review, and one that a round reads. */
export async function pullRequestScenarios({ service: { call }, temporal, dir }: Stage): Promise<Recording[]> {
  const github = await startGithubServer((await gitHttp(dir, githubToken)).raw);
  try {
    await call.ok('PATCH', '/api/config/repos/sample', {
      forge: {
        kind: 'github',
        repository: 'acme/shop',
        baseUrl: github.baseUrl,
        credential: 'env:GITHUB_RECORDED_TOKEN',
      },
    });
    const published = await worked(call, 'work.ts');
    await call.ok('POST', '/api/github/pr', { taskId: published });
    const opened = await worked(call, 'draft.ts');
    await call.ok('POST', '/api/github/pr', { taskId: opened, draft: true });
    await call.ok('POST', `/api/github/pr/${opened}/open`);
    const read = await worked(call, 'read.ts');
    await call.ok('POST', '/api/github/pr', { taskId: read });
    await call.ok('POST', `/api/github/pr/${read}/refresh`);
    const polled = await worked(call, 'polled.ts');
    await call.ok('POST', '/api/github/pr', { taskId: polled });
    const config = { repo: 'sample', syncMode: 'none', pollIntervalMs: 86_400_000 };
    await call.ok('PUT', '/api/github/sync/config', { ...config, enabled: true });
    await call.ok('POST', '/api/github/sync', { repo: 'sample' });
    await call.ok('PUT', '/api/github/sync/config', { ...config, enabled: false });
    await temporal.workflow.getHandle(issueSyncId('sample')).result();
    const empty = await worked(call);
    await call.post('/api/github/pr', { taskId: empty });
    return [
      ['pull-request', pullRequestId(published)],
      ['pull-request-opened', pullRequestId(opened)],
      ['pull-request-refreshed', pullRequestId(read)],
      ['pull-request-refused', pullRequestId(empty)],
      ['pull-request-polled', pullRequestId(polled)],
      ['issue-sync-pull-requests', issueSyncId('sample')],
    ];
  } finally {
    await call.ok('PATCH', '/api/config/repos/sample', { forge: null });
    await github.close();
  }
}

/** A task with a worktree, and a file in it where one is named. */
async function worked(call: Stage['service']['call'], file?: string): Promise<string> {
  const { id } = await call.createTask({ title: `Propose ${file ?? 'nothing'}`, git: { repo: 'sample' } });
  const { path } = await call.ok('POST', `/api/tasks/${id}/worktree`, {});
  if (file !== undefined) {
    await writeFile(join(path, file), 'work\n');
  }
  return id;
}
