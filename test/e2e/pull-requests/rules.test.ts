import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type GitHttp, gitHttp } from '../../support/forges/git-http';
import { type GithubServer, githubToken, startGithubServer } from '../../support/forges/github-server';
import { aRepository } from '../../support/git/repository';
import { type SecuredStack, startSecuredStack } from '../../support/stack/secured-stack';

let secured: SecuredStack;
let github: GithubServer;
let remote: GitHttp;

describe('pull requests under rules', () => {
  beforeAll(async () => {
    process.env.GITHUB_RULED_TOKEN = githubToken;
    secured = await startSecuredStack({ BOARD_FORGE_ALLOW_PRIVATE: 'true' });
    const { admin, stack } = secured;
    remote = await gitHttp(stack.dir, githubToken);
    github = await startGithubServer(remote.raw);
    await admin.addRepository('shop', await aRepository(stack.dir));
    await admin.ok('PATCH', '/api/config/repos/shop', {
      forge: {
        ...{ kind: 'github', repository: 'acme/shop' },
        ...{ baseUrl: github.baseUrl, credential: 'env:GITHUB_RULED_TOKEN' },
      },
    });
  });
  afterAll(async () => {
    delete process.env.GITHUB_RULED_TOKEN;
    await secured.stack.close();
    await github.close();
  });

  let projects = 0;
  const aProject = () => `project-${(projects += 1)}`;
  async function aWork(project: string): Promise<{ taskId: string; branch: string }> {
    const { admin } = secured;
    const { id } = await admin.createTask({ title: 'Fix it', project, git: { repo: 'shop' } });
    const { path, branch } = await admin.ok('POST', `/api/tasks/${id}/worktree`, {});
    await writeFile(join(path, 'fix.ts'), 'x\n');
    return { taskId: id, branch };
  }
  const aPolicy = (project: string, policy: object) =>
    secured.admin.ok('POST', '/api/policies', { name: 'A rule', scope: { projects: [project] }, ...policy });
  const approve = (id: string) =>
    secured.admin.ok('POST', `/api/agents/permissions/approvals/${id}`, { decision: 'approved' });

  it('are refused under a policy that denies them, and nothing is pushed', async () => {
    const project = aProject();
    const { taskId, branch } = await aWork(project);
    const { id: policy } = await aPolicy(project, { rules: [{ action: 'pull-request', effect: 'deny' }] });
    expect(await secured.admin.post('/api/github/pr', { taskId })).toMatchObject({
      status: 403,
      body: { code: 'POLICY_BLOCKED', details: { policy, traceId: expect.stringMatching(/^trace_/) } },
    });
    expect(await remote.head(branch)).toBeUndefined();
    await secured.admin.ok('DELETE', `/api/policies/${policy}`);
    expect(await secured.admin.post('/api/github/pr', { taskId })).toMatchObject({ status: 201 });
    await aPolicy(project, { rules: [{ action: 'external-message', effect: 'deny' }] });
    expect(await secured.admin.post(`/api/github/pr/${taskId}/open`)).toMatchObject({ status: 403 });
    expect(await secured.admin.post(`/api/github/pr/${taskId}/refresh`)).toMatchObject({ status: 200 });
  });

  it('that need an approval are made once it is given', async () => {
    const project = aProject();
    const { taskId } = await aWork(project);
    await aPolicy(project, { type: 'require-approval' });
    const publish = (fields: object = {}) => secured.admin.post('/api/github/pr', { taskId, ...fields });
    const refused = await publish();
    expect(refused).toMatchObject({ status: 409, body: { code: 'APPROVAL_REQUIRED' } });
    await approve(refused.body.details.approval.id);
    expect(await publish({ title: 'Another' })).toMatchObject({ status: 409, body: { code: 'APPROVAL_REQUIRED' } });
    expect(await publish()).toMatchObject({ status: 201 });
  });

  it('of an agent are made at the forges among its trusted domains alone', async () => {
    const { taskId } = await aWork(aProject());
    const publish = () => secured.agent.post('/api/github/pr', { taskId });
    const trust = (trustedDomains: string[]) =>
      secured.admin.ok('PATCH', '/api/agents/permissions/worker', { trustedDomains });
    await trust(['example.org']);
    expect(await publish()).toMatchObject({
      status: 409,
      body: { code: 'APPROVAL_REQUIRED', details: { agent: 'worker', rule: 'trusted-domains' } },
    });
    await trust(['example.org', new URL(github.baseUrl).hostname]);
    expect(await publish()).toMatchObject({ status: 201 });
  });
});
